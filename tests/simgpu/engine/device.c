// SPDX-License-Identifier: BSD-2-Clause
/* A device's properties, its context, and its functions. */
#include "engine.h"
#include <cuda.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include "error_names.h"

static _Atomic bool active[SIM_MAX_DEVICES];
static char contexts[SIM_MAX_DEVICES]; /* only their addresses matter */

void *sim_context_of(int dev)
{
	return &contexts[dev];
}

int sim_context_device(void *context)
{
	ptrdiff_t dev = (char *)context - contexts;

	return dev < 0 || dev >= sim_config.device_cnt ? -1 : (int)dev;
}

/* For device dev, or for any device if dev is -1. */
bool sim_context_active(int dev)
{
	bool any = false;

	for (int i = 0; i < SIM_MAX_DEVICES; i++)
		any |= active[i] && (dev < 0 || dev == i);
	return any;
}

void sim_context_touch(void)
{
	struct sim_thread *t = sim_thread();
	const struct sim_tool *tool = sim_tool();

	t->has_context = true;
	if (active[t->dev])
		return;
	sim_lock();
	active[t->dev] = true;
	sim_sched_run();
	sim_unlock();
	if (tool && tool->resource)
		tool->resource(SIM_CONTEXT_CREATED, t->dev, NULL);
}

int sim_device_set(int dev)
{
	if (dev < 0 || dev >= sim_config.device_cnt)
		return SIM_INVALID_DEVICE;
	sim_thread()->dev = dev;
	return SIM_OK;
}

/* An H100's values, for the attributes that programs read. All others are 0: not supported. */
static const struct {
	int attribute, value;
} attributes[] = {
	{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
	{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
	{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
	{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
	{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
	{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
	{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
	{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
	{CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
	{CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
	{CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647},
	{CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
	{CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
	{CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
	{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
	{CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
	{CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
	{CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 1},
	{CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 2619000},
	{CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120},
	{CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 52428800},
	{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
	{CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
	{CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
	{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
	{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
	{CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
	{CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1},
	{CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1},
	{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
	{CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
	{CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
	{CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 1},
	{CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
	{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
	{CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
	{CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
	{CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
	{CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
	{CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
};

int sim_device_attribute(int attribute, int dev, int *value)
{
	if (dev < 0 || dev >= sim_config.device_cnt)
		return SIM_INVALID_DEVICE;
	*value = 0;
	if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
		*value = 0x18 + dev;
	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++)
		if (attributes[i].attribute == attribute)
			*value = attributes[i].value;
	return SIM_OK;
}

/* ---- functions ---- */

void sim_function_init(struct sim_function *f, const char *name, const void *host)
{
	uint32_t hash = 5381;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	*f = (struct sim_function){.magic = SIM_FUNCTION_MAGIC,
				   .name = name,
				   .host = host,
				   .registers = 16 + hash % 9 * 4,
				   .static_shared = hash >> 8 & 1 ? (hash >> 9 & 7) * 512 : 0};
}

static struct sim_function *(*resolver)(const void *handle);

void sim_resolver_set(struct sim_function *(*resolve)(const void *handle))
{
	resolver = resolve;
}

struct sim_function *sim_function_resolve(const void *handle)
{
	struct sim_function *f = (struct sim_function *)handle;

	if (resolver)
		return resolver(handle);
	return handle && !((uintptr_t)handle & 7) && f->magic == SIM_FUNCTION_MAGIC ? f : NULL;
}

struct named {
	struct sim_function function;
	UT_hash_handle hh;
};

struct sim_function *sim_function_named(const char *name)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static struct named *all;
	struct named *n;

	pthread_mutex_lock(&mutex);
	HASH_FIND_STR(all, name, n);
	if (!n) {
		n = calloc(1, sizeof(*n));
		if (!n)
			abort();
		sim_function_init(&n->function, strdup(name), NULL);
		HASH_ADD_KEYPTR(hh, all, n->function.name, strlen(n->function.name), n);
	}
	pthread_mutex_unlock(&mutex);
	return &n->function;
}

/* ---- errors ---- */

static const char *name_in(const struct sim_error *errors, size_t cnt, int value)
{
	for (size_t i = 0; i < cnt; i++)
		if (errors[i].value == value)
			return errors[i].name;
	return NULL;
}

const char *sim_cuda_error_name(int error)
{
	return name_in(sim_cuda_errors, sizeof(sim_cuda_errors) / sizeof(*sim_cuda_errors), error);
}

const char *sim_cudart_error_name(int error)
{
	return name_in(sim_cudart_errors, sizeof(sim_cudart_errors) / sizeof(*sim_cudart_errors),
		       error);
}

/* Texts that programs print or compare. Other errors have only their name. */
const char *sim_error_text(int error)
{
	static const struct sim_error texts[] = {
		{0, "no error"},
		{1, "invalid argument"},
		{2, "out of memory"},
		{3, "initialization error"},
		{9, "invalid configuration argument"},
		{98, "invalid device function"},
		{100, "no CUDA-capable device is detected"},
		{101, "invalid device ordinal"},
		{214, "uncorrectable ECC error encountered"},
		{400, "invalid resource handle"},
		{500, "named symbol not found"},
		{600, "device not ready"},
		{700, "an illegal memory access was encountered"},
		{719, "unspecified launch failure"},
		{801, "operation not supported"},
		{900, "operation not permitted when stream is capturing"},
		{901, "operation failed due to a previous error during capture"},
	};

	return name_in(texts, sizeof(texts) / sizeof(*texts), error);
}
