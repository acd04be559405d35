// SPDX-License-Identifier: BSD-2-Clause
/*
 * The functions of CUDA that give a device work, move memory, or wait: cuda.h and
 * cuda_runtime_api.h of CUDA 11 to 13. Versions and stream variants (_v2, _ptsz, _ptds) have the
 * arguments of the plain name.
 */
#include "device/cuda_calls.h"
#include "device/demangle.h"
#include "common/util.h"
#include <string.h>

/* Places of arguments, the first is 1. */
#define LAUNCH(function, at)	{.call_class = PT_CALL_LAUNCH, .object = (function), .stream = (at)}
#define LAUNCH_EX(function, at) {.call_class = PT_CALL_LAUNCH, .object = (function), .config = (at)}
/* The kind is an argument. */
#define COPY(size, kind, at)                                                                       \
	{.call_class = PT_CALL_COPY, .bytes = (size), .copy = (kind), .stream = (at)}
#define COPY_2D(width, height, kind, at)                                                           \
	{.call_class = PT_CALL_COPY,                                                               \
	 .bytes = (width),                                                                         \
	 .rows = (height),                                                                         \
	 .copy = (kind),                                                                           \
	 .stream = (at)}
/* The kind is in the name. */
#define COPY_AS(kind, size, at)                                                                    \
	{.call_class = PT_CALL_COPY, .bytes = (size), .copy_kind = (kind), .stream = (at)}
/* The first argument is a structure with the extent in bytes at an offset. */
#define COPY_BY(cnt, offset, at)                                                                   \
	{.call_class = PT_CALL_COPY,                                                               \
	 .bytes = 1,                                                                               \
	 .extent_cnt = (cnt),                                                                      \
	 .extent_at = (offset),                                                                    \
	 .copy_kind = PT_COPY_UNKNOWN,                                                             \
	 .stream = (at)}
#define SET(size, each, at)                                                                        \
	{.call_class = PT_CALL_SET, .bytes = (size), .scale = (each), .stream = (at)}
#define SET_2D(width, height, each, at)                                                            \
	{.call_class = PT_CALL_SET,                                                                \
	 .bytes = (width),                                                                         \
	 .rows = (height),                                                                         \
	 .scale = (each),                                                                          \
	 .stream = (at)}
#define ALLOC(size, at)	 {.call_class = PT_CALL_ALLOC, .object = 1, .bytes = (size), .stream = (at)}
#define FREE(at)	 {.call_class = PT_CALL_FREE, .object = 1, .stream = (at)}
#define SYNC(event, at)	 {.call_class = PT_CALL_SYNC, .object = (event), .stream = (at)}
#define OTHER(event, at) {.call_class = PT_CALL_OTHER, .object = (event), .stream = (at)}
#define UNKNOWN		 PT_COPY_UNKNOWN

/* The structures CUDA_MEMCPY2D and CUDA_MEMCPY3D. Extents of the runtime's are in elements where an
 * array takes part, so their bytes stay unknown. */
enum { DRIVER_2D_AT = 112, DRIVER_3D_AT = 176 };

static const struct cuda_call calls[] = {
	/* runtime */
	{"cudaLaunchKernel", LAUNCH(1, 8)},
	{"__cudaLaunchKernel", LAUNCH(1, 8)},
	{"cudaLaunchCooperativeKernel", LAUNCH(1, 8)},
	{"cudaLaunchCooperativeKernelMultiDevice", LAUNCH(0, 0)},
	{"cudaLaunchKernelExC", LAUNCH_EX(2, 1)},
	{"cudaGraphLaunch", LAUNCH(0, 2)},
	{"cudaLaunchHostFunc", OTHER(0, 1)},
	{"cudaMemcpy", COPY(3, 4, 0)},
	{"cudaMemcpyAsync", COPY(3, 4, 5)},
	{"cudaMemcpy2D", COPY_2D(5, 6, 7, 0)},
	{"cudaMemcpy2DAsync", COPY_2D(5, 6, 7, 8)},
	{"cudaMemcpy3D", COPY_AS(UNKNOWN, 0, 0)},
	{"cudaMemcpy3DAsync", COPY_AS(UNKNOWN, 0, 2)},
	{"cudaMemcpyPeer", COPY_AS(PT_COPY_DTOD, 5, 0)},
	{"cudaMemcpyPeerAsync", COPY_AS(PT_COPY_DTOD, 5, 6)},
	{"cudaMemcpy3DPeer", COPY_AS(PT_COPY_DTOD, 0, 0)},
	{"cudaMemcpy3DPeerAsync", COPY_AS(PT_COPY_DTOD, 0, 2)},
	{"cudaMemcpyToSymbol", COPY(3, 5, 0)},
	{"cudaMemcpyToSymbolAsync", COPY(3, 5, 6)},
	{"cudaMemcpyFromSymbol", COPY(3, 5, 0)},
	{"cudaMemcpyFromSymbolAsync", COPY(3, 5, 6)},
	{"cudaMemset", SET(3, 1, 0)},
	{"cudaMemsetAsync", SET(3, 1, 4)},
	{"cudaMemset2D", SET_2D(4, 5, 1, 0)},
	{"cudaMemset2DAsync", SET_2D(4, 5, 1, 6)},
	{"cudaMemset3D", SET(0, 1, 0)},
	{"cudaMemset3DAsync", SET(0, 1, 0)},
	{"cudaMemPrefetchAsync", OTHER(0, 0)},
	{"cudaMalloc", ALLOC(2, 0)},
	{"cudaMallocHost", ALLOC(2, 0)},
	{"cudaHostAlloc", ALLOC(2, 0)},
	{"cudaMallocManaged", ALLOC(2, 0)},
	{"cudaMallocPitch", ALLOC(0, 0)},
	{"cudaMallocAsync", ALLOC(2, 3)},
	{"cudaMallocFromPoolAsync", ALLOC(2, 4)},
	{"cudaFree", FREE(0)},
	{"cudaFreeHost", FREE(0)},
	{"cudaFreeAsync", FREE(2)},
	{"cudaDeviceSynchronize", SYNC(0, 0)},
	{"cudaThreadSynchronize", SYNC(0, 0)},
	{"cudaStreamSynchronize", SYNC(0, 1)},
	{"cudaEventSynchronize", SYNC(1, 0)},
	{"cudaStreamWaitEvent", OTHER(2, 1)},
	{"cudaEventRecord", OTHER(1, 2)},
	{"cudaEventRecordWithFlags", OTHER(1, 2)},
	{"cudaEventCreate", OTHER(0, 0)},
	{"cudaEventCreateWithFlags", OTHER(0, 0)},
	{"cudaEventDestroy", OTHER(1, 0)},
	{"cudaStreamCreate", OTHER(0, 0)},
	{"cudaStreamCreateWithFlags", OTHER(0, 0)},
	{"cudaStreamCreateWithPriority", OTHER(0, 0)},
	{"cudaStreamDestroy", OTHER(0, 1)},
	/* driver */
	{"cuLaunch", LAUNCH(1, 0)},
	{"cuLaunchGrid", LAUNCH(1, 0)},
	{"cuLaunchGridAsync", LAUNCH(1, 4)},
	{"cuLaunchKernel", LAUNCH(1, 9)},
	{"cuLaunchKernelEx", LAUNCH_EX(2, 1)},
	{"cuLaunchCooperativeKernel", LAUNCH(1, 9)},
	{"cuLaunchCooperativeKernelMultiDevice", LAUNCH(0, 0)},
	{"cuGraphLaunch", LAUNCH(0, 2)},
	{"cuLaunchHostFunc", OTHER(0, 1)},
	{"cuMemcpy", COPY_AS(PT_COPY_DEFAULT, 3, 0)},
	{"cuMemcpyAsync", COPY_AS(PT_COPY_DEFAULT, 3, 4)},
	{"cuMemcpyHtoD", COPY_AS(PT_COPY_HTOD, 3, 0)},
	{"cuMemcpyHtoDAsync", COPY_AS(PT_COPY_HTOD, 3, 4)},
	{"cuMemcpyDtoH", COPY_AS(PT_COPY_DTOH, 3, 0)},
	{"cuMemcpyDtoHAsync", COPY_AS(PT_COPY_DTOH, 3, 4)},
	{"cuMemcpyDtoD", COPY_AS(PT_COPY_DTOD, 3, 0)},
	{"cuMemcpyDtoDAsync", COPY_AS(PT_COPY_DTOD, 3, 4)},
	{"cuMemcpyHtoA", COPY_AS(PT_COPY_HTOD, 4, 0)},
	{"cuMemcpyHtoAAsync", COPY_AS(PT_COPY_HTOD, 4, 5)},
	{"cuMemcpyAtoH", COPY_AS(PT_COPY_DTOH, 4, 0)},
	{"cuMemcpyAtoHAsync", COPY_AS(PT_COPY_DTOH, 4, 5)},
	{"cuMemcpyDtoA", COPY_AS(PT_COPY_DTOD, 4, 0)},
	{"cuMemcpyAtoD", COPY_AS(PT_COPY_DTOD, 4, 0)},
	{"cuMemcpyAtoA", COPY_AS(PT_COPY_DTOD, 5, 0)},
	{"cuMemcpyPeer", COPY_AS(PT_COPY_DTOD, 5, 0)},
	{"cuMemcpyPeerAsync", COPY_AS(PT_COPY_DTOD, 5, 6)},
	{"cuMemcpy2D", COPY_BY(2, DRIVER_2D_AT, 0)},
	{"cuMemcpy2DUnaligned", COPY_BY(2, DRIVER_2D_AT, 0)},
	{"cuMemcpy2DAsync", COPY_BY(2, DRIVER_2D_AT, 2)},
	{"cuMemcpy3D", COPY_BY(3, DRIVER_3D_AT, 0)},
	{"cuMemcpy3DAsync", COPY_BY(3, DRIVER_3D_AT, 2)},
	{"cuMemcpy3DPeer", COPY_BY(3, DRIVER_3D_AT, 0)},
	{"cuMemcpy3DPeerAsync", COPY_BY(3, DRIVER_3D_AT, 2)},
	{"cuMemsetD8", SET(3, 1, 0)},
	{"cuMemsetD8Async", SET(3, 1, 4)},
	{"cuMemsetD16", SET(3, 2, 0)},
	{"cuMemsetD16Async", SET(3, 2, 4)},
	{"cuMemsetD32", SET(3, 4, 0)},
	{"cuMemsetD32Async", SET(3, 4, 4)},
	{"cuMemsetD2D8", SET_2D(4, 5, 1, 0)},
	{"cuMemsetD2D8Async", SET_2D(4, 5, 1, 6)},
	{"cuMemsetD2D16", SET_2D(4, 5, 2, 0)},
	{"cuMemsetD2D16Async", SET_2D(4, 5, 2, 6)},
	{"cuMemsetD2D32", SET_2D(4, 5, 4, 0)},
	{"cuMemsetD2D32Async", SET_2D(4, 5, 4, 6)},
	{"cuMemPrefetchAsync", OTHER(0, 0)},
	{"cuMemAlloc", ALLOC(2, 0)},
	{"cuMemAllocHost", ALLOC(2, 0)},
	{"cuMemHostAlloc", ALLOC(2, 0)},
	{"cuMemAllocManaged", ALLOC(2, 0)},
	{"cuMemAllocPitch", ALLOC(0, 0)},
	{"cuMemAllocAsync", ALLOC(2, 3)},
	{"cuMemAllocFromPoolAsync", ALLOC(2, 4)},
	{"cuMemFree", FREE(0)},
	{"cuMemFreeHost", FREE(0)},
	{"cuMemFreeAsync", FREE(2)},
	{"cuCtxSynchronize", SYNC(0, 0)},
	{"cuStreamSynchronize", SYNC(0, 1)},
	{"cuEventSynchronize", SYNC(1, 0)},
	{"cuStreamWaitEvent", OTHER(2, 1)},
	{"cuEventRecord", OTHER(1, 2)},
	{"cuEventRecordWithFlags", OTHER(1, 2)},
	{"cuEventCreate", OTHER(0, 0)},
	{"cuEventDestroy", OTHER(1, 0)},
	{"cuStreamCreate", OTHER(0, 0)},
	{"cuStreamCreateWithPriority", OTHER(0, 0)},
	{"cuStreamDestroy", OTHER(0, 1)},
};

const struct cuda_call *cuda_call__find(const char *symbol)
{
	char plain[128];

	api_name__plain(symbol, plain, sizeof(plain));
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (!strcmp(calls[i].name, plain))
			return &calls[i];
	return NULL;
}
