// SPDX-License-Identifier: BSD-2-Clause
/* CUPTI's documented behaviour, as a client sees it. Kernels last 1 ms here, so that some are under
 * way. */
#include "client.h"
#include <cupti.h>
#include "cupti/kernel_record.h"
#include <dirent.h>
#include <nvtx3/nvToolsExt.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static char stub;
static cudaStream_t stream;
static CUpti_SubscriberHandle subscriber;

/* The records that came back, by kind, and the last one of some kinds. */
static struct {
	atomic_int buffers, lent, kinds[128];
	cupti_kernel_record kernel;
	CUpti_ActivityAPI runtime, driver;
	CUpti_ActivityExternalCorrelation external;
	CUpti_ActivityGraphTrace2 graph;
	CUpti_ActivityMarker2 marker;
	CUpti_ActivitySynchronization2 sync;
	int incomplete;
	pid_t thread;
} got;
static size_t buffer_bytes = 1 << 20;

static void requested(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*bytes = buffer_bytes;
	*max_records = 0;
	*buffer = buffer_bytes ? aligned_alloc(8, buffer_bytes) : NULL;
	got.lent += *buffer != NULL;
}

static void look(const CUpti_Activity *record)
{
	got.kinds[record->kind]++;
	if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
		got.kernel = *(const cupti_kernel_record *)record;
		got.incomplete += !got.kernel.start && !got.kernel.end;
	} else if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME) {
		got.runtime = *(const CUpti_ActivityAPI *)record;
	} else if (record->kind == CUPTI_ACTIVITY_KIND_DRIVER) {
		got.driver = *(const CUpti_ActivityAPI *)record;
	} else if (record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) {
		got.external = *(const CUpti_ActivityExternalCorrelation *)record;
	} else if (record->kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE) {
		got.graph = *(const CUpti_ActivityGraphTrace2 *)record;
	} else if (record->kind == CUPTI_ACTIVITY_KIND_MARKER) {
		got.marker = *(const CUpti_ActivityMarker2 *)record;
	} else if (record->kind == CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) {
		got.sync = *(const CUpti_ActivitySynchronization2 *)record;
	}
}

static void completed(CUcontext context, uint32_t id, uint8_t *buffer, size_t bytes, size_t valid)
{
	CUpti_Activity *record = NULL;
	CUptiResult result;

	while (!(result = cuptiActivityGetNextRecord(buffer, valid, &record)))
		look(record);
	CHECK(result == CUPTI_ERROR_MAX_LIMIT_REACHED);
	got.thread = gettid();
	got.buffers++;
	got.lent--;
	free(buffer);
}

static void forget(void)
{
	memset(&got, 0, sizeof(got));
}

static int thread_cnt(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int cnt = 0;

	CHECK(tasks);
	while (readdir(tasks))
		cnt++;
	closedir(tasks);
	return cnt - 2;
}

static size_t dropped(void)
{
	size_t cnt;

	OK(cuptiActivityGetNumDroppedRecords(NULL, 0, &cnt));
	return cnt;
}

/* ---- callbacks ---- */

static struct {
	int enter, exit;
	uint32_t correlation;
	char symbol[64];
	uint64_t *data;
	int nodes; /* of graphs, created in one of the calls */
} calls;
static int finalize_at_exit;

static void called(void *userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
		   const void *callback_data)
{
	const CUpti_CallbackData *data = callback_data;

	if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
		CHECK(cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED && calls.enter > calls.exit);
		calls.nodes++;
		return;
	}
	CHECK(userdata == &calls && domain == CUPTI_CB_DOMAIN_RUNTIME_API);
	if (data->callbackSite == CUPTI_API_ENTER) {
		calls.enter++;
		calls.correlation = data->correlationId;
		*data->correlationData = 42;
		if (data->symbolName)
			snprintf(calls.symbol, sizeof(calls.symbol), "%s", data->symbolName);
		return;
	}
	calls.exit++;
	CHECK(*data->correlationData == 42 && data->correlationId == calls.correlation);
	CHECK(*(cudaError_t *)data->functionReturnValue == cudaSuccess);
	if (finalize_at_exit)
		OK(cuptiFinalize());
}

static void only_one_may_subscribe(void)
{
	CUpti_SubscriberHandle second;

	OK(cuptiSubscribe(&subscriber, (CUpti_CallbackFunc)called, &calls));
	CHECK(cuptiSubscribe(&second, (CUpti_CallbackFunc)called, NULL) ==
	      CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	kernel_launch(&stub, 1, stream);
	CHECK(calls.enter == 0);
	OK(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
			       CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000));
	kernel_launch(&stub, 1, stream);
	OK(cudaStreamSynchronize(stream));
	CHECK(calls.enter == 1 && calls.exit == 1 && !strcmp(calls.symbol, "_Z6kernelv"));
	OK(cuptiUnsubscribe(subscriber));
	kernel_launch(&stub, 1, stream);
	CHECK(calls.enter == 1);
	CHECK(cuptiUnsubscribe(subscriber) == CUPTI_ERROR_INVALID_PARAMETER);
}

/* ---- activities ---- */

static void records_are_correlated(void)
{
	cudaFunction_t f;

	forget();
	CHECK(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
	CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_COUNT) == CUPTI_ERROR_INVALID_KIND);
	OK(cuptiActivityRegisterCallbacks(requested, completed));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_KERNEL) == CUPTI_ERROR_NOT_COMPATIBLE);
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION));
	OK(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 77));
	kernel_launch(&stub, 1, stream);
	OK(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, NULL));
	/* the kernel's record is incomplete, so its buffer is too */
	OK(cuptiActivityFlushAll(0));
	CHECK(got.buffers == 0 && got.lent == 1);
	usleep(3000);
	OK(cuptiActivityFlushAll(0));
	CHECK(got.buffers == 1 && got.thread == gettid());
	CHECK(got.kinds[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] == 1 && !got.incomplete);
	CHECK(got.kinds[CUPTI_ACTIVITY_KIND_RUNTIME] == 1);
	CHECK(got.kinds[CUPTI_ACTIVITY_KIND_DRIVER] == 0);
	CHECK(got.runtime.cbid == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
	CHECK(got.runtime.correlationId == got.kernel.correlationId);
	CHECK(got.external.correlationId == got.kernel.correlationId &&
	      got.external.externalId == 77);
	CHECK(!strcmp(got.kernel.name, "_Z6kernelv") && got.kernel.blockX == 128);
	CHECK(got.kernel.end - got.kernel.start >= 900000);
	CHECK(got.kernel.start > got.runtime.start && got.kernel.end > got.runtime.end);
	/* this driver call has its own record */
	OK(cudaGetFuncBySymbol(&f, &stub));
	OK(cuLaunchKernel((CUfunction)f, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
	OK(cudaStreamSynchronize(stream));
	OK(cuptiActivityFlushAll(0));
	CHECK(got.driver.cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
	CHECK(got.driver.correlationId == got.kernel.correlationId);
}

static void a_forced_flush_returns_incomplete_records(void)
{
	forget();
	kernel_launch(&stub, 1, stream);
	OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	CHECK(got.kinds[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] == 1 && got.incomplete == 1);
	OK(cudaStreamSynchronize(stream));
	OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	CHECK(got.kinds[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] == 1);
}

static void full_buffers_come_by_themselves(void)
{
	forget();
	buffer_bytes = 1024;
	for (int i = 0; i < 20; i++)
		kernel_launch(&stub, 1, stream);
	OK(cudaStreamSynchronize(stream));
	for (int i = 0; i < 200 && got.buffers < 4; i++)
		usleep(10000);
	CHECK(got.buffers >= 4 && got.thread != gettid());
	OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	CHECK(got.kinds[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] == 20 && !got.incomplete);
	CHECK(dropped() == 0);
	buffer_bytes = 0;
	kernel_launch(&stub, 1, stream);
	buffer_bytes = 1 << 20;
	CHECK(dropped() == 2 && dropped() == 0);
}

/* Nodes are created within the capturing call, and nowhere else. */
static void captured_launches_create_nodes(void)
{
	cudaGraph_t graph;

	OK(cuptiSubscribe(&subscriber, (CUpti_CallbackFunc)called, &calls));
	OK(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
			       CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000));
	OK(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
			       CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED));
	kernel_launch(&stub, 1, stream);
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	kernel_launch(&stub, 1, stream);
	kernel_launch(&stub, 1, stream);
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphDestroy(graph));
	kernel_launch(&stub, 1, stream);
	CHECK(calls.nodes == 2);
	OK(cuptiUnsubscribe(subscriber));
	OK(cudaStreamSynchronize(stream));
	OK(cuptiActivityFlushAll(0));
}

static void graphs_are_nodes_or_a_whole(void)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < 3; i++)
		kernel_launch(&stub, 1, stream);
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	forget();
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cuptiActivityFlushAll(0));
	CHECK(got.kinds[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] == 3 && got.kernel.graphId);
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
	forget();
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cuptiActivityFlushAll(0));
	CHECK(got.kinds[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] == 0);
	CHECK(got.kinds[CUPTI_ACTIVITY_KIND_GRAPH_TRACE] == 1);
	CHECK(got.graph.end - got.graph.start >= 3 * 900000);
	OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
}

static void ranges_are_markers(void)
{
	forget();
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MARKER));
	CHECK(nvtxRangePushA("step") == 0 && nvtxRangePushA("forward") == 1);
	CHECK(nvtxRangePop() == 1 && nvtxRangePop() == 0);
	nvtxMarkA("here");
	OK(cuptiActivityFlushAll(0));
	CHECK(got.kinds[CUPTI_ACTIVITY_KIND_MARKER] == 5);
	CHECK(!strcmp(got.marker.name, "here") && !got.marker.domain);
	OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MARKER));
}

static void domains_have_stacks_of_their_own(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("loader");
	nvtxEventAttributes_t named = {.version = NVTX_VERSION,
				       .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
				       .messageType = NVTX_MESSAGE_TYPE_ASCII,
				       .message.ascii = "step"};

	forget();
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MARKER));
	CHECK(nvtxRangePushA("step") == 0 && nvtxDomainRangePushEx(domain, &named) == 0);
	CHECK(nvtxRangePop() == 0 && nvtxDomainRangePop(domain) == 0 && nvtxRangePop() == -1);
	nvtxDomainMarkEx(domain, &named);
	OK(cuptiActivityFlushAll(0));
	CHECK(got.kinds[CUPTI_ACTIVITY_KIND_MARKER] == 5);
	CHECK(!strcmp(got.marker.name, "step") && !strcmp(got.marker.domain, "loader"));
	OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MARKER));
}

/* Counts the synchronisation records since the last call. */
static int syncs(void)
{
	int cnt;

	OK(cuptiActivityFlushAll(0));
	cnt = got.kinds[CUPTI_ACTIVITY_KIND_SYNCHRONIZATION];
	got.kinds[CUPTI_ACTIVITY_KIND_SYNCHRONIZATION] = 0;
	return cnt;
}

static void questions_are_synchronisations(void)
{
	cudaEvent_t event;

	OK(cudaEventCreate(&event));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION));
	for (int i = 0; i < 500; i++)
		kernel_launch(&stub, 1, stream);
	OK(cudaEventRecord(event, stream));
	CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
	CHECK(cudaEventQuery(event) == cudaErrorNotReady);
	OK(cuptiActivityEnableAllSyncRecords(0));
	CHECK(cudaEventQuery(event) == cudaErrorNotReady);
	OK(cudaStreamSynchronize(stream));
	CHECK(syncs() == 3 &&
	      got.sync.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
	OK(cudaStreamQuery(stream));
	CHECK(syncs() == 1 && got.sync.returnValue == CUDA_SUCCESS);
	CHECK(got.sync.cudaEventId == CUPTI_SYNCHRONIZATION_INVALID_VALUE);
	OK(cudaEventQuery(event));
	CHECK(syncs() == 1 &&
	      got.sync.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE);
	CHECK(got.sync.streamId == CUPTI_SYNCHRONIZATION_INVALID_VALUE);
	OK(cuptiActivityEnableAllSyncRecords(1));
	OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION));
	OK(cudaEventDestroy(event));
}

static void finalizing_leaves_nothing(void)
{
	int threads = thread_cnt();

	OK(cuptiSubscribe(&subscriber, (CUpti_CallbackFunc)called, &calls));
	OK(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API));
	forget();
	finalize_at_exit = 1;
	kernel_launch(&stub, 1, stream);
	finalize_at_exit = 0;
	CHECK(got.lent == 0 || got.lent == -1); /* the buffer lent before was forgotten */
	CHECK(got.kinds[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] == 1);
	CHECK(thread_cnt() == threads - 1);
	forget();
	calls.enter = 0;
	kernel_launch(&stub, 1, stream);
	OK(cudaStreamSynchronize(stream));
	CHECK(calls.enter == 0 && got.lent == 0 && got.buffers == 0);
	/* and a client can subscribe again */
	OK(cuptiSubscribe(&subscriber, (CUpti_CallbackFunc)called, &calls));
	OK(cuptiUnsubscribe(subscriber));
	records_are_correlated();
	OK(cudaDeviceSynchronize());
	OK(cuptiFinalize());
}

/* One that was launched while they were recorded; the last of all, since nothing works after it. */
static void graphs_do_not_outlive_kernels(void)
{
	cudaGraph_t graph;
	cudaGraphExec_t traced, other;

	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	kernel_launch(&stub, 1, stream);
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&traced, graph, 0));
	OK(cudaGraphInstantiate(&other, graph, 0));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	OK(cudaGraphLaunch(traced, stream));
	OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	OK(cudaGraphLaunch(traced, stream));
	OK(cudaGraphLaunch(other, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cuptiActivityFlushAll(0));
	OK(cuptiFinalize());
	OK(cudaGraphLaunch(other, stream));
	OK(cudaStreamSynchronize(stream));
	CHECK(cudaGraphLaunch(traced, stream) == cudaErrorLaunchFailure);
	CHECK(cudaStreamSynchronize(stream) == cudaErrorLaunchFailure);
}

int main(void)
{
	kernel_register(&stub, "_Z6kernelv");
	OK(cudaStreamCreate(&stream));
	only_one_may_subscribe();
	records_are_correlated();
	a_forced_flush_returns_incomplete_records();
	full_buffers_come_by_themselves();
	captured_launches_create_nodes();
	graphs_are_nodes_or_a_whole();
	ranges_are_markers();
	domains_have_stacks_of_their_own();
	domains_have_stacks_of_their_own();
	questions_are_synchronisations();
	finalizing_leaves_nothing();
	graphs_do_not_outlive_kernels();
	puts("cupti: ok");
	return 0;
}
