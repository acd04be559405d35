// SPDX-License-Identifier: BSD-2-Clause
/* The simulated cuBLASLt. Its descriptors are opaque to programs, and ours fit into the real ones'
 * size. */
#include "math.h"
#include <cublasLt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct product {
	int32_t transpose_a, transpose_b, epilogue;
};
struct layout {
	int type;
	uint64_t rows, cols;
	int64_t stride;
	int32_t batch;
};
_Static_assert(sizeof(struct product) <= sizeof(cublasLtMatmulDescOpaque_t), "product");
_Static_assert(sizeof(struct layout) <= sizeof(cublasLtMatrixLayoutOpaque_t), "layout");

#define OK CUBLAS_STATUS_SUCCESS

static cublasStatus_t create(void *out)
{
	*(void **)out = calloc(1, 4096);
	return *(void **)out ? OK : CUBLAS_STATUS_ALLOC_FAILED;
}

static cublasStatus_t destroy(const void *descriptor)
{
	free((void *)descriptor);
	return OK;
}

SIM_EXPORT cublasStatus_t cublasLtCreate(cublasLtHandle_t *out)
{
	return create(out);
}

SIM_EXPORT cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
	return destroy(handle);
}

NUMBER(cublasLtGetVersion, CUBLAS_VERSION)
NUMBER(cublasLtGetCudartVersion, SIM_CUDART_VERSION)
STATUS_TEXT(cublasLtGetStatusString, cublasStatus_t, "a simulated cuBLASLt error", "success")
STATUS_TEXT(cublasLtGetStatusName, cublasStatus_t, "CUBLAS_STATUS_EXECUTION_FAILED",
	    "CUBLAS_STATUS_SUCCESS")

/* ---- descriptors ---- */

SIM_EXPORT cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *out,
						   cublasComputeType_t compute,
						   cudaDataType_t scale)
{
	return create(out);
}

SIM_EXPORT cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t d, size_t bytes,
							  cublasComputeType_t compute,
							  cudaDataType_t scale)
{
	memset(d, 0, bytes);
	return OK;
}

SIM_EXPORT cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d)
{
	return destroy(d);
}

SIM_EXPORT cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d,
							 cublasLtMatmulDescAttributes_t attribute,
							 const void *value, size_t bytes)
{
	struct product *p = (struct product *)d;

	if (bytes < sizeof(int32_t))
		return OK;
	if (attribute == CUBLASLT_MATMUL_DESC_TRANSA)
		memcpy(&p->transpose_a, value, sizeof(int32_t));
	else if (attribute == CUBLASLT_MATMUL_DESC_TRANSB)
		memcpy(&p->transpose_b, value, sizeof(int32_t));
	else if (attribute == CUBLASLT_MATMUL_DESC_EPILOGUE)
		memcpy(&p->epilogue, value, sizeof(int32_t));
	return OK;
}

static cublasStatus_t zeros(void *value, size_t bytes, size_t *written)
{
	if (value)
		memset(value, 0, bytes);
	if (written)
		*written = bytes;
	return OK;
}

SIM_EXPORT cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t d,
							 cublasLtMatmulDescAttributes_t attribute,
							 void *value, size_t bytes, size_t *written)
{
	return zeros(value, bytes, written);
}

SIM_EXPORT cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t l, size_t bytes,
							    cudaDataType type, uint64_t rows,
							    uint64_t cols, int64_t stride)
{
	memset(l, 0, bytes);
	*(struct layout *)l = (struct layout){(int)type, rows, cols, stride, 1};
	return OK;
}

SIM_EXPORT cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *out, cudaDataType type,
						     uint64_t rows, uint64_t cols, int64_t stride)
{
	cublasStatus_t status = create(out);

	return status ? status
		      : cublasLtMatrixLayoutInit_internal(*out, sizeof(struct layout), type, rows,
							  cols, stride);
}

SIM_EXPORT cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l)
{
	return destroy(l);
}

SIM_EXPORT cublasStatus_t cublasLtMatrixLayoutSetAttribute(
	cublasLtMatrixLayout_t l, cublasLtMatrixLayoutAttribute_t attribute, const void *value,
	size_t bytes)
{
	if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT && bytes >= sizeof(int32_t))
		memcpy(&((struct layout *)l)->batch, value, sizeof(int32_t));
	return OK;
}

SIM_EXPORT cublasStatus_t cublasLtMatrixLayoutGetAttribute(
	cublasLtMatrixLayout_t l, cublasLtMatrixLayoutAttribute_t attribute, void *value,
	size_t bytes, size_t *written)
{
	return zeros(value, bytes, written);
}

SIM_EXPORT cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *out)
{
	return create(out);
}

SIM_EXPORT cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t p,
								size_t bytes)
{
	memset(p, 0, bytes);
	return OK;
}

SIM_EXPORT cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p)
{
	return destroy(p);
}

SIM_EXPORT cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
	cublasLtMatmulPreference_t p, cublasLtMatmulPreferenceAttributes_t attribute,
	const void *value, size_t bytes)
{
	return OK;
}

/* ---- algorithms: there is one ---- */

SIM_EXPORT cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
	cublasLtHandle_t handle, cublasLtMatmulDesc_t d, cublasLtMatrixLayout_t a,
	cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t e,
	cublasLtMatmulPreference_t p, int requested, cublasLtMatmulHeuristicResult_t *out, int *cnt)
{
	*cnt = 0;
	if (requested < 1)
		return CUBLAS_STATUS_INVALID_VALUE;
	memset(out, 0, sizeof(*out));
	out->algo.data[0] = 1;
	out->wavesCount = 1;
	*cnt = 1;
	return OK;
}

SIM_EXPORT cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle,
						 cublasComputeType_t compute, cudaDataType_t scale,
						 cudaDataType_t a, cudaDataType_t b,
						 cudaDataType_t c, cudaDataType_t d, int id,
						 cublasLtMatmulAlgo_t *out)
{
	memset(out, 0, sizeof(*out));
	out->data[0] = (uint64_t)id;
	return OK;
}

SIM_EXPORT cublasStatus_t cublasLtMatmulAlgoCheck(
	cublasLtHandle_t handle, cublasLtMatmulDesc_t d, cublasLtMatrixLayout_t a,
	cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t e,
	const cublasLtMatmulAlgo_t *algo, cublasLtMatmulHeuristicResult_t *out)
{
	memset(out, 0, sizeof(*out));
	out->algo = *algo;
	return OK;
}

SIM_EXPORT cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t handle,
						   cublasComputeType_t compute,
						   cudaDataType_t scale, cudaDataType_t a,
						   cudaDataType_t b, cudaDataType_t c,
						   cudaDataType_t d, int requested, int ids[],
						   int *cnt)
{
	*cnt = requested > 0;
	if (*cnt)
		ids[0] = 1;
	return OK;
}

SIM_EXPORT cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(
	cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t attribute,
	const void *value, size_t bytes)
{
	return OK;
}

SIM_EXPORT cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(
	const cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t attribute,
	void *value, size_t bytes, size_t *written)
{
	return zeros(value, bytes, written);
}

SIM_EXPORT cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
					 const void *alpha, const void *a,
					 cublasLtMatrixLayout_t a_layout, const void *b,
					 cublasLtMatrixLayout_t b_layout, const void *beta,
					 const void *c, cublasLtMatrixLayout_t c_layout, void *d,
					 cublasLtMatrixLayout_t d_layout,
					 const cublasLtMatmulAlgo_t *algo, void *workspace,
					 size_t workspace_bytes, cudaStream_t stream)
{
	const struct product *p = (const struct product *)desc;
	const struct layout *la = (const struct layout *)a_layout;
	const struct layout *ld = (const struct layout *)d_layout;
	uint64_t k = p->transpose_a ? la->rows : la->cols,
		 batch = ld->batch ? (uint64_t)ld->batch : 1;
	char name[80];

	snprintf(name, sizeof(name), "sim_lt_matmul_%s_%c%c%s", math_type_name(la->type),
		 p->transpose_a ? 't' : 'n', p->transpose_b ? 't' : 'n',
		 p->epilogue > CUBLASLT_EPILOGUE_DEFAULT ? "_epilogue" : "");
	if (math_launch(stream, name, ld->rows, ld->cols, batch,
			2.0 * (double)ld->rows * (double)ld->cols * (double)k * (double)batch))
		return CUBLAS_STATUS_EXECUTION_FAILED;
	return OK;
}
