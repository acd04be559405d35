// SPDX-License-Identifier: BSD-2-Clause
/* Writes activity records in the layout of the simulated version. */
#include "fake.h"
#include "cupti/kernel_record.h"
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "versions.h"

#define EXTERNAL_KINDS 8
#define EXTERNAL_DEPTH 128

static CUpti_ActivityThreadIdType thread_id_type;
static bool runtime_off[1024], driver_off[1024];
static bool event_timestamps, no_unready_syncs;
static __thread struct {
	uint64_t ids[EXTERNAL_DEPTH];
	int cnt;
} external[EXTERNAL_KINDS];

/* Newer layouts only append: an older version's record is the beginning of today's. */
static size_t kernel_bytes(void)
{
	uint32_t version = fake_version();

	if (version >= 130200)
		return sizeof(cupti_kernel_record);
	if (version >= 130000)
		return sizeof(CUpti_ActivityKernel10);
	/* CUDA 11.8 and 12.0 have the same number but different layouts. */
	if (SIM_CUDA_MAJOR < 12)
		return sizeof(CUpti_ActivityKernel8);
	return version >= 18 ? sizeof(CUpti_ActivityKernel9) : sizeof(CUpti_ActivityKernel8);
}

size_t fake_record_bytes(CUpti_ActivityKind kind)
{
	bool is_13 = fake_version() >= 130000;

	switch (kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return kernel_bytes();
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		return is_13 ? sizeof(CUpti_ActivityMemcpy6) : sizeof(CUpti_ActivityMemcpy5);
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		return sizeof(CUpti_ActivityMemcpyPtoP4);
	case CUPTI_ACTIVITY_KIND_MEMSET:
		return is_13 ? sizeof(CUpti_ActivityMemset4) : sizeof(CUpti_ActivityMemset3);
	case CUPTI_ACTIVITY_KIND_RUNTIME:
	case CUPTI_ACTIVITY_KIND_DRIVER:
		return sizeof(CUpti_ActivityAPI);
	case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
		return sizeof(CUpti_ActivityExternalCorrelation);
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		return is_13 ? sizeof(CUpti_ActivitySynchronization2)
			     : sizeof(CUpti_ActivitySynchronization);
	case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
		return is_13 ? sizeof(CUpti_ActivityCudaEvent2) : sizeof(CUpti_ActivityCudaEvent);
	case CUPTI_ACTIVITY_KIND_MEMORY2:
		return is_13 ? sizeof(CUpti_ActivityMemory4) : sizeof(CUpti_ActivityMemory3);
	case CUPTI_ACTIVITY_KIND_OVERHEAD:
		return is_13 ? sizeof(CUpti_ActivityOverhead3) : sizeof(CUpti_ActivityOverhead2);
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		return is_13 ? sizeof(CUpti_ActivityGraphTrace2) : sizeof(CUpti_ActivityGraphTrace);
	case CUPTI_ACTIVITY_KIND_MARKER:
		return sizeof(CUpti_ActivityMarker2);
	default:
		return 0;
	}
}

/* Where a record has times of the device's clock; 0: no more. */
#define SPAN(type) offsetof(type, start), offsetof(type, end)
static const struct {
	CUpti_ActivityKind kind;
	size_t times[3];
	size_t device;
} timed[] = {
	{CUPTI_ACTIVITY_KIND_KERNEL,
	 {SPAN(cupti_kernel_record), offsetof(cupti_kernel_record, completed)},
	 offsetof(cupti_kernel_record, deviceId)},
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	 {SPAN(cupti_kernel_record), offsetof(cupti_kernel_record, completed)},
	 offsetof(cupti_kernel_record, deviceId)},
	{CUPTI_ACTIVITY_KIND_MEMCPY,
	 {SPAN(CUpti_ActivityMemcpy6)},
	 offsetof(CUpti_ActivityMemcpy6, deviceId)},
	{CUPTI_ACTIVITY_KIND_MEMCPY2,
	 {SPAN(CUpti_ActivityMemcpyPtoP4)},
	 offsetof(CUpti_ActivityMemcpyPtoP4, deviceId)},
	{CUPTI_ACTIVITY_KIND_MEMSET,
	 {SPAN(CUpti_ActivityMemset4)},
	 offsetof(CUpti_ActivityMemset4, deviceId)},
	{CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
	 {SPAN(CUpti_ActivityGraphTrace2)},
	 offsetof(CUpti_ActivityGraphTrace2, deviceId)},
	{CUPTI_ACTIVITY_KIND_CUDA_EVENT,
	 {offsetof(CUpti_ActivityCudaEvent2, deviceTimestamp)},
	 offsetof(CUpti_ActivityCudaEvent2, deviceId)},
};

static void convert(CUpti_Activity *record, const size_t *times, size_t cnt, uint32_t device)
{
	for (size_t i = 0; i < cnt && times[i]; i++) {
		uint64_t *ns = (uint64_t *)((char *)record + times[i]);

		/* An old version's record may end before. */
		if (times[i] < fake_record_bytes(record->kind) && *ns)
			*ns = fake_clock_of_device(*ns, device);
	}
}

void fake_record_convert(CUpti_Activity *record)
{
	for (size_t i = 0; i < sizeof(timed) / sizeof(*timed); i++)
		if (timed[i].kind == record->kind)
			convert(record, timed[i].times, 3,
				*(uint32_t *)((char *)record + timed[i].device));
}

/* ---- device activities ---- */

static CUpti_ActivityMemoryKind memory_kind(enum sim_memory_type type)
{
	static const CUpti_ActivityMemoryKind kinds[] = {
		CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE, CUPTI_ACTIVITY_MEMORY_KIND_PINNED,
		CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED};

	return kinds[type];
}

static uint32_t context_id(int dev)
{
	return 1 + (uint32_t)dev;
}

static void ended(struct sim_op *op)
{
	fake_complete(op->tool, op->kind == SIM_MARK ? op->first_ns : op->start_ns, op->end_ns);
	op->tool = NULL;
}

static void reserve(struct sim_op *op, CUpti_ActivityKind kind, const void *record)
{
	op->tool = fake_reserve(record, fake_record_bytes(kind));
	op->tool_ended = op->tool ? ended : NULL;
}

/* Fields of the same names in records of different layouts: where it ran, and for whom. */
#define PLACE(r, op)                                                                               \
	do {                                                                                       \
		(r).deviceId = (uint32_t)(op)->dev;                                                \
		(r).contextId = context_id((op)->dev);                                             \
		(r).streamId = (op)->stream_id;                                                    \
		(r).correlationId = (op)->correlation;                                             \
		(r).graphId = (op)->graph_id;                                                      \
		(r).graphNodeId = (op)->node_id;                                                   \
	} while (0)

/* What was copied. */
#define TRANSFER(r, op)                                                                            \
	do {                                                                                       \
		(r).srcKind = (uint8_t)memory_kind((op)->src_type);                                \
		(r).dstKind = (uint8_t)memory_kind((op)->dst_type);                                \
		(r).flags = (op)->async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;                    \
		(r).bytes = (op)->bytes;                                                           \
	} while (0)

static void kernel(struct sim_op *op, CUpti_ActivityKind kind)
{
	static int64_t next_grid_id = 1;
	cupti_kernel_record r;

	memset(&r, 0, sizeof(r));
	r.kind = kind;
	r.registersPerThread = (uint16_t)op->registers;
	PLACE(r, op);
	r.gridX = (int32_t)op->grid[0];
	r.gridY = (int32_t)op->grid[1];
	r.gridZ = (int32_t)op->grid[2];
	r.blockX = (int32_t)op->block[0];
	r.blockY = (int32_t)op->block[1];
	r.blockZ = (int32_t)op->block[2];
	r.staticSharedMemory = (int32_t)op->static_shared;
	r.dynamicSharedMemory = (int32_t)op->dynamic_shared;
	r.localMemoryPerThread = op->local_bytes;
	r.gridId = __atomic_fetch_add(&next_grid_id, 1, __ATOMIC_RELAXED);
	r.name = op->name;
	r.sharedMemoryExecuted = op->static_shared + op->dynamic_shared;
	r.channelID = 8;
	r.channelType = CUPTI_CHANNEL_TYPE_COMPUTE;
#if CUPTI_API_VERSION >= 130200
	r.priority = op->priority;
#endif
	reserve(op, kind, &r);
}

static void copy(struct sim_op *op)
{
	static const CUpti_ActivityMemcpyKind kinds[] = {
		CUPTI_ACTIVITY_MEMCPY_KIND_HTOH, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD,
		CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD,
		CUPTI_ACTIVITY_MEMCPY_KIND_PTOP};
	CUpti_ActivityMemcpy6 r;

	memset(&r, 0, sizeof(r));
	r.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
	r.copyKind = (uint8_t)kinds[op->copy_kind];
	TRANSFER(r, op);
	PLACE(r, op);
	r.runtimeCorrelationId = op->correlation;
	r.channelID = 9;
	r.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
	r.copyCount = 1;
	reserve(op, CUPTI_ACTIVITY_KIND_MEMCPY, &r);
}

static void peer_copy(struct sim_op *op)
{
	CUpti_ActivityMemcpyPtoP4 r;

	memset(&r, 0, sizeof(r));
	r.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
	r.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
	TRANSFER(r, op);
	PLACE(r, op);
	r.srcDeviceId = (uint32_t)op->src_dev;
	r.srcContextId = context_id(op->src_dev);
	r.dstDeviceId = (uint32_t)op->dst_dev;
	r.dstContextId = context_id(op->dst_dev);
	reserve(op, CUPTI_ACTIVITY_KIND_MEMCPY2, &r);
}

static void set(struct sim_op *op)
{
	CUpti_ActivityMemset4 r;

	memset(&r, 0, sizeof(r));
	r.kind = CUPTI_ACTIVITY_KIND_MEMSET;
	r.value = op->value;
	r.bytes = op->bytes;
	PLACE(r, op);
	r.flags = op->async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0;
	r.memoryKind = (uint16_t)memory_kind(op->dst_type);
	reserve(op, CUPTI_ACTIVITY_KIND_MEMSET, &r);
}

static void event(struct sim_op *op)
{
	CUpti_ActivityCudaEvent2 r;

	memset(&r, 0, sizeof(r));
	r.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
	r.correlationId = op->correlation;
	r.contextId = context_id(op->dev);
	r.streamId = op->stream_id;
	r.eventId = op->event->id;
	if (fake_version() >= 130000) {
		r.deviceId = (uint32_t)op->dev;
		r.cudaEventSyncId = op->event->sync_id;
	}
	if (event_timestamps && fake_version() >= 130000)
		reserve(op, CUPTI_ACTIVITY_KIND_CUDA_EVENT, &r);
	else
		fake_append(&r, fake_record_bytes(CUPTI_ACTIVITY_KIND_CUDA_EVENT));
}

static void graph(struct sim_op *op)
{
	CUpti_ActivityGraphTrace2 r;

	memset(&r, 0, sizeof(r));
	r.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
	r.correlationId = op->correlation;
	r.deviceId = r.endDeviceId = (uint32_t)op->dev;
	r.contextId = r.endContextId = context_id(op->dev);
	r.streamId = op->stream_id;
	r.graphId = op->graph_id;
	reserve(op, CUPTI_ACTIVITY_KIND_GRAPH_TRACE, &r);
}

void fake_op_submitted(struct sim_op *op)
{
	bool whole_graphs = fake_kind(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);

	/* of a launched graph either the whole or the nodes are recorded */
	if (op->kind == SIM_MARK) {
		if (op->event && fake_kind(CUPTI_ACTIVITY_KIND_CUDA_EVENT))
			event(op);
		else if (!op->event && whole_graphs)
			graph(op);
		return;
	}
	if (op->graph_id && whole_graphs)
		return;
	if (op->kind == SIM_KERNEL && fake_kind(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
		kernel(op, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	else if (op->kind == SIM_KERNEL && fake_kind(CUPTI_ACTIVITY_KIND_KERNEL))
		kernel(op, CUPTI_ACTIVITY_KIND_KERNEL);
	else if (op->kind == SIM_COPY && op->copy_kind == SIM_P2P) {
		if (fake_kind(CUPTI_ACTIVITY_KIND_MEMCPY2))
			peer_copy(op);
	} else if (op->kind == SIM_COPY && fake_kind(CUPTI_ACTIVITY_KIND_MEMCPY))
		copy(op);
	else if (op->kind == SIM_SET && fake_kind(CUPTI_ACTIVITY_KIND_MEMSET))
		set(op);
}

/* ---- host activities ---- */

/* Of nested calls only the outermost one is recorded. A runtime call hides the driver calls
 * inside. */
bool fake_api_wanted(const struct sim_frame *frame)
{
	const bool *off = frame->domain == SIM_RUNTIME ? runtime_off : driver_off;

	return frame->outermost && !off[frame->cbid & 1023] &&
	       fake_kind(frame->domain == SIM_RUNTIME ? CUPTI_ACTIVITY_KIND_RUNTIME
						      : CUPTI_ACTIVITY_KIND_DRIVER);
}

uint32_t fake_thread_id(void)
{
	return thread_id_type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
		       ? (uint32_t)sim_thread()->tid
		       : (uint32_t)(uintptr_t)pthread_self();
}

static void external_correlation(uint32_t correlation)
{
	for (int kind = 0; kind < EXTERNAL_KINDS; kind++) {
		CUpti_ActivityExternalCorrelation r = {
			.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
			.externalKind = (CUpti_ExternalCorrelationKind)kind,
			.correlationId = correlation};

		if (!external[kind].cnt)
			continue;
		r.externalId = external[kind].ids[external[kind].cnt - 1];
		fake_append(&r, sizeof(r));
	}
}

void fake_api_record(const struct sim_frame *frame)
{
	CUpti_ActivityAPI r = {.cbid = frame->cbid,
			       .start = frame->tool_ns,
			       .end = fake_clock(),
			       .processId = (uint32_t)getpid(),
			       .threadId = fake_thread_id(),
			       .correlationId = frame->correlation,
			       .returnValue = (uint32_t)frame->result};

	r.kind = frame->domain == SIM_RUNTIME ? CUPTI_ACTIVITY_KIND_RUNTIME
					      : CUPTI_ACTIVITY_KIND_DRIVER;
	if (fake_kind(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION))
		external_correlation(frame->correlation);
	fake_append(&r, sizeof(r));
}

uint64_t fake_sync_begin(void)
{
	return fake_kind(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) ? fake_clock() : 0;
}

void fake_sync_end(const struct sim_sync *sync, uint64_t begin)
{
	CUpti_ActivitySynchronization2 r = {.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
					    .type = (CUpti_ActivitySynchronizationType)sync->kind,
					    .start = begin,
					    .correlationId = sync->correlation,
					    .contextId = context_id(sync->dev),
					    .streamId = sync->stream_id,
					    .cudaEventId = sync->event_id,
					    .cudaEventSyncId = sync->event_sync_id,
					    .returnValue = (uint32_t)sync->result};

	if (!begin || (sync->result && no_unready_syncs))
		return;
	r.end = fake_clock();
	if (sync->kind == SIM_SYNC_CONTEXT || sync->kind == SIM_SYNC_EVENT)
		r.streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
	if (sync->kind == SIM_SYNC_CONTEXT || sync->kind == SIM_SYNC_STREAM)
		r.cudaEventId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
	fake_append(&r, fake_record_bytes(r.kind));
}

void fake_memory(const struct sim_memory_event *what)
{
	CUpti_ActivityMemory4 r;

	if (!fake_kind(CUPTI_ACTIVITY_KIND_MEMORY2))
		return;
	memset(&r, 0, sizeof(r));
	r.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
	r.memoryOperationType = what->release ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
					      : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
	r.memoryKind = memory_kind(what->type);
	r.correlationId = what->correlation;
	r.address = (uint64_t)(uintptr_t)what->address;
	r.bytes = what->bytes;
	r.timestamp = fake_clock();
	r.processId = (uint32_t)getpid();
	r.deviceId = (uint32_t)what->dev;
	r.contextId = context_id(what->dev);
	r.streamId = CUPTI_INVALID_STREAM_ID;
	r.isAsync = what->async;
	if (what->async)
		r.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
	fake_append(&r, fake_record_bytes(CUPTI_ACTIVITY_KIND_MEMORY2));
}

void fake_overhead(CUpti_ActivityOverheadKind kind, uint64_t start, uint64_t end)
{
	CUpti_ActivityOverhead3 r;

	if (!fake_kind(CUPTI_ACTIVITY_KIND_OVERHEAD))
		return;
	memset(&r, 0, sizeof(r));
	r.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
	r.overheadKind = kind;
	r.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
	r.objectId.pt.processId = (uint32_t)getpid();
	r.objectId.pt.threadId = fake_thread_id();
	r.start = start;
	r.end = end;
	fake_append(&r, fake_record_bytes(CUPTI_ACTIVITY_KIND_OVERHEAD));
}

/* ---- the interface ---- */

SIM_EXPORT CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
							      uint64_t id)
{
	if ((unsigned int)kind >= EXTERNAL_KINDS || external[kind].cnt == EXTERNAL_DEPTH)
		return CUPTI_ERROR_INVALID_PARAMETER;
	external[kind].ids[external[kind].cnt++] = id;
	return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
							     uint64_t *id)
{
	if ((unsigned int)kind >= EXTERNAL_KINDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!external[kind].cnt)
		return CUPTI_ERROR_QUEUE_EMPTY;
	external[kind].cnt--;
	if (id)
		*id = external[kind].ids[external[kind].cnt];
	return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable)
{
	runtime_off[cbid & 1023] = !enable;
	return fake_call("cuptiActivityEnableRuntimeApi", (long)cbid);
}

SIM_EXPORT CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable)
{
	driver_off[cbid & 1023] = !enable;
	return fake_call("cuptiActivityEnableDriverApi", (long)cbid);
}

SIM_EXPORT CUptiResult cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t enable)
{
	event_timestamps = enable;
	return fake_call("cuptiActivityEnableCudaEventDeviceTimestamps", enable);
}

SIM_EXPORT CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
	no_unready_syncs = !enable;
	return fake_call("cuptiActivityEnableAllSyncRecords", enable);
}

SIM_EXPORT CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
	thread_id_type = type;
	return fake_call("cuptiSetThreadIdType", (long)type);
}

SIM_EXPORT CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType *type)
{
	*type = thread_id_type;
	return CUPTI_SUCCESS;
}
