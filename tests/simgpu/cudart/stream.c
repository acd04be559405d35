// SPDX-License-Identifier: BSD-2-Clause
/* Streams, events, capture and graphs: each by the driver's function of the same meaning. */
#include "cudart.h"
#include <stdlib.h>

cudaError_t rt_cudaStreamCreate(cudaStream_t *out)
{
	use_context();
	return result_of(cuStreamCreate(out, 0));
}

cudaError_t rt_cudaStreamCreateWithFlags(cudaStream_t *out, unsigned int flags)
{
	use_context();
	return result_of(cuStreamCreate(out, flags));
}

cudaError_t rt_cudaStreamCreateWithPriority(cudaStream_t *out, unsigned int flags, int priority)
{
	use_context();
	return result_of(cuStreamCreateWithPriority(out, flags, priority));
}

cudaError_t rt_cudaStreamDestroy(cudaStream_t s)
{
	return result_of(cuStreamDestroy(s));
}

cudaError_t rt_cudaStreamSynchronize(cudaStream_t s)
{
	return result_of(cuStreamSynchronize(s));
}

cudaError_t rt_cudaStreamQuery(cudaStream_t s)
{
	return result_of(cuStreamQuery(s));
}

cudaError_t rt_cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned int flags)
{
	return result_of(cuStreamWaitEvent(s, e, flags));
}

cudaError_t rt_cudaStreamGetPriority(cudaStream_t s, int *priority)
{
	return result_of(cuStreamGetPriority(s, priority));
}

cudaError_t rt_cudaStreamGetFlags(cudaStream_t s, unsigned int *flags)
{
	return result_of(cuStreamGetFlags(s, flags));
}

cudaError_t rt_cudaStreamGetId(cudaStream_t s, unsigned long long *id)
{
	return result_of(cuStreamGetId(s, id));
}

cudaError_t rt_cudaStreamGetDevice(cudaStream_t s, int *dev)
{
	return result_of(cuStreamGetDevice(s, dev));
}

struct callback {
	cudaStreamCallback_t function;
	cudaStream_t stream;
	void *argument;
};

static void run_callback(void *argument)
{
	struct callback *c = argument;

	c->function(c->stream, cudaSuccess, c->argument);
	free(c);
}

cudaError_t rt_cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t function, void *argument,
				     unsigned int flags)
{
	struct callback *c = malloc(sizeof(*c));

	if (!c)
		return cudaErrorMemoryAllocation;
	*c = (struct callback){function, s, argument};
	return result_of(cuLaunchHostFunc(s, run_callback, c));
}

/* ---- events ---- */

cudaError_t rt_cudaEventCreate(cudaEvent_t *out)
{
	use_context();
	return result_of(cuEventCreate(out, 0));
}

cudaError_t rt_cudaEventCreateWithFlags(cudaEvent_t *out, unsigned int flags)
{
	use_context();
	return result_of(cuEventCreate(out, flags));
}

cudaError_t rt_cudaEventDestroy(cudaEvent_t e)
{
	return result_of(cuEventDestroy(e));
}

cudaError_t rt_cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
	return result_of(cuEventRecord(e, s));
}

cudaError_t rt_cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned int flags)
{
	return result_of(cuEventRecordWithFlags(e, s, flags));
}

cudaError_t rt_cudaEventQuery(cudaEvent_t e)
{
	return result_of(cuEventQuery(e));
}

cudaError_t rt_cudaEventSynchronize(cudaEvent_t e)
{
	return result_of(cuEventSynchronize(e));
}

cudaError_t rt_cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
	return result_of(cuEventElapsedTime(ms, start, end));
}

/* ---- capture and graphs ---- */

cudaError_t rt_cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
	return result_of(cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode));
}

cudaError_t rt_cudaStreamBeginCapture(cudaStream_t s, enum cudaStreamCaptureMode mode)
{
	return result_of(cuStreamBeginCapture(s, (CUstreamCaptureMode)mode));
}

cudaError_t rt_cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *out)
{
	return result_of(cuStreamEndCapture(s, out));
}

cudaError_t rt_cudaStreamIsCapturing(cudaStream_t s, enum cudaStreamCaptureStatus *status)
{
	return result_of(cuStreamIsCapturing(s, (CUstreamCaptureStatus *)status));
}

#if CUDART_VERSION >= 13000
cudaError_t rt_cudaStreamGetCaptureInfo(cudaStream_t s, enum cudaStreamCaptureStatus *status,
					unsigned long long *id, cudaGraph_t *graph,
					const cudaGraphNode_t **nodes,
					const cudaGraphEdgeData **edges, size_t *cnt)
{
	return result_of(cuStreamGetCaptureInfo(s, (CUstreamCaptureStatus *)status,
						(cuuint64_t *)id, graph, nodes,
						(const CUgraphEdgeData **)edges, cnt));
}
#else
cudaError_t rt_cudaStreamGetCaptureInfo_v2(cudaStream_t s, enum cudaStreamCaptureStatus *status,
					   unsigned long long *id, cudaGraph_t *graph,
					   const cudaGraphNode_t **nodes, size_t *cnt)
{
	return result_of(cuStreamGetCaptureInfo(s, (CUstreamCaptureStatus *)status,
						(cuuint64_t *)id, graph, nodes, NULL, cnt));
}
#endif
#if CUDART_VERSION < 12000
cudaError_t rt_cudaStreamGetCaptureInfo(cudaStream_t s, enum cudaStreamCaptureStatus *status,
					unsigned long long *id)
{
	return rt_cudaStreamGetCaptureInfo_v2(s, status, id, NULL, NULL, NULL);
}
#endif

cudaError_t rt_cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t graph,
					     unsigned long long flags)
{
	return result_of(cuGraphInstantiateWithFlags(out, graph, flags));
}

#if CUDART_VERSION >= 12000
cudaError_t rt_cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph,
				    unsigned long long flags)
{
	return rt_cudaGraphInstantiateWithFlags(out, graph, flags);
}
#else
cudaError_t rt_cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, cudaGraphNode_t *node,
				    char *log, size_t bytes)
{
	return rt_cudaGraphInstantiateWithFlags(out, graph, 0);
}
#endif

cudaError_t rt_cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *cnt)
{
	return result_of(cuGraphGetNodes(graph, nodes, cnt));
}

cudaError_t rt_cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t s)
{
	return result_of(cuGraphLaunch(graph, s));
}

cudaError_t rt_cudaGraphDestroy(cudaGraph_t graph)
{
	return result_of(cuGraphDestroy(graph));
}

cudaError_t rt_cudaGraphExecDestroy(cudaGraphExec_t graph)
{
	return result_of(cuGraphExecDestroy(graph));
}

/* Objects that a graph keeps alive: freed with the process. */
cudaError_t rt_cudaUserObjectCreate(cudaUserObject_t *out, void *object, cudaHostFn_t destroy,
				    unsigned int references, unsigned int flags)
{
	*out = malloc(8);
	return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t rt_cudaUserObjectRelease(cudaUserObject_t object, unsigned int cnt)
{
	return cudaSuccess;
}

cudaError_t rt_cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
					 unsigned int cnt, unsigned int flags)
{
	return cudaSuccess;
}
