/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the test programs: registers kernels as nvcc would. */
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include "check.h"

/* The interface between nvcc's code and the runtime. nvcc's headers declare it only for C++. */
void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
			    int *warp_size);
cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
			       size_t shared, cudaStream_t stream);

/* A kernel is its host stub's address. The stub never runs. */
static inline void kernel_register(const void *stub, const char *name)
{
	static void **image;

	if (!image)
		image = __cudaRegisterFatBinary(NULL);
	__cudaRegisterFunction(image, stub, NULL, name, -1, NULL, NULL, NULL, NULL, NULL);
}

static inline void kernel_launch(const void *stub, unsigned int blocks, cudaStream_t stream)
{
	dim3 grid = {blocks, 1, 1}, block = {128, 1, 1};

	OK(cudaLaunchKernel(stub, grid, block, NULL, 0, stream));
}
