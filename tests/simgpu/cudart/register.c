// SPDX-License-Identifier: BSD-2-Clause
/* Calls from compiled programs' constructors, which tell the runtime each host stub's kernel. */
#include "cudart.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct registered {
	struct sim_function function;
	UT_hash_handle hh;
};

struct variable {
	const void *host;
	size_t bytes;
	void *device;
	UT_hash_handle hh;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct registered *functions;
static struct variable *variables;

SIM_EXPORT void **__cudaRegisterFatBinary(void *image)
{
	return calloc(1, 64);
}

SIM_EXPORT void __cudaRegisterFatBinaryEnd(void **handle) {}

SIM_EXPORT void __cudaUnregisterFatBinary(void **handle) {}

SIM_EXPORT char __cudaInitModule(void **handle)
{
	return 1;
}

/* Allocates from blocks, because PyTorch registers tens of thousands of functions before main(). */
static struct registered *function_alloc(void)
{
	static struct registered *block;
	static size_t left;

	if (!left) {
		left = 4096;
		block = calloc(left, sizeof(*block));
		if (!block)
			abort();
	}
	return &block[--left];
}

SIM_EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device,
				       const char *name, int thread_limit, uint3 *tid, uint3 *bid,
				       dim3 *block, dim3 *grid, int *warp_size)
{
	struct registered *r;

	pthread_mutex_lock(&mutex);
	HASH_FIND_PTR(functions, &host, r);
	if (!r) {
		r = function_alloc();
		sim_function_init(&r->function, name, host);
		HASH_ADD_PTR(functions, function.host, r);
	}
	pthread_mutex_unlock(&mutex);
}

SIM_EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name,
				  int external, size_t bytes, int constant, int global)
{
	struct variable *v = calloc(1, sizeof(*v));

	if (!v)
		abort();
	v->host = host;
	v->bytes = bytes;
	pthread_mutex_lock(&mutex);
	HASH_ADD_PTR(variables, host, v);
	pthread_mutex_unlock(&mutex);
}

SIM_EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
					 int external, size_t bytes, int constant, int global)
{
	*host = calloc(1, bytes);
}

SIM_EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes) {}

/* ---- lookups ---- */

static struct sim_function *by_host(const void *host)
{
	struct registered *r;

	pthread_mutex_lock(&mutex);
	HASH_FIND_PTR(functions, &host, r);
	pthread_mutex_unlock(&mutex);
	return r ? &r->function : NULL;
}

struct sim_function *rt_function(const void *handle)
{
	struct sim_function *f = handle ? by_host(handle) : NULL;

	if (f || !handle || (uintptr_t)handle & 7)
		return f;
	f = (struct sim_function *)handle;
	return f->magic == SIM_FUNCTION_MAGIC ? f : NULL;
}

__attribute__((constructor)) static void tell_engine(void)
{
	sim_resolver_set(rt_function);
}

SIM_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host)
{
	*out = (cudaKernel_t)by_host(host);
	return *out ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t rt_cudaGetKernel(cudaKernel_t *out, const void *host)
{
	return __cudaGetKernel(out, host);
}

cudaError_t rt_cudaGetFuncBySymbol(cudaFunction_t *out, const void *host)
{
	*out = (cudaFunction_t)by_host(host);
	return *out ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

static struct variable *variable_of(const void *host)
{
	struct variable *v;

	pthread_mutex_lock(&mutex);
	HASH_FIND_PTR(variables, &host, v);
	pthread_mutex_unlock(&mutex);
	if (v && !v->device)
		cuMemAlloc((CUdeviceptr *)&v->device, v->bytes);
	return v;
}

cudaError_t rt_cudaGetSymbolAddress(void **out, const void *symbol)
{
	struct variable *v = variable_of(symbol);

	*out = v ? v->device : NULL;
	return *out ? cudaSuccess : cudaErrorInvalidSymbol;
}

cudaError_t rt_cudaGetSymbolSize(size_t *out, const void *symbol)
{
	struct variable *v = variable_of(symbol);

	if (!v)
		return cudaErrorInvalidSymbol;
	*out = v->bytes;
	return cudaSuccess;
}

cudaError_t rt_cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t bytes,
				       size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	struct variable *v = variable_of(symbol);

	if (!v || offset > v->bytes || bytes > v->bytes - offset)
		return cudaErrorInvalidSymbol;
	return result_of(cuMemcpyHtoDAsync((CUdeviceptr)v->device + offset, src, bytes, stream));
}

cudaError_t rt_cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset,
				  enum cudaMemcpyKind kind)
{
	struct variable *v = variable_of(symbol);

	if (!v || offset > v->bytes || bytes > v->bytes - offset)
		return cudaErrorInvalidSymbol;
	return result_of(cuMemcpyHtoD((CUdeviceptr)v->device + offset, src, bytes));
}
