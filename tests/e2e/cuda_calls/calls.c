// SPDX-License-Identifier: BSD-2-Clause
/*
 * calls runtime|driver ROUNDS SLEEP_US: every kind of call that proftrace follows, once a round, by
 * the runtime or by the driver alone, as a program with a static runtime shows itself. Compiled
 * with PER_THREAD the runtime's functions are those of per-thread streams (_ptsz, _ptds).
 *
 * calls block: rounds of the runtime until there is a file `go`, then a wait for a kernel that
 * SIMGPU_RULES makes last.
 */
#include <cuda.h>
#ifdef PER_THREAD
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#endif
#include "tests/simgpu/client/client.h"
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

_Static_assert(offsetof(CUDA_MEMCPY2D, WidthInBytes) == 112, "DRIVER_2D_AT");
_Static_assert(offsetof(CUDA_MEMCPY3D, WidthInBytes) == 176, "DRIVER_3D_AT");
_Static_assert(offsetof(CUlaunchConfig, hStream) == 32, "CONFIG_STREAM");
_Static_assert(offsetof(cudaLaunchConfig_t, stream) == 32, "CONFIG_STREAM");

enum { BLOCK = 12288, SEGMENT = 2 << 20 };

static char stub_first, stub_second, stub_long;
static char host[BLOCK];

static void runtime_launches(cudaStream_t stream, cudaGraphExec_t graph)
{
	dim3 grid = {8, 1, 1}, block = {64, 1, 1};
	cudaLaunchConfig_t config = {.gridDim = grid, .blockDim = block, .stream = stream};
	cudaKernel_t kernel;

	OK(__cudaGetKernel(&kernel, &stub_first));
	OK(__cudaLaunchKernel(kernel, grid, block, NULL, 0, stream));
	OK(cudaLaunchKernel(&stub_first, grid, block, NULL, 0, stream));
	OK(cudaLaunchKernelExC(&config, &stub_second, NULL));
	OK(cudaLaunchCooperativeKernel(&stub_second, grid, block, NULL, 0, stream));
	OK(cudaGraphLaunch(graph, stream));
}

/* A graph of two kernels; the caller destroys it. */
static cudaGraphExec_t captured(cudaStream_t stream)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	kernel_launch(&stub_first, 16, stream);
	kernel_launch(&stub_second, 16, stream);
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphDestroy(graph));
	return exec;
}

static void runtime_round(cudaStream_t stream, cudaEvent_t event, cudaGraphExec_t graph)
{
	cudaGraphExec_t own = captured(stream);
	void *block, *other, *failed;

	OK(cudaMalloc(&block, BLOCK));
	OK(cudaMallocAsync(&other, BLOCK, stream));
	CHECK(cudaMalloc(&failed, (size_t)1 << 60) == cudaErrorMemoryAllocation);
	cudaGetLastError();
	OK(cudaMemset(block, 1, 1000));
	OK(cudaMemsetAsync(block, 1, 1001, stream));
	OK(cudaMemcpy(block, host, 2000, cudaMemcpyHostToDevice));
	OK(cudaMemcpyAsync(block, host, 2001, cudaMemcpyHostToDevice, stream));
	OK(cudaMemcpyAsync(host, block, 2002, cudaMemcpyDeviceToHost, stream));
	OK(cudaMemcpyAsync(other, block, 2003, cudaMemcpyDeviceToDevice, stream));
	OK(cudaMemcpy2DAsync(block, 32, host, 32, 32, 5, cudaMemcpyHostToDevice, stream));
	runtime_launches(stream, graph);
	OK(cudaEventRecord(event, stream));
	OK(cudaStreamWaitEvent(stream, event, 0));
	OK(cudaEventSynchronize(event));
	OK(cudaStreamSynchronize(stream));
	OK(cudaDeviceSynchronize());
	OK(cudaFreeAsync(other, stream));
	OK(cudaFree(block));
	OK(cudaGraphExecDestroy(own));
}

static void wait_long(cudaStream_t stream)
{
	kernel_launch(&stub_long, 16, stream);
	printf("blocking\n");
	fflush(stdout);
	OK(cudaStreamSynchronize(stream));
	printf("done\n");
}

/* rounds -1: until there is `go` */
static void run_runtime(long rounds, useconds_t sleep_us)
{
	cudaGraphExec_t update;
	cudaStream_t stream;
	cudaEvent_t event;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	update = captured(stream);
	for (long i = 0; rounds < 0 ? access("go", F_OK) != 0 : i < rounds; i++) {
		runtime_round(stream, event, update);
		usleep(sleep_us);
	}
	if (rounds < 0)
		wait_long(stream);
}

static void driver_launches(CUfunction kernel, CUstream stream)
{
	CUlaunchConfig config = {.gridDimX = 4,
				 .gridDimY = 1,
				 .gridDimZ = 1,
				 .blockDimX = 32,
				 .blockDimY = 1,
				 .blockDimZ = 1,
				 .hStream = stream};

	OK(cuLaunchKernel(kernel, 8, 1, 1, 64, 1, 1, 0, stream, NULL, NULL));
	OK(cuLaunchKernelEx(&config, kernel, NULL, NULL));
	OK(cuLaunchCooperativeKernel(kernel, 8, 1, 1, 64, 1, 1, 0, stream, NULL));
}

/* Takes memory as PyTorch's expandable segments do. */
static void virtual_memory(void)
{
	const CUmemAllocationProp where = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
					   .location.type = CU_MEM_LOCATION_TYPE_DEVICE};
	const CUmemAccessDesc access = {.location = where.location,
					.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemGenericAllocationHandle memory;
	CUdeviceptr at;

	OK(cuMemAddressReserve(&at, SEGMENT, 0, 0, 0));
	OK(cuMemCreate(&memory, SEGMENT, &where, 0));
	OK(cuMemMap(at, SEGMENT, 0, memory, 0));
	OK(cuMemSetAccess(at, SEGMENT, &access, 1));
	OK(cuMemUnmap(at, SEGMENT));
	OK(cuMemRelease(memory));
	OK(cuMemAddressFree(at, SEGMENT));
}

/* Loads and unloads kernels as a compiler does. */
static void driver_module(void)
{
	CUmodule module;

	OK(cuModuleLoadData(&module, ""));
	OK(cuModuleUnload(module));
}

static void driver_round(CUfunction kernel, CUstream stream, CUevent event)
{
	CUdeviceptr block, other;

	driver_module();
	virtual_memory();
	OK(cuMemAlloc(&block, BLOCK));
	OK(cuMemAllocAsync(&other, BLOCK, stream));
	OK(cuMemsetD8(block, 1, 1000));
	OK(cuMemsetD16Async(block, 1, 1001, stream));
	OK(cuMemsetD32Async(block, 1, 1002, stream));
	OK(cuMemcpyHtoD(block, host, 2000));
	OK(cuMemcpyHtoDAsync(block, host, 2001, stream));
	OK(cuMemcpyDtoHAsync(host, block, 2002, stream));
	OK(cuMemcpyDtoDAsync(other, block, 2003, stream));
	driver_launches(kernel, stream);
	OK(cuEventRecord(event, stream));
	OK(cuStreamWaitEvent(stream, event, 0));
	OK(cuEventSynchronize(event));
	OK(cuStreamSynchronize(stream));
	OK(cuCtxSynchronize());
	OK(cuMemFreeAsync(other, stream));
	OK(cuMemFree(block));
}

static void run_driver(long rounds, useconds_t sleep_us)
{
	CUfunction kernel;
	CUcontext context;
	CUmodule module;
	CUstream stream;
	CUdevice device;
	CUevent event;

	OK(cuInit(0));
	OK(cuDeviceGet(&device, 0));
	OK(cuDevicePrimaryCtxRetain(&context, device));
	OK(cuCtxSetCurrent(context));
	OK(cuModuleLoadData(&module, ""));
	OK(cuModuleGetFunction(&kernel, module, "by_the_driver"));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	for (long i = 0; i < rounds; i++) {
		driver_round(kernel, stream, event);
		usleep(sleep_us);
	}
}

int main(int argc, char **argv)
{
	bool block = argc == 2 && !strcmp(argv[1], "block");
	long rounds = block ? -1 : argc > 2 ? atol(argv[2]) : 0;
	useconds_t sleep_us = argc > 3 ? (useconds_t)atol(argv[3]) : 20000;

	CHECK(block || argc == 4);
	printf("ready %d\n", getpid());
	fflush(stdout);
	if (!strcmp(argv[1], "driver")) {
		run_driver(rounds, sleep_us);
		return 0;
	}
	kernel_register(&stub_first, "_Z5firstPf");
	kernel_register(&stub_second, "_Z6secondPf");
	kernel_register(&stub_long, "lasting");
	run_runtime(rounds, sleep_us);
	return 0;
}
