// SPDX-License-Identifier: BSD-2-Clause
/*
 * The simulated cuDNN: descriptors of the graph interface as bags of attributes, and a plan's
 * execution as one kernel named after its operations. The older interface is generated: one kernel
 * per compute call.
 */
#include "math.h"
#include <cudnn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HANDLE_BYTES 4096
#define PLAN_FLOPS   5e8

struct attribute {
	cudnnBackendAttributeName_t name;
	cudnnBackendAttributeType_t type;
	int64_t cnt;
	void *data;
	struct attribute *next;
};

struct descriptor {
	uint32_t magic;
	cudnnBackendDescriptorType_t type;
	struct attribute *attributes;
	char kernel[200];
};
#define DESCRIPTOR_MAGIC 0x44455343u

static size_t type_bytes(cudnnBackendAttributeType_t type)
{
	switch (type) {
	case CUDNN_TYPE_HANDLE:
	case CUDNN_TYPE_INT64:
	case CUDNN_TYPE_DOUBLE:
	case CUDNN_TYPE_VOID_PTR:
	case CUDNN_TYPE_BACKEND_DESCRIPTOR:
		return 8;
	case CUDNN_TYPE_BOOLEAN:
	case CUDNN_TYPE_CHAR:
		return 1;
	case CUDNN_TYPE_FRACTION:
		return 16;
	default:
		return 4;
	}
}

static struct attribute *find(const struct descriptor *d, cudnnBackendAttributeName_t name)
{
	struct attribute *a = d ? d->attributes : NULL;

	while (a && a->name != name)
		a = a->next;
	return a;
}

static cudnnStatus_t put(struct descriptor *d, cudnnBackendAttributeName_t name,
			 cudnnBackendAttributeType_t type, int64_t cnt, const void *data)
{
	size_t bytes = (size_t)cnt * type_bytes(type);
	struct attribute *a = find(d, name);

	if (!a) {
		a = calloc(1, sizeof(*a));
		if (!a)
			return CUDNN_STATUS_ALLOC_FAILED;
		a->next = d->attributes;
		d->attributes = a;
	}
	free(a->data);
	a->name = name;
	a->type = type;
	a->cnt = cnt;
	a->data = malloc(bytes + 8);
	if (!a->data)
		return CUDNN_STATUS_ALLOC_FAILED;
	if (data)
		memcpy(a->data, data, bytes);
	return CUDNN_STATUS_SUCCESS;
}

static struct descriptor *descriptor_new(cudnnBackendDescriptorType_t type)
{
	struct descriptor *d = calloc(1, sizeof(*d));

	if (d) {
		d->magic = DESCRIPTOR_MAGIC;
		d->type = type;
	}
	return d;
}

SIM_EXPORT cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
						      cudnnBackendDescriptor_t *out)
{
	*out = descriptor_new(type);
	return *out ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_ALLOC_FAILED;
}

static void descriptor_free(struct descriptor *d)
{
	while (d->attributes) {
		struct attribute *a = d->attributes;

		d->attributes = a->next;
		free(a->data);
		free(a);
	}
	d->magic = 0;
	free(d);
}

/*
 * Graphs refer to descriptors after the program destroys them, so descriptors are kept: as many as
 * a program has plans. Only variant packs are freed: nothing refers to them, and each execution
 * makes one.
 */
SIM_EXPORT cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t d)
{
	struct descriptor *pack = d;

	if (pack && pack->magic == DESCRIPTOR_MAGIC &&
	    pack->type == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
		descriptor_free(pack);
	return CUDNN_STATUS_SUCCESS;
}

SIM_EXPORT cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t d,
						  cudnnBackendAttributeName_t name,
						  cudnnBackendAttributeType_t type, int64_t cnt,
						  const void *data)
{
	return put(d, name, type, cnt, data);
}

SIM_EXPORT cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t d)
{
	return CUDNN_STATUS_SUCCESS;
}

/* ---- what plans are asked for ---- */

/* A heuristic's result: the caller's engine configuration, with our one engine for its graph. */
static cudnnStatus_t suggest_engine(const struct descriptor *heuristic, int64_t requested,
				    int64_t *cnt, void *out)
{
	const struct attribute *graph = find(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
	struct descriptor *config, *engine;
	int64_t index = 0;

	if (cnt)
		*cnt = 1;
	if (requested < 1 || !out)
		return CUDNN_STATUS_SUCCESS;
	config = *(struct descriptor **)out;
	engine = descriptor_new(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	if (!engine)
		return CUDNN_STATUS_ALLOC_FAILED;
	if (graph)
		put(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
		    graph->data);
	put(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &index);
	if (config)
		put(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine);
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t read_attribute(const struct attribute *a, cudnnBackendAttributeType_t type,
				    int64_t requested, int64_t *cnt, void *out)
{
	int64_t n = requested < a->cnt ? requested : a->cnt;
	struct descriptor *to = NULL;

	if (cnt)
		*cnt = a->cnt;
	if (!out || n < 1)
		return CUDNN_STATUS_SUCCESS;
	if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
		to = *(struct descriptor **)out;
	if (to && to->magic == DESCRIPTOR_MAGIC) {
		const struct descriptor *from = *(struct descriptor **)a->data;

		to->type = from->type;
		to->attributes = from->attributes;
	} else {
		memcpy(out, a->data, (size_t)n * type_bytes(type));
	}
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t read_number(cudnnBackendAttributeType_t type, int64_t value, int64_t requested,
				 int64_t *cnt, void *out)
{
	if (cnt)
		*cnt = 1;
	if (out && requested > 0)
		memcpy(out, &value, type_bytes(type));
	return CUDNN_STATUS_SUCCESS;
}

SIM_EXPORT cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t d,
						  cudnnBackendAttributeName_t name,
						  cudnnBackendAttributeType_t type,
						  int64_t requested, int64_t *cnt, void *out)
{
	static const char plan[] = "{}";
	const struct attribute *a = find(d, name);

	if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS)
		return suggest_engine(d, requested, cnt, out);
	if (a)
		return read_attribute(a, type, requested, cnt, out);
	switch (name) {
	case CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION:
		if (cnt)
			*cnt = sizeof(plan);
		if (out && requested >= (int64_t)sizeof(plan))
			memcpy(out, plan, sizeof(plan));
		return CUDNN_STATUS_SUCCESS;
	case CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
		return read_number(type, 1, requested, cnt, out);
	case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
#if SIM_CUDA_MAJOR >= 13
	case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
	case CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED:
#endif
		return read_number(type, 0, requested, cnt, out);
	default:
		if (cnt)
			*cnt = 0;
		return CUDNN_STATUS_SUCCESS;
	}
}

/* ---- execution ---- */

static const struct descriptor *referred(const struct descriptor *d,
					 cudnnBackendAttributeName_t name)
{
	const struct attribute *a = find(d, name);

	return a && a->cnt ? *(struct descriptor **)a->data : NULL;
}

static void append_operation(char *name, size_t size, cudnnBackendDescriptorType_t type)
{
	static const struct {
		cudnnBackendDescriptorType_t type;
		const char *name;
	} names[] = {
		{CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, "conv_fprop"},
		{CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, "conv_dgrad"},
		{CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, "conv_wgrad"},
		{CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, "matmul"},
		{CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, "pointwise"},
		{CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, "reduction"},
		{CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR, "norm_fwd"},
		{CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR, "norm_bwd"},
	};
	size_t used = strlen(name);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (names[i].type == type) {
			snprintf(name + used, size - used, "_%s", names[i].name);
			return;
		}
	}
	snprintf(name + used, size - used, "_op%d", (int)type);
}

static void name_kernel(struct descriptor *plan)
{
	const struct descriptor *graph =
		referred(referred(referred(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG),
				  CUDNN_ATTR_ENGINECFG_ENGINE),
			 CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
	const struct attribute *ops = find(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS);

	strcpy(plan->kernel, "sim_cudnn");
	for (int64_t i = 0; ops && i < ops->cnt && i < 4; i++)
		append_operation(plan->kernel, sizeof(plan->kernel),
				 ((struct descriptor **)ops->data)[i]->type);
}

SIM_EXPORT cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
					     cudnnBackendDescriptor_t pack)
{
	struct descriptor *p = plan;

	if (!p->kernel[0])
		name_kernel(p);
	return math_launch(((struct math_handle *)handle)->stream, p->kernel, 1024, 1024, 1,
			   PLAN_FLOPS)
		       ? CUDNN_STATUS_EXECUTION_FAILED
		       : CUDNN_STATUS_SUCCESS;
}

/* ---- handles, versions, sizes ---- */

SIM_EXPORT cudnnStatus_t cudnnCreate(cudnnHandle_t *out)
{
	*out = calloc(1, HANDLE_BYTES);
	return *out ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_ALLOC_FAILED;
}

SIM_EXPORT cudnnStatus_t cudnnDestroy(cudnnHandle_t handle)
{
	free(handle);
	return CUDNN_STATUS_SUCCESS;
}

SIM_EXPORT cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
	((struct math_handle *)handle)->stream = stream;
	return CUDNN_STATUS_SUCCESS;
}

SIM_EXPORT cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t *stream)
{
	*stream = ((struct math_handle *)handle)->stream;
	return CUDNN_STATUS_SUCCESS;
}

NUMBER(cudnnGetVersion, CUDNN_VERSION)
NUMBER(cudnnGetCudartVersion, SIM_CUDART_VERSION)
NUMBER(cudnnGetMaxDeviceVersion, 900)
STATUS_TEXT(cudnnGetErrorString, cudnnStatus_t, "CUDNN_STATUS_NOT_SUPPORTED (simulated)",
	    "CUDNN_STATUS_SUCCESS")

SIM_EXPORT void cudnnGetLastErrorString(char *text, size_t size)
{
	if (size)
		*text = 0;
}

SIM_EXPORT cudnnStatus_t cudnnGetProperty(libraryPropertyType type, int *value)
{
	*value = type == MAJOR_VERSION	 ? CUDNN_MAJOR
		 : type == MINOR_VERSION ? CUDNN_MINOR
					 : CUDNN_PATCHLEVEL;
	return CUDNN_STATUS_SUCCESS;
}

SIM_EXPORT cudnnStatus_t cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
	cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t ops,
	const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t z,
	const cudnnTensorDescriptor_t y, const cudnnTensorDescriptor_t scale,
	const cudnnActivationDescriptor_t activation, size_t *bytes)
{
	*bytes = 0;
	return CUDNN_STATUS_SUCCESS;
}

SIM_EXPORT cudnnStatus_t cudnnGetBatchNormalizationBackwardExWorkspaceSize(
	cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t ops,
	const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t y,
	const cudnnTensorDescriptor_t dy, const cudnnTensorDescriptor_t dz,
	const cudnnTensorDescriptor_t dx, const cudnnTensorDescriptor_t scale,
	const cudnnActivationDescriptor_t activation, size_t *bytes)
{
	*bytes = 0;
	return CUDNN_STATUS_SUCCESS;
}

SIM_EXPORT cudnnStatus_t cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
	cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t ops,
	const cudnnActivationDescriptor_t activation, const cudnnTensorDescriptor_t x,
	size_t *bytes)
{
	*bytes = 1024;
	return CUDNN_STATUS_SUCCESS;
}

SIM_EXPORT cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t handle, size_t *bytes)
{
	*bytes = 4096;
	return CUDNN_STATUS_SUCCESS;
}

SIM_EXPORT cudnnStatus_t cudnnGetReductionWorkspaceSize(
	cudnnHandle_t handle, const cudnnReduceTensorDescriptor_t reduction,
	const cudnnTensorDescriptor_t a, const cudnnTensorDescriptor_t c, size_t *bytes)
{
	*bytes = 0;
	return CUDNN_STATUS_SUCCESS;
}
