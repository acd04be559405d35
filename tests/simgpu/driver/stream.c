// SPDX-License-Identifier: BSD-2-Clause
/* Streams, events, capture and graphs. */
#include "driver.h"

CUresult dr_cuStreamCreateWithPriority(CUstream *out, unsigned int flags, int priority)
{
	return (CUresult)sim_stream_new(flags, priority, (struct sim_stream **)out);
}

CUresult dr_cuStreamCreate(CUstream *out, unsigned int flags)
{
	return dr_cuStreamCreateWithPriority(out, flags, 0);
}

CUresult dr_cuStreamDestroy(CUstream stream)
{
	return (CUresult)sim_stream_destroy(sim_stream_get(stream));
}

CUresult dr_cuStreamSynchronize(CUstream stream)
{
	struct sim_stream *s = sim_stream_get(stream);

	return s ? (CUresult)sim_stream_sync(s) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult dr_cuStreamQuery(CUstream stream)
{
	struct sim_stream *s = sim_stream_get(stream);

	return s ? (CUresult)sim_stream_query(s) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult dr_cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
	struct sim_stream *s = sim_stream_get(stream);
	struct sim_event *e = sim_event_get(event);

	return s && e ? (CUresult)sim_event_wait(s, e) : CUDA_ERROR_INVALID_HANDLE;
}

/* The body of a function that returns a value of stream s. */
#define TELL(stream, out, value)                                                                   \
	struct sim_stream *s = sim_stream_get(stream);                                             \
                                                                                                   \
	if (!s)                                                                                    \
		return CUDA_ERROR_INVALID_HANDLE;                                                  \
	*(out) = (value);                                                                          \
	return CUDA_SUCCESS

CUresult dr_cuStreamGetCtx(CUstream stream, CUcontext *context)
{
	TELL(stream, context, sim_context_of(s->dev));
}

CUresult dr_cuStreamGetPriority(CUstream stream, int *priority)
{
	TELL(stream, priority, s->priority);
}

CUresult dr_cuStreamGetFlags(CUstream stream, unsigned int *flags)
{
	TELL(stream, flags, s->flags);
}

CUresult dr_cuStreamGetId(CUstream stream, unsigned long long *id)
{
	TELL(stream, id, s->id);
}

CUresult dr_cuStreamGetDevice(CUstream stream, CUdevice *dev)
{
	TELL(stream, dev, s->dev);
}

CUresult dr_cuLaunchHostFunc(CUstream stream, CUhostFn function, void *argument)
{
	return (CUresult)sim_host_function(sim_stream_get(stream), function, argument);
}

/* ---- events ---- */

CUresult dr_cuEventCreate(CUevent *out, unsigned int flags)
{
	*out = (CUevent)sim_event_new(flags);
	return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult dr_cuEventDestroy(CUevent event)
{
	struct sim_event *e = sim_event_get(event);

	return e ? (CUresult)sim_event_destroy(e) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult dr_cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags)
{
	struct sim_event *e = sim_event_get(event);
	struct sim_stream *s = sim_stream_get(stream);

	return e && s ? (CUresult)sim_event_record(e, s) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult dr_cuEventRecord(CUevent event, CUstream stream)
{
	return dr_cuEventRecordWithFlags(event, stream, 0);
}

CUresult dr_cuEventQuery(CUevent event)
{
	struct sim_event *e = sim_event_get(event);

	return e ? (CUresult)sim_event_query(e) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult dr_cuEventSynchronize(CUevent event)
{
	struct sim_event *e = sim_event_get(event);

	return e ? (CUresult)sim_event_sync(e) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult dr_cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
	struct sim_event *a = sim_event_get(start), *b = sim_event_get(end);

	return a && b ? (CUresult)sim_event_elapsed(ms, a, b) : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- capture and graphs ---- */

CUresult dr_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	struct sim_thread *t = sim_thread();
	int before = t->capture_mode;

	t->capture_mode = (int)*mode;
	*mode = (CUstreamCaptureMode)before;
	return CUDA_SUCCESS;
}

CUresult dr_cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
	struct sim_stream *s = sim_stream_get(stream);
	int result = s ? sim_capture_begin(s) : SIM_INVALID_HANDLE;

	if (!result)
		s->capture->global = mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
	return (CUresult)result;
}

CUresult dr_cuStreamEndCapture(CUstream stream, CUgraph *out)
{
	struct sim_stream *s = sim_stream_get(stream);

	return s ? (CUresult)sim_capture_end(s, (struct sim_graph **)out)
		 : CUDA_ERROR_INVALID_HANDLE;
}

CUresult dr_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
	struct sim_stream *s = sim_stream_get(stream);

	if (!s)
		return CUDA_ERROR_INVALID_HANDLE;
	*status = !s->capture		? CU_STREAM_CAPTURE_STATUS_NONE
		  : s->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
					: CU_STREAM_CAPTURE_STATUS_ACTIVE;
	return CUDA_SUCCESS;
}

CUresult dr_cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
				   CUgraph *graph, const CUgraphNode **nodes,
				   const CUgraphEdgeData **edges, size_t *cnt)
{
	struct sim_stream *s = sim_stream_get(stream);
	CUresult result = dr_cuStreamIsCapturing(stream, status);

	if (result)
		return result;
	if (id)
		*id = s->capture ? s->capture->capture_id : 0;
	if (graph)
		*graph = (CUgraph)s->capture;
	if (nodes)
		*nodes = NULL;
	if (edges)
		*edges = NULL;
	if (cnt)
		*cnt = 0;
	return CUDA_SUCCESS;
}

CUresult dr_cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph graph, unsigned long long flags)
{
	struct sim_graph *g = sim_graph_get(graph);

	return g ? (CUresult)sim_graph_copy(g, (struct sim_graph **)out)
		 : CUDA_ERROR_INVALID_HANDLE;
}

CUresult dr_cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *cnt)
{
	struct sim_graph *g = sim_graph_get(graph);

	if (!g)
		return CUDA_ERROR_INVALID_HANDLE;
	if (nodes && *cnt > g->cnt)
		*cnt = g->cnt;
	for (size_t i = 0; nodes && i < *cnt; i++)
		nodes[i] = (CUgraphNode)&g->nodes[i];
	if (!nodes)
		*cnt = g->cnt;
	return CUDA_SUCCESS;
}

CUresult dr_cuGraphLaunch(CUgraphExec graph, CUstream stream)
{
	struct sim_graph *g = sim_graph_get(graph);
	struct sim_stream *s = sim_stream_get(stream);

	return g && s ? (CUresult)sim_graph_launch(g, s) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult dr_cuGraphDestroy(CUgraph graph)
{
	struct sim_graph *g = sim_graph_get(graph);

	if (!g)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_graph_free(g);
	return CUDA_SUCCESS;
}

CUresult dr_cuGraphExecDestroy(CUgraphExec graph)
{
	return dr_cuGraphDestroy((CUgraph)graph);
}
