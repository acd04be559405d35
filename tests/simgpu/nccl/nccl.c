// SPDX-License-Identifier: BSD-2-Clause
/* The simulated NCCL's interface: communicators of one host, and calls that become kernels. */
#include "board.h"
#include <cuda.h>
#include <nccl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define MAX_GROUP	  256
#define CHANNELS	  24 /* blocks of a collective's kernel */
#define THREADS		  640
#define COLLECTIVE_SHARES (SIM_SM_SHARES * CHANNELS / 132)

/* A call, until its group ends. */
struct call {
	struct communicator *comm;
	cudaStream_t stream;
	struct part part;
};
static __thread struct call calls[MAX_GROUP];
static __thread int call_cnt, depth;

static struct communicator *of(ncclComm_t comm)
{
	return (struct communicator *)comm;
}

/* ---- kernels ---- */

static const char *const part_names[] = {"AllReduce",	  "Broadcast", "Reduce",   "AllGather",
					 "ReduceScatter", "AllToAll",  "SendRecv", "SendRecv"};
static const char *const type_names[] = {"i8",	"u8",  "i32", "u32",  "i64",	"u64",
					 "f16", "f32", "f64", "bf16", "f8e4m3", "f8e5m2"};
static const char *const old_type_names[] = {"int8_t",	"uint8_t",	 "int32_t", "uint32_t",
					     "int64_t", "uint64_t",	 "half",    "float",
					     "double",	"__nv_bfloat16", "?",	    "?"};
static const char *const reduction_names[] = {"Sum", "Prod", "Max", "Min", "Avg"};

static bool reduces(enum part_kind kind)
{
	return kind == ALL_REDUCE || kind == REDUCE || kind == REDUCE_SCATTER;
}

/* NCCL's mangled names since 2.19, or the older ones with SIMGPU_NCCL_OLD=1. */
static void kernel_name(const struct part *p, char *out, size_t size)
{
	const char *reduction = p->reduction < 5 ? reduction_names[p->reduction] : "Sum";
	const char *old = getenv("SIMGPU_NCCL_OLD");
	char plain[100];

	if (old && *old == '1') {
		snprintf(plain, sizeof(plain), "ncclKernel_%s_RING_LL_%s_%s", part_names[p->kind],
			 reduces(p->kind) ? reduction : "Sum",
			 reduces(p->kind) ? old_type_names[p->type] : "int8_t");
		snprintf(out, size, "_Z%zu%sP11ncclDevCommmP8ncclWork", strlen(plain), plain);
		return;
	}
	if (reduces(p->kind))
		snprintf(plain, sizeof(plain), "ncclDevKernel_%s_%s_%s_RING_LL",
			 part_names[p->kind], reduction, type_names[p->type]);
	else if (p->kind == SEND || p->kind == RECV)
		snprintf(plain, sizeof(plain), "ncclDevKernel_SendRecv");
	else
		snprintf(plain, sizeof(plain), "ncclDevKernel_%s_RING_LL", part_names[p->kind]);
	snprintf(out, size, "_Z%zu%s24ncclDevKernelArgsStorageILm4096EE", strlen(plain), plain);
}

static uint64_t number_of(struct communicator *comm, const struct part *p)
{
	if (p->kind == SEND)
		return comm->next_send[p->peer]++;
	if (p->kind == RECV)
		return comm->next_recv[p->peer]++;
	return comm->next_collective++;
}

/* Launches one kernel for these parts. The board ends it. */
static ncclResult_t launch(struct communicator *comm, cudaStream_t stream, const struct part *parts,
			   size_t cnt)
{
	struct sim_launch launch = {.grid = {CHANNELS, 1, 1},
				    .block = {THREADS, 1, 1},
				    .duration_ns = SIM_OPEN,
				    .shares = COLLECTIVE_SHARES,
				    .on_start = board_post};
	struct work *work = calloc(1, sizeof(*work));
	int before = sim_thread()->dev, result;
	char name[200];

	if (!work)
		return ncclSystemError;
	work->comm = comm;
	work->cnt = cnt;
	work->parts = malloc(cnt * sizeof(*parts));
	if (!work->parts)
		return ncclSystemError;
	memcpy(work->parts, parts, cnt * sizeof(*parts));
	for (size_t i = 0; i < cnt; i++)
		work->parts[i].number = number_of(comm, &parts[i]);
	launch.argument = work;
	kernel_name(parts, name, sizeof(name));
	sim_device_set(comm->dev);
	result = sim_driver_launch_with(stream, sim_function_named(name), &launch);
	sim_device_set(before);
	return result ? ncclUnhandledCudaError : ncclSuccess;
}

/* ---- groups ---- */

/* All sends and receives of a communicator in a group are one kernel. */
static ncclResult_t launch_point_to_point(int first)
{
	struct part parts[MAX_GROUP];
	struct communicator *comm = calls[first].comm;
	size_t cnt = 0;

	for (int i = first; i < call_cnt; i++) {
		if (calls[i].comm != comm || calls[i].part.kind < SEND)
			continue;
		parts[cnt++] = calls[i].part;
		calls[i].comm = NULL;
	}
	return launch(comm, calls[first].stream, parts, cnt);
}

static ncclResult_t launch_calls(void)
{
	ncclResult_t result = ncclSuccess, next;

	for (int i = 0; i < call_cnt; i++) {
		if (!calls[i].comm)
			continue;
		next = calls[i].part.kind >= SEND
			       ? launch_point_to_point(i)
			       : launch(calls[i].comm, calls[i].stream, &calls[i].part, 1);
		if (next)
			result = next;
	}
	call_cnt = 0;
	return result;
}

static ncclResult_t call(ncclComm_t comm, cudaStream_t stream, struct part part)
{
	if (call_cnt == MAX_GROUP || part.type < 0 || part.type >= ncclNumTypes)
		return ncclInvalidArgument;
	part.bytes = part.cnt * nccl_type_bytes(part.type);
	calls[call_cnt++] = (struct call){of(comm), stream, part};
	return depth ? ncclSuccess : launch_calls();
}

SIM_EXPORT ncclResult_t ncclGroupStart(void)
{
	depth++;
	return ncclSuccess;
}

SIM_EXPORT ncclResult_t ncclGroupEnd(void)
{
	return --depth ? ncclSuccess : launch_calls();
}

/* ---- collectives ---- */

SIM_EXPORT ncclResult_t ncclAllReduce(const void *src, void *dst, size_t cnt, ncclDataType_t type,
				      ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
	return call(comm, stream,
		    (struct part){ALL_REDUCE, src, dst, .cnt = cnt, .type = type, .reduction = op});
}

SIM_EXPORT ncclResult_t ncclBroadcast(const void *src, void *dst, size_t cnt, ncclDataType_t type,
				      int root, ncclComm_t comm, cudaStream_t stream)
{
	return call(comm, stream,
		    (struct part){BROADCAST, of(comm)->rank == root ? src : NULL, dst, .cnt = cnt,
				  .type = type, .root = root});
}

SIM_EXPORT ncclResult_t ncclBcast(void *buffer, size_t cnt, ncclDataType_t type, int root,
				  ncclComm_t comm, cudaStream_t stream)
{
	return ncclBroadcast(buffer, buffer, cnt, type, root, comm, stream);
}

SIM_EXPORT ncclResult_t ncclReduce(const void *src, void *dst, size_t cnt, ncclDataType_t type,
				   ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)
{
	return call(comm, stream,
		    (struct part){REDUCE, src, dst, .cnt = cnt, .type = type, .reduction = op,
				  .root = root});
}

SIM_EXPORT ncclResult_t ncclAllGather(const void *src, void *dst, size_t cnt, ncclDataType_t type,
				      ncclComm_t comm, cudaStream_t stream)
{
	return call(comm, stream, (struct part){ALL_GATHER, src, dst, .cnt = cnt, .type = type});
}

SIM_EXPORT ncclResult_t ncclReduceScatter(const void *src, void *dst, size_t cnt,
					  ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
					  cudaStream_t stream)
{
	return call(
		comm, stream,
		(struct part){REDUCE_SCATTER, src, dst, .cnt = cnt, .type = type, .reduction = op});
}

SIM_EXPORT ncclResult_t ncclAlltoAll(const void *src, void *dst, size_t cnt, ncclDataType_t type,
				     ncclComm_t comm, cudaStream_t stream)
{
	return call(comm, stream, (struct part){ALL_TO_ALL, src, dst, .cnt = cnt, .type = type});
}

SIM_EXPORT ncclResult_t ncclSend(const void *src, size_t cnt, ncclDataType_t type, int peer,
				 ncclComm_t comm, cudaStream_t stream)
{
	return call(comm, stream,
		    (struct part){SEND, src, NULL, .cnt = cnt, .type = type, .peer = peer});
}

SIM_EXPORT ncclResult_t ncclRecv(void *dst, size_t cnt, ncclDataType_t type, int peer,
				 ncclComm_t comm, cudaStream_t stream)
{
	return call(comm, stream,
		    (struct part){RECV, NULL, dst, .cnt = cnt, .type = type, .peer = peer});
}

/* ---- communicators ---- */

SIM_EXPORT ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
	uint64_t random;

	memset(id, 0, sizeof(*id));
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return ncclSystemError;
	snprintf(id->internal, sizeof(id->internal), "/simgpu-nccl-%d-%lx", getpid(), random);
	return ncclSuccess;
}

SIM_EXPORT ncclResult_t ncclCommInitRankConfig(ncclComm_t *out, int size, ncclUniqueId id, int rank,
					       ncclConfig_t *config)
{
	sim_init();
	if (size < 1 || size > MAX_RANKS || rank < 0 || rank >= size)
		return ncclInvalidArgument;
	id.internal[sizeof(id.internal) - 1] = 0;
	*out = (ncclComm_t)board_join(id.internal, size, rank, !depth);
	return *out ? ncclSuccess : ncclSystemError;
}

SIM_EXPORT ncclResult_t ncclCommInitRank(ncclComm_t *out, int size, ncclUniqueId id, int rank)
{
	return ncclCommInitRankConfig(out, size, id, rank, NULL);
}

SIM_EXPORT ncclResult_t ncclCommInitRankScalable(ncclComm_t *out, int size, int rank, int id_cnt,
						 ncclUniqueId *ids, ncclConfig_t *config)
{
	return ncclCommInitRankConfig(out, size, ids[0], rank, config);
}

SIM_EXPORT ncclResult_t ncclCommInitAll(ncclComm_t *out, int size, const int *devices)
{
	int before = sim_thread()->dev;
	ncclResult_t result;
	ncclUniqueId id;

	result = ncclGetUniqueId(&id);
	depth++;
	for (int i = 0; i < size && !result; i++) {
		sim_device_set(devices ? devices[i] : i);
		result = ncclCommInitRank(&out[i], size, id, i);
	}
	depth--;
	sim_device_set(before);
	return result;
}

SIM_EXPORT ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
	sim_device_drain(of(comm)->dev);
	board_leave(of(comm));
	return ncclSuccess;
}

/* The communicator's kernels end now. Other ranks do not matter. */
SIM_EXPORT ncclResult_t ncclCommAbort(ncclComm_t comm)
{
	of(comm)->aborted = true;
	board_wake(of(comm)->board);
	return ncclCommDestroy(comm);
}

SIM_EXPORT ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
	return ncclSuccess;
}

SIM_EXPORT ncclResult_t ncclCommRevoke(ncclComm_t comm, int flags)
{
	return ncclSuccess;
}

SIM_EXPORT ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error)
{
	*error = ncclSuccess;
	return ncclSuccess;
}

SIM_EXPORT ncclResult_t ncclCommCount(const ncclComm_t comm, int *size)
{
	*size = of(comm)->size;
	return ncclSuccess;
}

SIM_EXPORT ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank)
{
	*rank = of(comm)->rank;
	return ncclSuccess;
}

SIM_EXPORT ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *dev)
{
	*dev = of(comm)->dev;
	return ncclSuccess;
}

SIM_EXPORT ncclResult_t ncclCommRegister(const ncclComm_t comm, void *buffer, size_t bytes,
					 void **handle)
{
	*handle = buffer;
	return ncclSuccess;
}

SIM_EXPORT ncclResult_t ncclCommDeregister(const ncclComm_t comm, void *handle)
{
	return ncclSuccess;
}

SIM_EXPORT ncclResult_t ncclMemAlloc(void **out, size_t bytes)
{
	return cuMemAlloc((CUdeviceptr *)out, bytes) ? ncclUnhandledCudaError : ncclSuccess;
}

SIM_EXPORT ncclResult_t ncclMemFree(void *p)
{
	return cuMemFree((CUdeviceptr)p) ? ncclUnhandledCudaError : ncclSuccess;
}

SIM_EXPORT ncclResult_t ncclGetVersion(int *version)
{
	*version = NCCL_VERSION_CODE;
	return ncclSuccess;
}

SIM_EXPORT const char *ncclGetErrorString(ncclResult_t result)
{
	return result ? "a simulated NCCL error" : "no error";
}

SIM_EXPORT const char *ncclGetLastError(ncclComm_t comm)
{
	return "";
}
