// SPDX-License-Identifier: BSD-2-Clause
/*
 * Activity buffers, as documented: a buffer is requested when a record needs room; a record takes
 * its place when its activity begins and is completed there; a default flush returns the buffers in
 * which all records are complete, a forced flush all of them, incomplete records with times of 0;
 * full buffers come back by themselves, on a thread of CUPTI's. What finds no room is dropped and
 * counted.
 */
#include "fake.h"
#include "cupti/kernel_record.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct buffer {
	uint8_t *data;
	size_t bytes, used, max_records, cnt;
	uint32_t incomplete;
	/* Taken: nothing more is written. Given: the client has the buffer again, and this
	 * structure lives until its slots are released. */
	bool taken, given;
	CUpti_BuffersCallbackCompleteFunc completed;
	struct buffer *next;
};

struct fake_slot {
	struct buffer *buffer;
	size_t offset;
};

/* Never held while the client is called. Lock order: the engine's lock, then this one. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t requesting = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t delivering = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static struct buffer *current, *full;
static _Atomic(CUpti_BuffersCallbackRequestFunc) request;
static _Atomic(CUpti_BuffersCallbackCompleteFunc) completed;
static size_t dropped;
static uint64_t device_record_cnt;
static pthread_t worker;
static bool worker_runs, worker_must_end;
static uint32_t period_ms;

/* ---- room for records ---- */

static bool has_room(const struct buffer *b, size_t bytes)
{
	return b && b->used + bytes <= b->bytes && (!b->max_records || b->cnt < b->max_records);
}

static void retire_current(void)
{
	struct buffer **end = &full;

	while (*end)
		end = &(*end)->next;
	*end = current;
	current = NULL;
	pthread_cond_signal(&work);
}

static struct buffer *ask_client(void)
{
	CUpti_BuffersCallbackRequestFunc ask = request;
	struct buffer *b = calloc(1, sizeof(*b));

	if (b)
		b->completed = completed;
	if (!b || !ask || !b->completed) {
		free(b);
		return NULL;
	}
	ask(&b->data, &b->bytes, &b->max_records);
	if (!b->data || !b->bytes) {
		if (fake_version() < 28)
			fake_misuse("CUPTI before 12.9 is refused a buffer");
		free(b);
		return NULL;
	}
	if ((uintptr_t)b->data % 8)
		fake_misuse("a buffer that is not aligned to 8 bytes");
	memset(b->data, 0, b->bytes);
	return b;
}

/* Makes a buffer current that has room, or none; one thread at a time asks the client. */
static void find_room(size_t bytes)
{
	uint64_t start = fake_clock();
	bool is_new = false;
	struct buffer *b;

	pthread_mutex_lock(&requesting);
	pthread_mutex_lock(&mutex);
	if (current && !has_room(current, bytes))
		retire_current();
	b = current;
	pthread_mutex_unlock(&mutex);
	if (!b && (b = ask_client())) {
		pthread_mutex_lock(&mutex);
		current = b;
		is_new = has_room(b, bytes);
		pthread_mutex_unlock(&mutex);
	}
	pthread_mutex_unlock(&requesting);
	if (is_new)
		fake_overhead(CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST, start, fake_clock());
}

/* Returns with the mutex held if there is room. */
static bool lock_with_room(size_t bytes)
{
	pthread_mutex_lock(&mutex);
	if (!has_room(current, bytes)) {
		pthread_mutex_unlock(&mutex);
		find_room(bytes);
		pthread_mutex_lock(&mutex);
	}
	if (has_room(current, bytes))
		return true;
	pthread_mutex_unlock(&mutex);
	__atomic_add_fetch(&dropped, 1, __ATOMIC_RELAXED);
	return false;
}

static size_t put(const void *record, size_t bytes)
{
	size_t offset = current->used;

	memcpy(current->data + offset, record, bytes);
	current->used += bytes;
	current->cnt++;
	return offset;
}

static bool drop_by_knob(void)
{
	long every = fake_knob("SIMGPU_CUPTI_DROP", 0);

	if (!every || __atomic_add_fetch(&device_record_cnt, 1, __ATOMIC_RELAXED) % (uint64_t)every)
		return false;
	__atomic_add_fetch(&dropped, 1, __ATOMIC_RELAXED);
	return true;
}

struct fake_slot *fake_reserve(const void *record, size_t bytes)
{
	struct fake_slot *slot;

	if (drop_by_knob() || !lock_with_room(bytes))
		return NULL;
	slot = malloc(sizeof(*slot));
	if (slot) {
		*slot = (struct fake_slot){current, put(record, bytes)};
		current->incomplete++;
	}
	pthread_mutex_unlock(&mutex);
	return slot;
}

void fake_append(const void *record, size_t bytes)
{
	if (!lock_with_room(bytes))
		return;
	put(record, bytes);
	pthread_mutex_unlock(&mutex);
}

/* All kinds have their times at the same place, except kernels and events. */
static void set_times(CUpti_Activity *record, uint64_t start_ns, uint64_t end_ns)
{
	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
		cupti_kernel_record *kernel = (cupti_kernel_record *)record;

		kernel->start = start_ns;
		kernel->end = kernel->completed = end_ns;
		break;
	}
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		((CUpti_ActivityMemcpy6 *)record)->start = start_ns;
		((CUpti_ActivityMemcpy6 *)record)->end = end_ns;
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		((CUpti_ActivityMemcpyPtoP4 *)record)->start = start_ns;
		((CUpti_ActivityMemcpyPtoP4 *)record)->end = end_ns;
		break;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		((CUpti_ActivityMemset4 *)record)->start = start_ns;
		((CUpti_ActivityMemset4 *)record)->end = end_ns;
		break;
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		((CUpti_ActivityGraphTrace2 *)record)->start = start_ns;
		((CUpti_ActivityGraphTrace2 *)record)->end = end_ns;
		break;
	case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
		((CUpti_ActivityCudaEvent2 *)record)->deviceTimestamp = end_ns;
		break;
	default:
		break;
	}
}

void fake_complete(struct fake_slot *slot, uint64_t start_ns, uint64_t end_ns)
{
	struct buffer *b = slot->buffer;

	pthread_mutex_lock(&mutex);
	b->incomplete--;
	if (!b->taken) {
		set_times((CUpti_Activity *)(b->data + slot->offset), start_ns, end_ns);
		if (b != current && !b->incomplete)
			pthread_cond_signal(&work);
	} else if (b->given && !b->incomplete) {
		free(b);
	}
	pthread_mutex_unlock(&mutex);
	free(slot);
}

uint32_t fake_incomplete_cnt(void)
{
	uint32_t cnt = 0;

	pthread_mutex_lock(&mutex);
	for (const struct buffer *b = full; b; b = b->next)
		cnt += b->incomplete;
	cnt += current ? current->incomplete : 0;
	pthread_mutex_unlock(&mutex);
	return cnt;
}

/* ---- delivery ---- */

/* Records of a buffer in another order, which CUPTI does not promise. */
static void shuffle(struct buffer *b)
{
	uint8_t *copy = malloc(b->used);
	size_t at = 0, from = b->used;

	if (!copy)
		return;
	while (at < b->used) {
		size_t bytes = fake_record_bytes(((CUpti_Activity *)(b->data + at))->kind);

		from -= bytes;
		memcpy(copy + from, b->data + at, bytes);
		at += bytes;
	}
	memcpy(b->data, copy, b->used);
	free(copy);
}

static void convert(struct buffer *b)
{
	size_t at = 0;

	while (at < b->used) {
		CUpti_Activity *record = (CUpti_Activity *)(b->data + at);

		fake_record_convert(record);
		at += fake_record_bytes(record->kind);
	}
	if (fake_knob("SIMGPU_CUPTI_SHUFFLE", 0))
		shuffle(b);
}

/* Takes the buffers to return out of the list. */
static struct buffer *take(bool forced)
{
	struct buffer *out = NULL, **end = &out, **at = &full;

	while (*at) {
		struct buffer *b = *at;

		if (b->incomplete && !forced) {
			at = &b->next;
			continue;
		}
		*at = b->next;
		b->next = NULL;
		b->taken = true;
		*end = b;
		end = &b->next;
	}
	return out;
}

static void give(struct buffer *list)
{
	bool keep;

	if (list)
		fake_clock_prepare();
	while (list) {
		struct buffer *b = list;

		list = b->next;
		convert(b);
		b->completed(NULL, 0, b->data, b->bytes, b->used);
		pthread_mutex_lock(&mutex);
		b->given = true;
		keep = b->incomplete;
		pthread_mutex_unlock(&mutex);
		if (!keep)
			free(b);
	}
}

void fake_deliver(bool forced)
{
	struct buffer *list;

	pthread_mutex_lock(&delivering);
	pthread_mutex_lock(&mutex);
	if (current && current->used && (forced || !current->incomplete))
		retire_current();
	list = take(forced);
	pthread_mutex_unlock(&mutex);
	give(list);
	pthread_mutex_unlock(&delivering);
}

/* Returns full and complete buffers by itself. */
static void deliver_full(void)
{
	struct buffer *list;

	pthread_mutex_lock(&delivering);
	pthread_mutex_lock(&mutex);
	list = take(false);
	pthread_mutex_unlock(&mutex);
	give(list);
	pthread_mutex_unlock(&delivering);
}

static bool is_work_left(void)
{
	for (const struct buffer *b = full; b; b = b->next)
		if (!b->incomplete)
			return true;
	return worker_must_end;
}

static void worker_sleep(void)
{
	struct timespec at;

	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_sec += period_ms ? period_ms / 1000 : 1;
	at.tv_nsec += period_ms % 1000 * 1000000;
	at.tv_sec += at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&work, &mutex, &at);
}

static void *worker_main(void *unused)
{
	bool must_end;

	do {
		deliver_full();
		pthread_mutex_lock(&mutex);
		if (!is_work_left())
			worker_sleep();
		must_end = worker_must_end;
		pthread_mutex_unlock(&mutex);
	} while (!must_end);
	return unused;
}

/* Starts with all signals blocked, because signals are for the program. */
static void worker_start(void)
{
	sigset_t all, before;

	if (worker_runs)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	worker_must_end = false;
	worker_runs = !pthread_create(&worker, NULL, worker_main, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Returns the client's buffers, and ends the thread. */
void fake_buffers_close(void)
{
	bool ran;

	fake_deliver(true);
	/* A thread that asked the client for a buffer must first put it in place. */
	pthread_mutex_lock(&requesting);
	pthread_mutex_lock(&mutex);
	if (current)
		retire_current();
	request = NULL;
	completed = NULL;
	period_ms = 0;
	worker_must_end = true;
	ran = worker_runs;
	worker_runs = false;
	pthread_cond_signal(&work);
	pthread_mutex_unlock(&mutex);
	pthread_mutex_unlock(&requesting);
	fake_deliver(true);
	if (ran && !pthread_equal(pthread_self(), worker))
		pthread_join(worker, NULL);
}

/* Some that were not given back, of activities that the client may wait for. */
static bool has_records(void)
{
	bool has;

	pthread_mutex_lock(&mutex);
	has = full || (current && current->used);
	pthread_mutex_unlock(&mutex);
	return has;
}

/* ---- the interface ---- */

SIM_EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
						      CUpti_BuffersCallbackCompleteFunc done)
{
	CUptiResult refused = fake_call("cuptiActivityRegisterCallbacks", 0);

	if (refused)
		return refused;
	if (!requested || !done)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (completed && completed != done) {
		/* the last client wins, and the first gets its buffers back */
		if (fake_any_kind() || has_records())
			fake_misuse("another client's buffer callbacks are replaced");
		fake_deliver(true);
		pthread_mutex_lock(&mutex);
		if (current)
			retire_current();
		pthread_mutex_unlock(&mutex);
		fake_deliver(true);
	}
	pthread_mutex_lock(&mutex);
	request = requested;
	completed = done;
	worker_start();
	pthread_mutex_unlock(&mutex);
	return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	CUptiResult refused = fake_call("cuptiActivityFlushAll", flag);

	if (refused)
		return refused;
	if (!completed)
		return CUPTI_SUCCESS; /* seen with CUPTI 13.0, although documented as an invalid
					 operation */
	sim_advance();
	fake_deliver(flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityFlush(CUcontext context, uint32_t stream, uint32_t flag)
{
	return cuptiActivityFlushAll(flag);
}

SIM_EXPORT CUptiResult cuptiActivityFlushPeriod(uint32_t ms)
{
	CUptiResult refused = fake_call("cuptiActivityFlushPeriod", ms);

	if (!refused)
		period_ms = ms;
	return refused;
}

SIM_EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream,
							 size_t *cnt)
{
	CUptiResult refused = fake_frequent_call("cuptiActivityGetNumDroppedRecords");

	if (refused)
		return refused;
	if (!cnt)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*cnt = __atomic_exchange_n(&dropped, 0, __ATOMIC_RELAXED);
	return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes,
						  CUpti_Activity **record)
{
	CUptiResult refused = fake_frequent_call("cuptiActivityGetNextRecord");
	size_t at = 0, bytes;

	if (refused)
		return refused;
	if (!buffer || !record)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (*record)
		at = (size_t)((uint8_t *)*record - buffer) + fake_record_bytes((*record)->kind);
	if (at + sizeof(CUpti_Activity) > valid_bytes)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	bytes = fake_record_bytes(((CUpti_Activity *)(buffer + at))->kind);
	if (!bytes || at + bytes > valid_bytes)
		return CUPTI_ERROR_INVALID_KIND;
	*record = (CUpti_Activity *)(buffer + at);
	return CUPTI_SUCCESS;
}
