// SPDX-License-Identifier: BSD-2-Clause
/* Modules (by name only), functions and launches. */
#include "driver.h"
#include <stdlib.h>
#include <string.h>

/* A library's extra wishes for its next launch, beyond the driver's interface. */
static __thread const struct sim_launch *wanted;

static CUresult launch(CUfunction function, CUstream stream, struct sim_launch launch)
{
	if (wanted) {
		launch.duration_ns = wanted->duration_ns;
		launch.shares = wanted->shares;
		launch.on_start = wanted->on_start;
		launch.on_end = wanted->on_end;
		launch.argument = wanted->argument;
		wanted = NULL;
	}
	return (CUresult)sim_launch(sim_stream_get(stream), (struct sim_function *)function,
				    &launch);
}

CUresult dr_cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
			   unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			   CUstream stream, void **parameters, void **extra)
{
	return launch(f, stream,
		      (struct sim_launch){.grid = {gx, gy, gz},
					  .block = {bx, by, bz},
					  .dynamic_shared = shared});
}

CUresult dr_cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **parameters, void **extra)
{
	return launch(f, c->hStream,
		      (struct sim_launch){.grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
					  .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
					  .dynamic_shared = c->sharedMemBytes});
}

CUresult dr_cuLaunchCooperativeKernel(CUfunction f, unsigned int gx, unsigned int gy,
				      unsigned int gz, unsigned int bx, unsigned int by,
				      unsigned int bz, unsigned int shared, CUstream stream,
				      void **parameters)
{
	return dr_cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, NULL);
}

/* ---- launches by libraries that carry their own runtime ---- */

int sim_driver_launch_with(void *stream, struct sim_function *f, const struct sim_launch *launch)
{
	CUlaunchConfig config = {.gridDimX = launch->grid[0],
				 .gridDimY = launch->grid[1],
				 .gridDimZ = launch->grid[2],
				 .blockDimX = launch->block[0],
				 .blockDimY = launch->block[1],
				 .blockDimZ = launch->block[2],
				 .sharedMemBytes = launch->dynamic_shared,
				 .hStream = stream};
	int result;

	wanted = launch;
	result = (int)cuLaunchKernelEx(&config, (CUfunction)f, NULL, NULL);
	wanted = NULL;
	return result;
}

static int launch_by_runtime(void *stream, struct sim_function *f, const struct sim_launch *launch)
{
	/* the runtime's parameters, of which tools read the function, the grid and the stream */
	struct {
		const void *function;
		uint32_t grid[3], block[3];
		void **arguments;
		size_t shared;
		void *stream;
	} params = {f,
		    {launch->grid[0], launch->grid[1], launch->grid[2]},
		    {launch->block[0], launch->block[1], launch->block[2]},
		    NULL,
		    launch->dynamic_shared,
		    stream};
	struct sim_frame frame = {
		.domain = SIM_RUNTIME, .cbid = 211, .name = "cudaLaunchKernel", .params = &params};
	int result = sim_enter(&frame);

	if (!result) {
		wanted = launch;
		result = (int)cuLaunchKernel((CUfunction)f, launch->grid[0], launch->grid[1],
					     launch->grid[2], launch->block[0], launch->block[1],
					     launch->block[2], launch->dynamic_shared, stream, NULL,
					     NULL);
		wanted = NULL;
	}
	return sim_leave(&frame, result);
}

int sim_library_launch(void *stream, const char *kernel, const uint32_t grid[3], uint32_t threads,
		       double flops, double bytes)
{
	double ns = (double)sim_config.kernel_ns + flops / (sim_config.tflops * 1e3) +
		    bytes / sim_config.hbm_gbs;
	struct sim_launch launch = {.block = {threads, 1, 1}, .duration_ns = (uint64_t)ns};

	sim_init();
	for (int i = 0; i < 3; i++)
		launch.grid[i] = grid[i] ? grid[i] : 1;
	return launch_by_runtime(stream, sim_function_named(kernel), &launch);
}

/* ---- modules and functions ---- */

static CUresult module_new(CUmodule *out)
{
	*out = malloc(8);
	return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult dr_cuModuleLoad(CUmodule *out, const char *path)
{
	return module_new(out);
}

CUresult dr_cuModuleLoadData(CUmodule *out, const void *image)
{
	return module_new(out);
}

CUresult dr_cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned int cnt,
			       CUjit_option *options, void **values)
{
	return module_new(out);
}

CUresult dr_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
	*mode = CU_MODULE_LAZY_LOADING;
	return CUDA_SUCCESS;
}

CUresult dr_cuModuleUnload(CUmodule module)
{
	free(module);
	return CUDA_SUCCESS;
}

CUresult dr_cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name)
{
	*out = (CUfunction)sim_function_named(name);
	return CUDA_SUCCESS;
}

CUresult dr_cuFuncGetName(const char **name, CUfunction f)
{
	*name = ((struct sim_function *)f)->name;
	return CUDA_SUCCESS;
}

CUresult dr_cuFuncGetModule(CUmodule *module, CUfunction f)
{
	return module_new(module);
}

CUresult dr_cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
	const struct sim_function *f = (struct sim_function *)function;

	switch (attribute) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*value = 1024;
		break;
	case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
		*value = (int)f->static_shared;
		break;
	case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
		*value = (int)f->local_bytes;
		break;
	case CU_FUNC_ATTRIBUTE_NUM_REGS:
		*value = (int)f->registers;
		break;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		*value = 90;
		break;
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		*value = 232448;
		break;
	default:
		*value = 0;
	}
	return CUDA_SUCCESS;
}

CUresult dr_cuFuncSetAttribute(CUfunction f, CUfunction_attribute attribute, int value)
{
	return CUDA_SUCCESS;
}

CUresult dr_cuFuncSetCacheConfig(CUfunction f, CUfunc_cache config)
{
	return CUDA_SUCCESS;
}

CUresult dr_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *cnt, CUfunction function, int threads,
							size_t shared)
{
	const struct sim_function *f = (struct sim_function *)function;

	*cnt = (int)sim_occupancy((uint32_t)threads, (uint32_t)shared, f->registers);
	return CUDA_SUCCESS;
}

CUresult dr_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *cnt, CUfunction function,
								 int threads, size_t shared,
								 unsigned int flags)
{
	return dr_cuOccupancyMaxActiveBlocksPerMultiprocessor(cnt, function, threads, shared);
}

CUresult dr_cuOccupancyMaxActiveClusters(int *cnt, CUfunction f, const CUlaunchConfig *config)
{
	*cnt = 16;
	return CUDA_SUCCESS;
}

CUresult dr_cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
				   void *address, const cuuint64_t *dims, const cuuint64_t *strides,
				   const cuuint32_t *box, const cuuint32_t *element_strides,
				   CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
				   CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
	memset(map, 0, sizeof(*map));
	return CUDA_SUCCESS;
}
