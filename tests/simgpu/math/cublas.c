// SPDX-License-Identifier: BSD-2-Clause
/* The simulated cuBLAS: matrix products have their sizes' duration, the rest (generated) a fixed
 * one. */
#include "math.h"
#include <cublas_v2.h>
#include <stdio.h>
#include <stdlib.h>

#define HANDLE_BYTES 4096

SIM_EXPORT cublasStatus_t cublasCreate_v2(cublasHandle_t *out)
{
	*out = calloc(1, HANDLE_BYTES);
	return *out ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

SIM_EXPORT cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
	free(handle);
	return CUBLAS_STATUS_SUCCESS;
}

#define GET_SET(get, set, type, field)                                                             \
	SIM_EXPORT cublasStatus_t set(cublasHandle_t handle, type value)                           \
	{                                                                                          \
		((struct math_handle *)handle)->field =                                            \
			(__typeof__(((struct math_handle *)0)->field))value;                       \
		return CUBLAS_STATUS_SUCCESS;                                                      \
	}                                                                                          \
	SIM_EXPORT cublasStatus_t get(cublasHandle_t handle, type *value)                          \
	{                                                                                          \
		*value = (type)((struct math_handle *)handle)->field;                              \
		return CUBLAS_STATUS_SUCCESS;                                                      \
	}

GET_SET(cublasGetStream_v2, cublasSetStream_v2, cudaStream_t, stream)
GET_SET(cublasGetMathMode, cublasSetMathMode, cublasMath_t, math_mode)
GET_SET(cublasGetPointerMode_v2, cublasSetPointerMode_v2, cublasPointerMode_t, pointer_mode)
GET_SET(cublasGetAtomicsMode, cublasSetAtomicsMode, cublasAtomicsMode_t, atomics_mode)
GET_SET(cublasGetSmCountTarget, cublasSetSmCountTarget, int, sm_target)

SIM_EXPORT cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace,
						size_t bytes)
{
	return CUBLAS_STATUS_SUCCESS;
}

SIM_EXPORT cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version)
{
	*version = CUBLAS_VERSION;
	return CUBLAS_STATUS_SUCCESS;
}

SIM_EXPORT cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value)
{
	*value = type == MAJOR_VERSION	 ? CUBLAS_VER_MAJOR
		 : type == MINOR_VERSION ? CUBLAS_VER_MINOR
					 : CUBLAS_VER_PATCH;
	return CUBLAS_STATUS_SUCCESS;
}

NUMBER(cublasGetCudartVersion, SIM_CUDART_VERSION)
STATUS_TEXT(cublasGetStatusString, cublasStatus_t, "a simulated cuBLAS error", "success")
STATUS_TEXT(cublasGetStatusName, cublasStatus_t, "CUBLAS_STATUS_EXECUTION_FAILED",
	    "CUBLAS_STATUS_SUCCESS")

/* ---- matrix products ---- */

static cublasStatus_t product(cublasHandle_t handle, const char *kind, const char *type,
			      cublasOperation_t ta, cublasOperation_t tb, int64_t m, int64_t n,
			      int64_t k, int64_t batch)
{
	char name[80];

	snprintf(name, sizeof(name), "sim_%s_%s_%c%c", kind, type, ta ? 't' : 'n', tb ? 't' : 'n');
	if (math_launch(((struct math_handle *)handle)->stream, name, (uint64_t)m, (uint64_t)n,
			(uint64_t)batch, 2.0 * (double)m * (double)n * (double)k * (double)batch))
		return CUBLAS_STATUS_EXECUTION_FAILED;
	return CUBLAS_STATUS_SUCCESS;
}

#define GEMM(api, name, type)                                                                      \
	SIM_EXPORT cublasStatus_t api(cublasHandle_t h, cublasOperation_t ta,                      \
				      cublasOperation_t tb, int m, int n, int k,                   \
				      const type *alpha, const type *a, int lda, const type *b,    \
				      int ldb, const type *beta, type *c, int ldc)                 \
	{                                                                                          \
		return product(h, "gemm", name, ta, tb, m, n, k, 1);                               \
	}

GEMM(cublasSgemm_v2, "f32", float)
GEMM(cublasDgemm_v2, "f64", double)
GEMM(cublasCgemm_v2, "c32", cuComplex)
GEMM(cublasZgemm_v2, "c64", cuDoubleComplex)

#define GEMM_BATCHED(api, name, type)                                                              \
	SIM_EXPORT cublasStatus_t api(cublasHandle_t h, cublasOperation_t ta,                      \
				      cublasOperation_t tb, int m, int n, int k,                   \
				      const type *alpha, const type *a, int lda, long long int sa, \
				      const type *b, int ldb, long long int sb, const type *beta,  \
				      type *c, int ldc, long long int sc, int batch)               \
	{                                                                                          \
		return product(h, "gemm_batched", name, ta, tb, m, n, k, batch);                   \
	}

GEMM_BATCHED(cublasSgemmStridedBatched, "f32", float)
GEMM_BATCHED(cublasDgemmStridedBatched, "f64", double)
GEMM_BATCHED(cublasCgemmStridedBatched, "c32", cuComplex)
GEMM_BATCHED(cublasZgemmStridedBatched, "c64", cuDoubleComplex)

SIM_EXPORT cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb,
				       int m, int n, int k, const void *alpha, const void *a,
				       cudaDataType a_type, int lda, const void *b,
				       cudaDataType b_type, int ldb, const void *beta, void *c,
				       cudaDataType c_type, int ldc, cublasComputeType_t compute,
				       cublasGemmAlgo_t algo)
{
	return product(h, "gemm", math_type_name((int)a_type), ta, tb, m, n, k, 1);
}

SIM_EXPORT cublasStatus_t cublasSgemmEx(cublasHandle_t h, cublasOperation_t ta,
					cublasOperation_t tb, int m, int n, int k,
					const float *alpha, const void *a, cudaDataType a_type,
					int lda, const void *b, cudaDataType b_type, int ldb,
					const float *beta, void *c, cudaDataType c_type, int ldc)
{
	return product(h, "gemm", math_type_name((int)a_type), ta, tb, m, n, k, 1);
}

SIM_EXPORT cublasStatus_t cublasGemmStridedBatchedEx(
	cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
	const void *alpha, const void *a, cudaDataType a_type, int lda, long long int sa,
	const void *b, cudaDataType b_type, int ldb, long long int sb, const void *beta, void *c,
	cudaDataType c_type, int ldc, long long int sc, int batch, cublasComputeType_t compute,
	cublasGemmAlgo_t algo)
{
	return product(h, "gemm_batched", math_type_name((int)a_type), ta, tb, m, n, k, batch);
}
