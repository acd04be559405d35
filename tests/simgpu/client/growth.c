// SPDX-License-Identifier: BSD-2-Clause
/*
 * Steps of every kind of operation, a cuDNN plan's execution among them: a long job holds no more
 * memory than a short one.
 */
#include "client.h"
#include <cudnn.h>
#include <dlfcn.h>
#include <unistd.h>

#define BYTES	    4096
#define SHORT_STEPS 2000
#define LONG_STEPS  20000
#define MAX_GROWTH  (512L << 10) /* bytes: 29 a step */

static char stub;
static cudnnStatus_t (*descriptor_create)(cudnnBackendDescriptorType_t, cudnnBackendDescriptor_t *);
static cudnnStatus_t (*descriptor_destroy)(cudnnBackendDescriptor_t);
static cudnnStatus_t (*attribute_set)(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t,
				      cudnnBackendAttributeType_t, int64_t, const void *);
static cudnnStatus_t (*execute)(cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t);
static cudnnHandle_t handle;
static cudnnBackendDescriptor_t plan;

static void *symbol(void *library, const char *name)
{
	void *found = dlsym(library, name);

	CHECK(found);
	return found;
}

static void cudnn_begin(void)
{
	void *library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
	cudnnStatus_t (*create)(cudnnHandle_t *);

	CHECK(library);
	*(void **)&create = symbol(library, "cudnnCreate");
	*(void **)&descriptor_create = symbol(library, "cudnnBackendCreateDescriptor");
	*(void **)&descriptor_destroy = symbol(library, "cudnnBackendDestroyDescriptor");
	*(void **)&attribute_set = symbol(library, "cudnnBackendSetAttribute");
	*(void **)&execute = symbol(library, "cudnnBackendExecute");
	OK(create(&handle));
	OK(descriptor_create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &plan));
}

/* Keeps the plan and drops the pack, as PyTorch does for each convolution. */
static void cudnn_step(void *p)
{
	cudnnBackendDescriptor_t pack;
	void *pointers[] = {p, p, p};
	int64_t ids[] = {'x', 'y', 'w'};

	OK(descriptor_create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack));
	OK(attribute_set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3,
			 pointers));
	OK(attribute_set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, ids));
	OK(execute(handle, plan, pack));
	OK(descriptor_destroy(pack));
}

static void step(cudaGraphExec_t exec, cudaStream_t s, void *p)
{
	static char host[BYTES];
	cudaEvent_t e;

	OK(cudaEventCreate(&e));
	OK(cudaMemcpyAsync(p, host, sizeof(host), cudaMemcpyHostToDevice, s));
	OK(cudaMemsetAsync(p, 0, BYTES, s));
	kernel_launch(&stub, 1, s);
	cudnn_step(p);
	OK(cudaEventRecord(e, s));
	OK(cudaStreamWaitEvent(NULL, e, 0));
	OK(cudaGraphLaunch(exec, s));
	OK(cudaDeviceSynchronize());
	OK(cudaEventDestroy(e));
}

static long resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long all, resident;

	CHECK(f && fscanf(f, "%ld %ld", &all, &resident) == 2);
	fclose(f);
	return resident * sysconf(_SC_PAGESIZE);
}

int main(void)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	cudaStream_t s;
	long before = 0, growth;
	void *p;

	kernel_register(&stub, "_Z6kernelv");
	cudnn_begin();
	OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	OK(cudaMalloc(&p, BYTES));
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	kernel_launch(&stub, 1, s);
	OK(cudaStreamEndCapture(s, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < LONG_STEPS; i++) {
		if (i == SHORT_STEPS)
			before = resident_bytes();
		step(exec, s, p);
	}
	growth = resident_bytes() - before;
	if (growth > MAX_GROWTH)
		fprintf(stderr, "%ld KiB more after %d steps than after %d\n", growth >> 10,
			LONG_STEPS, SHORT_STEPS);
	CHECK(growth <= MAX_GROWTH);
	printf("growth: ok\n");
	return 0;
}
