// SPDX-License-Identifier: BSD-2-Clause
/*
 * What CUPTI itself costs: the callbacks and activities that our library asks for, and nobody who
 * does anything with them. Loaded by the benchmark's job, with the CUPTI that it has.
 */
#include "cupti_shim/cuda_functions.h"
#include "cupti_shim/cupti.h"
#include "cupti_shim/protocol.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (1u << 20)
#define API_MAX	     2048

static const char *const prefixes[] = {
#define F(function, ...) #function,
	CUDA_RUNTIME_FUNCTIONS(F) CUDA_DRIVER_FUNCTIONS(F)
#undef F
};
/* Those of cupti_shim/window.c, unless it is asked for more. */
static const int kinds[] = {
	CUPTI_CONCURRENT_KERNEL, CUPTI_MEMCPY, CUPTI_MEMCPY2,  CUPTI_MEMSET,
	CUPTI_MEMORY2,		 CUPTI_MARKER, CUPTI_OVERHEAD,
};
#define KIND_CNT (sizeof(kinds) / sizeof(*kinds))

/* For ctypes. */
int bare_cupti__begin(const char *library);
int bare_cupti__end(void);

static struct cupti cupti;
static void *subscriber;

static void on_request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*bytes = *buffer ? BUFFER_BYTES : 0;
	*max_records = 0;
}

static void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	(void)context, (void)stream, (void)bytes, (void)valid;
	free(buffer);
}

static void on_callback(void *user, int domain, uint32_t api, const struct cupti_callback_data *d)
{
	(void)user, (void)domain, (void)api, (void)d;
}

static bool is_wanted(const char *name)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static int enable_callbacks(int domain)
{
	const char *name;
	int err = 0;

	for (uint32_t api = 1; api < API_MAX && !err; api++)
		if (!cupti.GetCallbackName(domain, api, &name) && name && is_wanted(name))
			err = cupti.EnableCallback(1, subscriber, domain, api);
	return err;
}

/* 0, CUPTI's own error, or -1: no such library or function. */
int bare_cupti__begin(const char *library)
{
	int err = 0;

	cupti.library = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
	if (!cupti.library)
		return -1;
#define F(type, name, args)                                                                        \
	cupti.name = (__typeof__(cupti.name))dlsym(cupti.library, "cupti" #name);                  \
	err |= !cupti.name;
	CUPTI_FUNCTIONS(F)
#undef F
	if (err)
		return -1;
	err = cupti.Subscribe(&subscriber, on_callback, NULL);
	if (!err)
		err = cupti.ActivityRegisterCallbacks(on_request, on_complete);
	if (!err)
		err = enable_callbacks(SHIM_RUNTIME);
	if (!err)
		err = enable_callbacks(SHIM_DRIVER);
	for (size_t i = 0; i < KIND_CNT && !err; i++)
		err = cupti.ActivityEnable(kinds[i]);
	return err;
}

/* While the device has nothing to do. */
int bare_cupti__end(void)
{
	for (size_t i = 0; i < KIND_CNT; i++)
		cupti.ActivityDisable(kinds[i]);
	cupti.ActivityFlushAll(CUPTI_FLUSH_FORCED);
	cupti.Unsubscribe(subscriber);
	return cupti.Finalize();
}
