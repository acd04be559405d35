// SPDX-License-Identifier: BSD-2-Clause
/*
 * libraries MAJOR: loads each library of a CUDA major, checks the version that it tells, and has it
 * do what the simulation can. Prints how many kernels that launched.
 */
#include <cublas_v2.h>
#include <cublasLt.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <cufft.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <nccl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#if CUDART_VERSION < 13000 /* PyTorch's wheels of 13 have no cuRAND */
#include <curand.h>
#endif
#include "check.h"

static cudaStream_t stream;
static int kernels;

static void runtime(int major)
{
	int version, blocks = 0;
	CUmodule module;
	CUfunction function;

	OK(cudaRuntimeGetVersion(&version));
	CHECK(version == CUDART_VERSION && version / 1000 == major);
	OK(cudaDriverGetVersion(&version));
	CHECK(version >= CUDART_VERSION);
	OK(cudaStreamCreate(&stream));
	/* A runtime linked into a framework uses the second function. */
	OK(cuModuleLoadData(&module, ""));
	OK(cuModuleGetFunction(&function, module, "any_kernel"));
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 512, 0));
	CHECK(blocks > 0);
	version = blocks;
	blocks = 0;
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, function, 512, 0, 0));
	CHECK(blocks == version);
}

static void blas(void)
{
	cublasLtHandle_t light;
	cublasHandle_t handle;
	float one = 1, *memory;

	OK(cublasCreate(&handle));
	OK(cublasSetStream(handle, stream));
	OK(cudaMalloc((void **)&memory, 3 * 64 * 64 * sizeof(*memory)));
	OK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 64, 64, 64, &one, memory, 64,
		       memory + 64 * 64, 64, &one, memory + 2 * 64 * 64, 64));
	kernels++;
	OK(cudaFree(memory));
	OK(cublasDestroy(handle));
	OK(cublasLtCreate(&light));
	OK(cublasLtDestroy(light));
}

/* A bit for each element: MXNet gives that much for it. */
static void check_reserve(cudnnTensorDescriptor_t tensor, uint64_t elements)
{
	size_t bytes = 0;

	OK(cudnnDropoutGetReserveSpaceSize(tensor, &bytes));
	CHECK(bytes >= 1 && bytes * 8 >= elements && (bytes - 1) * 8 < elements);
}

static void dnn(void)
{
	cudnnHandle_t handle;
	cudnnTensorDescriptor_t tensor;
	cudnnDropoutDescriptor_t dropout;
	float *memory;
	size_t states_bytes;

	CHECK(cudnnGetVersion() == CUDNN_VERSION);
	OK(cudnnCreate(&handle));
	OK(cudnnSetStream(handle, stream));
	OK(cudnnCreateTensorDescriptor(&tensor));
	for (int n = 1; n < 100000; n = 3 * n + 1) {
		OK(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 2, 1,
					      n));
		check_reserve(tensor, 2 * (uint64_t)n);
		OK(cudnnSetTensor4dDescriptorEx(tensor, CUDNN_DATA_FLOAT, n, 1, 1, 3, 3, 3, 3, 1));
		check_reserve(tensor, 3 * (uint64_t)n);
		OK(cudnnSetTensorNdDescriptor(tensor, CUDNN_DATA_FLOAT, 3, (int[]){1, n, 5},
					      (int[]){5 * n, 5, 1}));
		check_reserve(tensor, 5 * (uint64_t)n);
	}
	OK(cudnnCreateDropoutDescriptor(&dropout));
	OK(cudnnDropoutGetStatesSize(handle, &states_bytes));
	OK(cudaMalloc((void **)&memory, 1 << 20));
	CHECK(states_bytes <= 1 << 20);
	OK(cudnnSetDropoutDescriptor(dropout, handle, 0.5, memory, states_bytes, 1));
	OK(cudnnDropoutForward(handle, dropout, tensor, memory, tensor, memory, memory, 1 << 16));
	OK(cudnnDropoutBackward(handle, dropout, tensor, memory, tensor, memory, memory, 1 << 16));
	kernels += 2;
	OK(cudaFree(memory));
	OK(cudnnDestroy(handle));
}

static void others(void)
{
	cusparseHandle_t sparse;
	cusolverDnHandle_t solver;
	int version = 0;

	OK(cusparseCreate(&sparse));
	OK(cusparseSetStream(sparse, stream));
	OK(cusparseDestroy(sparse));
	OK(cusolverDnCreate(&solver));
	OK(cusolverDnSetStream(solver, stream));
	OK(cusolverDnDestroy(solver));
	OK(cufftGetVersion(&version));
	CHECK(version == CUFFT_VERSION);
	OK(ncclGetVersion(&version));
	CHECK(version == NCCL_VERSION_CODE);
#if CUDART_VERSION < 13000
	curandGenerator_t generator;
	float *memory;

	OK(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
	OK(curandSetStream(generator, stream));
	OK(cudaMalloc((void **)&memory, 1000 * sizeof(*memory)));
	OK(curandGenerateUniform(generator, memory, 1000));
	kernels++;
	OK(cudaFree(memory));
	OK(curandDestroyGenerator(generator));
#endif
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	runtime(atoi(argv[1]));
	blas();
	dnn();
	others();
	OK(cudaDeviceSynchronize());
	printf("kernels %d\n", kernels);
	return 0;
}
