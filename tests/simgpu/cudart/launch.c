// SPDX-License-Identifier: BSD-2-Clause
/* Launches, and queries about kernels. */
#include "cudart.h"
#include <string.h>

#define CONFIGURATIONS 32

/* <<<...>>> pushes its configuration. The host stub, which it calls next, pops the
 * configuration. */
static __thread struct configuration {
	dim3 grid, block;
	size_t shared;
	cudaStream_t stream;
} pushed[CONFIGURATIONS];
static __thread int pushed_cnt;

SIM_EXPORT unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
						    struct CUstream_st *stream)
{
	if (pushed_cnt == CONFIGURATIONS)
		return 1;
	pushed[pushed_cnt++] = (struct configuration){grid, block, shared, stream};
	return 0;
}

SIM_EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
						  void *stream)
{
	const struct configuration *c;

	if (!pushed_cnt)
		return cudaErrorMissingConfiguration;
	c = &pushed[--pushed_cnt];
	*grid = c->grid;
	*block = c->block;
	*shared = c->shared;
	*(cudaStream_t *)stream = c->stream;
	return cudaSuccess;
}

static cudaError_t launch(const void *function, dim3 grid, dim3 block, void **arguments,
			  size_t shared, cudaStream_t stream)
{
	struct sim_function *f = rt_function(function);
	CUresult result;

	if (!f)
		return cudaErrorInvalidDeviceFunction;
	use_context();
	result = cuLaunchKernel((CUfunction)f, grid.x, grid.y, grid.z, block.x, block.y, block.z,
				(unsigned int)shared, stream, arguments, NULL);
	return result == CUDA_ERROR_INVALID_VALUE ? cudaErrorInvalidConfiguration
						  : result_of(result);
}

/* Called by nvcc 13's host stubs. A setting chooses the id that CUPTI gives this function, because
 * the real id is not known. */
SIM_EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
					  void **arguments, size_t shared, cudaStream_t stream)
{
	struct {
		const void *function;
		dim3 grid, block;
		void **arguments;
		size_t shared;
		cudaStream_t stream;
	} params = {kernel, grid, block, arguments, shared, stream};
	struct sim_frame frame = {.domain = SIM_RUNTIME, .params = &params};
	int result;

	sim_init();
	frame.cbid = (uint32_t)sim_config.launch_cbid;
	frame.name = frame.cbid == 211 ? "cudaLaunchKernel" : "__cudaLaunchKernel";
	result = sim_enter(&frame);
	if (!result)
		result = (int)launch(kernel, grid, block, arguments, shared, stream);
	return (cudaError_t)sim_leave(&frame, result);
}

SIM_EXPORT cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block,
					       void **arguments, size_t shared, cudaStream_t stream)
{
	return __cudaLaunchKernel(kernel, grid, block, arguments, shared,
				  stream ? stream : cudaStreamPerThread);
}

cudaError_t rt_cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
				size_t shared, cudaStream_t stream)
{
	return launch(function, grid, block, arguments, shared, stream);
}

cudaError_t rt_cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *function,
				   void **arguments)
{
	return launch(function, c->gridDim, c->blockDim, arguments, c->dynamicSmemBytes, c->stream);
}

cudaError_t rt_cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
					   void **arguments, size_t shared, cudaStream_t stream)
{
	return launch(function, grid, block, arguments, shared, stream);
}

cudaError_t rt_cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *argument)
{
	return result_of(cuLaunchHostFunc(stream, function, argument));
}

/* ---- about kernels ---- */

cudaError_t rt_cudaFuncGetName(const char **name, const void *function)
{
	struct sim_function *f = rt_function(function);

	if (!f)
		return cudaErrorInvalidDeviceFunction;
	*name = f->name;
	return cudaSuccess;
}

cudaError_t rt_cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *function)
{
	struct sim_function *f = rt_function(function);

	memset(a, 0, sizeof(*a));
	if (!f)
		return cudaErrorInvalidDeviceFunction;
	a->maxThreadsPerBlock = 1024;
	a->numRegs = (int)f->registers;
	a->sharedSizeBytes = f->static_shared;
	a->ptxVersion = a->binaryVersion = 90;
	a->maxDynamicSharedSizeBytes = 232448;
	return cudaSuccess;
}

cudaError_t rt_cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute,
				    int value)
{
	return cudaSuccess;
}

cudaError_t rt_cudaKernelSetAttributeForDevice(cudaKernel_t kernel,
					       enum cudaFuncAttribute attribute, int value, int dev)
{
	return cudaSuccess;
}

cudaError_t rt_cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config)
{
	return cudaSuccess;
}

cudaError_t rt_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *cnt, const void *function,
							     int threads, size_t shared)
{
	struct sim_function *f = rt_function(function);

	*cnt = (int)sim_occupancy((uint32_t)threads, (uint32_t)shared, f ? f->registers : 0);
	return cudaSuccess;
}

cudaError_t rt_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *cnt,
								      const void *function,
								      int threads, size_t shared,
								      unsigned int flags)
{
	return rt_cudaOccupancyMaxActiveBlocksPerMultiprocessor(cnt, function, threads, shared);
}

cudaError_t rt_cudaOccupancyAvailableDynamicSMemPerBlock(size_t *out, const void *function,
							 int blocks, int threads)
{
	*out = 232448 / (size_t)(blocks > 0 ? blocks : 1);
	return cudaSuccess;
}

cudaError_t rt_cudaOccupancyMaxActiveClusters(int *cnt, const void *function,
					      const cudaLaunchConfig_t *config)
{
	*cnt = 16;
	return cudaSuccess;
}
