// SPDX-License-Identifier: BSD-2-Clause
/*
 * Activities. CUPTI fills buffers that we lend, and returns them on a thread of its own, or on the
 * flushing thread. Each record is converted to the protocol's form, so only this library knows
 * CUPTI's layouts.
 */
#include "cupti_shim/shim.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define POOL_CNT      64
#define BUFFER_BYTES  (1u << 20)
#define DISCARD_BYTES (64u << 10)
#define NAMES	      16384
#define LOOKED_AT     (1u << 20) /* bytes of a name that are read */
#define CUT_END	      22	 /* bytes after a name that is cut */

static uint8_t *pool[POOL_CNT]; /* mapped at first use */
static uint64_t taken;		/* one bit per buffer of the pool */
static uint32_t lent;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* buffers are completed one after the
							     other */
static struct shim_control *control;
static const struct cupti *library;
static uint64_t sent_names[NAMES]; /* keys of names that were written to this file */
static uint32_t graphs; /* 1: some kernel belonged to a graph, in this window or an earlier one */

void records__connect(struct shim_control *c, const struct cupti *cupti)
{
	pthread_mutex_lock(&mutex);
	control = c;
	library = cupti;
	memset(sent_names, 0, sizeof(sent_names));
	pthread_mutex_unlock(&mutex);
}

bool records__saw_graphs(void)
{
	return __atomic_load_n(&graphs, __ATOMIC_RELAXED);
}

/* ---- buffers ---- */

uint32_t records__lent(void)
{
	return __atomic_load_n(&lent, __ATOMIC_ACQUIRE);
}

static uint8_t *pool_take(void)
{
	uint64_t before = __atomic_load_n(&taken, __ATOMIC_RELAXED);
	int i;

	do {
		if (!~before)
			return NULL;
		i = __builtin_ctzll(~before);
	} while (!__atomic_compare_exchange_n(&taken, &before, before | 1ull << i, true,
					      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	if (!pool[i]) {
		void *data = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		pool[i] = data == MAP_FAILED ? NULL : data;
	}
	if (!pool[i])
		__atomic_and_fetch(&taken, ~(1ull << i), __ATOMIC_ACQ_REL);
	return pool[i];
}

static int pool_index(const uint8_t *buffer)
{
	for (int i = 0; i < POOL_CNT; i++)
		if (pool[i] == buffer)
			return i;
	return -1;
}

/* CUPTI before 12.9 must always get a buffer. If the pool is empty, it gets one whose records are
 * counted and discarded. */
void records__on_request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*max_records = 0;
	*bytes = BUFFER_BYTES;
	*buffer = pool_take();
	if (!*buffer) {
		*bytes = DISCARD_BYTES;
		*buffer = aligned_alloc(8, DISCARD_BYTES);
	}
	if (*buffer)
		__atomic_add_fetch(&lent, 1, __ATOMIC_ACQ_REL);
	else
		*bytes = 0;
}

void records__release(void)
{
	for (int i = 0; i < POOL_CNT; i++) {
		uint64_t bit = 1ull << i;

		if (__atomic_fetch_or(&taken, bit, __ATOMIC_ACQ_REL) & bit)
			continue;
		if (pool[i])
			munmap(pool[i], BUFFER_BYTES);
		pool[i] = NULL;
		__atomic_and_fetch(&taken, ~bit, __ATOMIC_ACQ_REL);
	}
}

/* ---- names ---- */

/* The product of two words, folded into one. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	const unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Hashes by words, because kernels have names of a thousand bytes, and each record has one. */
static uint64_t hash(const char *text, size_t len)
{
	const uint64_t factor = 0x9e3779b97f4a7c15ull;
	uint64_t h = mix(len ^ 14695981039346656037ull, factor), word = 0;
	size_t i = 0;

	for (; i + sizeof(word) <= len; i += sizeof(word)) {
		memcpy(&word, text + i, sizeof(word));
		h = mix(h ^ word, factor);
	}
	word = 0;
	memcpy(&word, text + i, len - i);
	return mix(h ^ word, factor);
}

/* Call it under the mutex. A name is written again if another name took its place in the table. */
static bool put_name(struct shim_control *c, uint64_t key, const char *text, size_t len)
{
	uint64_t *slot = &sent_names[key % NAMES];
	const size_t kept = len < SHIM_NAME_MAX ? len : SHIM_NAME_MAX;
	size_t bytes = (sizeof(struct shim_name) + kept + 1 + 7) & ~(size_t)7;
	struct shim_name *name;

	if (*slot == key)
		return true;
	name = shim_reserve(c, bytes);
	if (!name)
		return false;
	memset(name, 0, bytes);
	name->h = (struct shim_record){SHIM_REC_NAME, (uint32_t)bytes};
	name->key = key;
	memcpy(name->text, text, kept);
	if (kept < len) /* other names may begin the same */
		snprintf(name->text + kept - CUT_END, CUT_END + 1, "... (%016llx)",
			 (unsigned long long)key);
	shim_commit(c, bytes);
	*slot = key;
	return true;
}

bool records__put_name(struct shim_control *c, uint64_t key, const char *text)
{
	bool done;

	pthread_mutex_lock(&mutex);
	done = put_name(c, key, text, strnlen(text, SHIM_NAME_MAX));
	pthread_mutex_unlock(&mutex);
	return done;
}

bool records__put(struct shim_control *c, const struct shim_record *record)
{
	bool done;

	pthread_mutex_lock(&mutex);
	done = shim_put(c, record);
	pthread_mutex_unlock(&mutex);
	return done;
}

static uint64_t name_key(struct shim_control *c, const char *text, uint64_t kind)
{
	size_t len = text ? strnlen(text, LOOKED_AT) : 0;
	uint64_t key = (hash(text, len) & ~SHIM_KEY_RANGE) | SHIM_KEY_TEXT | kind;

	return len && put_name(c, key, text, len) ? key : 0;
}

/* "DOMAIN:NAME", as in nsys. A name of the default domain stays as it is. Call it under the
 * mutex. */
static uint64_t range_key(struct shim_control *c, const char *domain, const char *name)
{
	static char text[LOOKED_AT];

	if (!name || !domain || !*domain)
		return name_key(c, name, SHIM_KEY_RANGE);
	snprintf(text, sizeof(text), "%s:%s", domain, name);
	return name_key(c, text, SHIM_KEY_RANGE);
}

/* ---- records ---- */

/* An unfinished activity that a forced flush returns has no times. */
static bool is_complete(struct shim_control *c, uint64_t start, uint64_t end)
{
	if (start && end)
		return true;
	c->lost_incomplete++;
	return false;
}

#define HEAD(type, shim_kind, record)                                                              \
	{.h = {shim_kind, sizeof(struct type)},                                                    \
	 .start_ns = (record)->start,                                                              \
	 .end_ns = (record)->end,                                                                  \
	 .correlation = (record)->correlation,                                                     \
	 .device = (record)->device,                                                               \
	 .context = (record)->context,                                                             \
	 .stream = (record)->stream,                                                               \
	 .graph = (record)->graph}

static void take_kernel(struct shim_control *c, const struct cupti_kernel *r)
{
	struct shim_kernel out = {.a = HEAD(shim_kernel, SHIM_REC_KERNEL, r),
				  .grid = {r->grid[0], r->grid[1], r->grid[2]},
				  .block = {r->block[0], r->block[1], r->block[2]},
				  .registers = r->registers,
				  .static_shared = r->static_shared,
				  .dynamic_shared = r->dynamic_shared,
				  .local_bytes = r->local_per_thread};

	if (r->graph)
		__atomic_store_n(&graphs, 1, __ATOMIC_RELAXED);
	if (!is_complete(c, r->start, r->end))
		return;
	out.name = name_key(c, r->name, 0);
	shim_put(c, &out);
}

/* The two records of copies have the same fields at different offsets. */
#define COPY(record, from, to)                                                                     \
	{.a = HEAD(shim_copy, SHIM_REC_COPY, record),                                              \
	 .bytes = (record)->bytes,                                                                 \
	 .kind = (record)->copy_kind,                                                              \
	 .source = (record)->source,                                                               \
	 .destination = (record)->destination,                                                     \
	 .async = (record)->flags & CUPTI_FLAG_ASYNC,                                              \
	 .source_device = (record)->from,                                                          \
	 .destination_device = (record)->to}

static void take_memcpy(struct shim_control *c, const struct cupti_memcpy *r)
{
	const struct shim_copy out = COPY(r, device, device);

	if (is_complete(c, r->start, r->end))
		shim_put(c, &out);
}

static void take_peer(struct shim_control *c, const struct cupti_memcpy_peer *r)
{
	const struct shim_copy out = COPY(r, source_device, destination_device);

	if (is_complete(c, r->start, r->end))
		shim_put(c, &out);
}

static void take_memset(struct shim_control *c, const struct cupti_memset *r)
{
	const struct shim_set out = {.a = HEAD(shim_set, SHIM_REC_SET, r),
				     .bytes = r->bytes,
				     .value = r->value,
				     .memory = r->memory};

	if (is_complete(c, r->start, r->end))
		shim_put(c, &out);
}

/* Before 12.8 the records are shorter. */
static bool has_event_sync(void)
{
	return library->version >= CUPTI_API_12_8;
}

static void take_sync(struct shim_control *c, const struct cupti_synchronization *r)
{
	const struct shim_sync out = {.a = {.h = {SHIM_REC_SYNC, sizeof(out)},
					    .start_ns = r->start,
					    .end_ns = r->end,
					    .correlation = r->correlation,
					    .device = UINT32_MAX,
					    .context = r->context,
					    .stream = r->stream},
				      .type = r->type,
				      .event = r->event,
				      .event_sync = has_event_sync() ? r->event_sync : 0};

	shim_put(c, &out);
}

static void take_event(struct shim_control *c, const struct cupti_cuda_event *r)
{
	const struct shim_event out = {.a = {.h = {SHIM_REC_EVENT, sizeof(out)},
					     .correlation = r->correlation,
					     .device = UINT32_MAX,
					     .context = r->context,
					     .stream = r->stream},
				       .event = r->event,
				       .event_sync = has_event_sync() ? r->event_sync : 0};

	shim_put(c, &out);
}

static void take_memory(struct shim_control *c, const struct cupti_memory *r)
{
	const struct shim_memory out = {.a = {.h = {SHIM_REC_MEMORY, sizeof(out)},
					      .start_ns = r->timestamp,
					      .end_ns = r->timestamp,
					      .correlation = r->correlation,
					      .device = r->device,
					      .context = r->context,
					      .stream = r->stream},
					.address = r->address,
					.bytes = r->bytes,
					.release = r->operation == CUPTI_MEMORY_RELEASE,
					.memory = r->memory,
					.pooled = r->async || r->pool};

	if (r->operation == CUPTI_MEMORY_ALLOCATION || r->operation == CUPTI_MEMORY_RELEASE)
		shim_put(c, &out);
}

static void take_marker(struct shim_control *c, const struct cupti_marker *r)
{
	const struct shim_marker out = {.a = {.h = {SHIM_REC_MARKER, sizeof(out)},
					      .start_ns = r->timestamp,
					      .end_ns = r->timestamp,
					      .device = UINT32_MAX},
					.name = range_key(c, r->domain, r->name),
					.id = r->id,
					.flags = r->flags & 7,
					.tid = r->object_kind == CUPTI_OBJECT_THREAD ? r->object[1]
										     : 0};

	shim_put(c, &out);
}

static void take_overhead(struct shim_control *c, const struct cupti_overhead *r)
{
	const struct shim_overhead out = {
		.a = {.h = {SHIM_REC_OVERHEAD, sizeof(out)},
		      .start_ns = r->start,
		      .end_ns = r->end,
		      .device = UINT32_MAX},
		.kind = r->overhead_kind,
		.tid = r->object_kind == CUPTI_OBJECT_THREAD ? r->object[1] : 0};

	shim_put(c, &out);
}

static void take(struct shim_control *c, const void *record)
{
	switch (*(const uint32_t *)record) {
	case CUPTI_CONCURRENT_KERNEL:
		take_kernel(c, record);
		break;
	case CUPTI_MEMCPY:
		take_memcpy(c, record);
		break;
	case CUPTI_MEMCPY2:
		take_peer(c, record);
		break;
	case CUPTI_MEMSET:
		take_memset(c, record);
		break;
	case CUPTI_SYNCHRONIZATION:
		take_sync(c, record);
		break;
	case CUPTI_CUDA_EVENT:
		take_event(c, record);
		break;
	case CUPTI_MEMORY2:
		take_memory(c, record);
		break;
	case CUPTI_MARKER:
		take_marker(c, record);
		break;
	case CUPTI_OVERHEAD:
		take_overhead(c, record);
		break;
	default:
		c->unknown_records++;
	}
}

static void take_buffer(struct shim_control *c, uint8_t *buffer, size_t valid, bool discard)
{
	void *record = NULL;
	int result;

	while (!(result = library->ActivityGetNextRecord(buffer, valid, &record))) {
		if (discard)
			c->lost_buffers++;
		else
			take(c, record);
	}
	if (result != CUPTI_MAX_LIMIT_REACHED)
		failures__note(c, SHIM_FAILS_RECORD, result);
}

void records__on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			  size_t valid)
{
	int i = pool_index(buffer);

	(void)bytes;
	pthread_mutex_lock(&mutex);
	if (control && valid)
		take_buffer(control, buffer, valid, i < 0);
	if (control)
		failures__count_dropped(control, library, context, stream);
	pthread_mutex_unlock(&mutex);
	if (i >= 0)
		__atomic_and_fetch(&taken, ~(1ull << i), __ATOMIC_ACQ_REL);
	else
		free(buffer);
	__atomic_sub_fetch(&lent, 1, __ATOMIC_ACQ_REL);
}
