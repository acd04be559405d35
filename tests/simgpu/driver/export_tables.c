// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables of cuGetExportTable() for statically linked runtimes: modules, the current context, and
 * hooks by which CUPTI hears of the calls of the runtime. Layouts are those of CUDA 11.8, as in
 * the libphi.so of Paddle.
 */
#include "driver.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SLOT(function) ((void *)(function))
#define BYTES(slots)   ((void *)(sizeof(void *) * (slots)))

static CUcontext current_context(void)
{
	const struct sim_thread *t = sim_thread();

	return t->has_context ? (CUcontext)sim_context_of(t->dev) : NULL;
}

/* ---- the runtime's own interface ---- */

static CUresult primary_context(CUcontext *context, CUdevice dev)
{
	return cuDevicePrimaryCtxRetain(context, dev);
}

/* Kernels are known by the names that the runtime asks for. The image's content does not matter. */
static CUresult load_module(CUmodule *module, const void *image, void **values,
			    CUjit_option *options, unsigned int cnt)
{
	return cuModuleLoadDataEx(module, image, cnt, options, values);
}

static CUresult unknown(void)
{
	return (CUresult)sim_unsupported("a slot of an export table", CUDA_ERROR_NOT_SUPPORTED);
}

static void context_goes(CUcontext context) {}

static void *const runtime_interface[] = {
	BYTES(11),     SLOT(unknown), SLOT(primary_context), SLOT(unknown),
	SLOT(unknown), SLOT(unknown), SLOT(load_module),     SLOT(context_goes),
	SLOT(unknown), SLOT(unknown), SLOT(unknown),
};

/* ---- the context that is current, as tools see it ---- */

static void tell_context(CUcontext *out)
{
	*out = current_context();
}

static void *const context_interface[] = {BYTES(4), SLOT(unknown), SLOT(tell_context),
					  SLOT(unknown)};

/* ---- what the runtime keeps of each context ---- */

struct kept {
	CUcontext context;
	const void *key;
	void *value;
	struct kept *next;
};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct kept *all_kept;

/* With the mutex held: the link to it, or to the end. */
static struct kept **find_kept(CUcontext context, const void *key)
{
	struct kept **at = &all_kept;

	if (!context)
		context = current_context();
	while (*at && ((*at)->context != context || (*at)->key != key))
		at = &(*at)->next;
	return at;
}

static CUresult keep(CUcontext context, const void *key, void *value, void *destructor)
{
	struct kept *new = malloc(sizeof(*new));
	struct kept **at;

	if (!new)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&mutex);
	at = find_kept(context, key);
	*new = (struct kept){context ? context : current_context(), key, value,
			     *at ? (*at)->next : NULL};
	free(*at);
	*at = new;
	pthread_mutex_unlock(&mutex);
	return CUDA_SUCCESS;
}

static CUresult forget(CUcontext context, const void *key)
{
	struct kept **at, *found;

	pthread_mutex_lock(&mutex);
	at = find_kept(context, key);
	found = *at;
	if (found)
		*at = found->next;
	pthread_mutex_unlock(&mutex);
	free(found);
	return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult look_up(void **value, CUcontext context, const void *key)
{
	const struct kept *found;

	pthread_mutex_lock(&mutex);
	found = *find_kept(context, key);
	*value = found ? found->value : NULL;
	pthread_mutex_unlock(&mutex);
	return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* Only this table does not begin with its size. */
static void *const storage_interface[] = {SLOT(keep), SLOT(forget), SLOT(look_up), SLOT(unknown)};

/* ---- hooks: the runtime tells of the beginning and the end of each of its calls ---- */

#define CALLBACK_IDS  512
#define NOTIFICATIONS 64
#define DEEPEST	      16

/* The runtime's own layout on its stack. */
struct call {
	uint64_t bytes;
	uint64_t context_id, stream_id, unused;
	uint64_t *tool_data;
	int *result;
	const char *name;
	const void *params;
	CUcontext context;
	CUstream stream;
	uint32_t cbid;
	uint32_t is_end;
	const char *symbol;
};

static __thread struct sim_frame frames[DEEPEST];
static __thread int depth;

static void tell_call(uint32_t cbid, struct call *call)
{
	if (!call->is_end) {
		if (depth++ >= DEEPEST)
			return;
		frames[depth - 1] = (struct sim_frame){.domain = SIM_RUNTIME,
						       .cbid = cbid,
						       .name = call->name,
						       .params = call->params,
						       .symbol = call->symbol};
		sim_enter(&frames[depth - 1]);
		return;
	}
	if (depth-- > DEEPEST)
		return;
	/* cudaGetErrorString has none */
	sim_leave(&frames[depth], call->result ? *call->result : 0);
}

/* The runtime asks which calls it shall report. The answer is: all. */
static void calls_wanted(uint32_t **wanted, size_t *cnt)
{
	static uint32_t all[CALLBACK_IDS];

	memset(all, 1, sizeof(all));
	*wanted = all;
	*cnt = CALLBACK_IDS;
}

static void notifications_wanted(uint32_t **wanted, size_t *cnt)
{
	static uint32_t none[NOTIFICATIONS];

	*wanted = none;
	*cnt = NOTIFICATIONS;
}

static void tell_stream_id(CUcontext context, CUstream stream, uint64_t *id)
{
	const struct sim_stream *s = sim_stream_get(stream);

	*id = s ? s->id : 0;
}

static void tell_context_id(CUcontext context, uint64_t *id)
{
	*id = (uint64_t)(sim_context_device(context) + 1);
}

static void tell_of(uint32_t what, void *data) {}

static void *const call_hooks[] = {
	BYTES(7),
	SLOT(tell_call),
	SLOT(calls_wanted),
	SLOT(tell_stream_id),
	SLOT(tell_context_id),
	SLOT(tell_of),
	SLOT(notifications_wanted),
};

/* ---- lookup ---- */

CUresult dr_cuGetExportTable(const void **table, const CUuuid *id)
{
	static const struct {
		unsigned char id[16];
		void *const *table;
	} tables[] = {
		{{0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12,
		  0xfd, 0x9d, 0xf9},
		 runtime_interface},
		{{0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82, 0x98, 0xf6, 0xe7, 0x8a,
		  0x3a, 0xec, 0xdc},
		 context_interface},
		{{0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11, 0xa8, 0xc3, 0x68, 0xf3, 0x55,
		  0xd8, 0x95, 0x93},
		 storage_interface},
		{{0xa0, 0x94, 0x79, 0x8c, 0x2e, 0x74, 0x2e, 0x74, 0x93, 0xf2, 0x08, 0x00, 0x20,
		  0x0c, 0x0a, 0x66},
		 call_hooks},
	};

	*table = NULL;
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (!memcmp(tables[i].id, id, sizeof(tables[i].id)))
			*table = tables[i].table;
	return *table ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
