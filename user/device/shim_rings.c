// SPDX-License-Identifier: BSD-2-Clause
#include "device/shim_rings.h"
#include "common/util.h"
#include <string.h>

#define FULL_ENOUGH (SHIM_RING_CALLS / 4)
#define FEW_FREE    (SHIM_RINGS / 2)

void shim_rings__init(struct shim_rings *r, struct shim_control *c)
{
	*r = (struct shim_rings){.c = c};
	pthread_mutex_init(&r->lock, NULL);
}

void shim_rings__clear(struct shim_rings *r)
{
	for (size_t i = 0; i < SHIM_RINGS; i++)
		call_queue__clear(&r->drained[i]);
	pthread_mutex_destroy(&r->lock);
}

static void count_malformed(struct shim_rings *r)
{
	__atomic_fetch_add(&r->malformed, 1, __ATOMIC_RELAXED);
}

uint64_t shim_rings__malformed(const struct shim_rings *r)
{
	return __atomic_load_n(&r->malformed, __ATOMIC_RELAXED);
}

/* ---- calls ---- */

struct call_taker {
	int (*take)(void *ctx, size_t ring, uint32_t tid, const struct shim_call *call);
	void *ctx;
	size_t ring;
};

static int call_taken(void *ctx, uint32_t tid, const struct shim_call *call)
{
	const struct call_taker *t = ctx;

	return t->take(t->ctx, t->ring, tid, call);
}

/* Stops at a callback's error. The record of that callback counts as read. */
static int ring_read(struct shim_rings *r, size_t index,
		     int (*take)(void *ctx, uint32_t tid, const struct shim_call *call), void *ctx)
{
	struct shim_ring *ring = &r->c->rings[index];
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE), tail = ring->tail;
	/* Read after the head: a ring gets a new thread only when it is empty, and before new calls
	 * come. */
	uint32_t tid = __atomic_load_n(&ring->tid, __ATOMIC_RELAXED);
	int err = 0;

	if (head - tail > SHIM_RING_CALLS) {
		count_malformed(r);
		tail = head;
	}
	for (; tail != head && !err; tail++) {
		struct shim_call call =
			shim_calls(r->c, index)[shim_place(ring, tail, SHIM_RING_CALLS)];

		if (call.end_ns < call.begin_ns)
			count_malformed(r);
		else
			err = take(ctx, tid, &call);
	}
	__atomic_store_n(&ring->tail, tail, __ATOMIC_RELEASE);
	return err;
}

int shim_rings__calls(struct shim_rings *r,
		      int (*take)(void *ctx, size_t ring, uint32_t tid,
				  const struct shim_call *call),
		      void *ctx)
{
	struct call_taker t = {.take = take, .ctx = ctx};
	int err;

	pthread_mutex_lock(&r->lock);
	for (err = r->err; t.ring < SHIM_RINGS && !err; t.ring++) {
		err = call_queue__take(&r->drained[t.ring], UINT64_MAX, call_taken, &t);
		if (!err)
			err = ring_read(r, t.ring, call_taken, &t);
	}
	pthread_mutex_unlock(&r->lock);
	return err;
}

static int call_keep(void *ctx, uint32_t tid, const struct shim_call *call)
{
	struct call_queue *q = ctx;

	q->tid = tid;
	return call_queue__push(q, call);
}

static size_t drained_cnt(const struct shim_rings *r)
{
	size_t cnt = 0;

	for (size_t i = 0; i < SHIM_RINGS; i++)
		cnt += r->drained[i].cnt;
	return cnt;
}

static uint64_t unread_cnt(const struct shim_rings *r, size_t index)
{
	const struct shim_ring *ring = &r->c->rings[index];

	return __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE) - ring->tail;
}

bool shim_rings__are_few(const struct shim_rings *r)
{
	size_t free_cnt = 0;

	for (size_t i = 0; i < SHIM_RINGS; i++)
		free_cnt += !__atomic_load_n(&r->c->rings[i].tid, __ATOMIC_RELAXED);
	return free_cnt < FEW_FREE;
}

void shim_rings__drain(struct shim_rings *r)
{
	/* A thread that ended leaves its ring to another thread when the ring is empty. */
	const uint64_t least = shim_rings__are_few(r) ? 1 : FULL_ENOUGH;

	/* The thread that holds the lock is reading them. */
	if (pthread_mutex_trylock(&r->lock))
		return;
	for (size_t i = 0; i < SHIM_RINGS && !r->err; i++)
		if (unread_cnt(r, i) >= least &&
		    drained_cnt(r) + SHIM_RING_CALLS <= SHIM_DRAINED_MAX)
			r->err = ring_read(r, i, call_keep, &r->drained[i]);
	pthread_mutex_unlock(&r->lock);
}

/* ---- activities ---- */

/* The least number of bytes of a record of this kind. 0: there is no such kind. */
static size_t record_bytes(uint32_t kind)
{
	static const size_t bytes[] = {
		[SHIM_REC_PAD] = sizeof(struct shim_record),
		[SHIM_REC_NAME] = sizeof(struct shim_name) + 8,
		[SHIM_REC_KERNEL] = sizeof(struct shim_kernel),
		[SHIM_REC_COPY] = sizeof(struct shim_copy),
		[SHIM_REC_SET] = sizeof(struct shim_set),
		[SHIM_REC_SYNC] = sizeof(struct shim_sync),
		[SHIM_REC_MEMORY] = sizeof(struct shim_memory),
		[SHIM_REC_MARKER] = sizeof(struct shim_marker),
		[SHIM_REC_OVERHEAD] = sizeof(struct shim_overhead),
		[SHIM_REC_DEVICE] = sizeof(struct shim_device),
		[SHIM_REC_EVENT] = sizeof(struct shim_event),
		[SHIM_REC_CALL] = sizeof(struct shim_open_call),
	};

	return kind < ARRAY_SIZE(bytes) ? bytes[kind] : 0;
}

/* Copies the record at `at` into r->record. Returns its bytes in the ring; 0 if it is invalid. A
 * pad is only skipped. */
static size_t copy_record(struct shim_rings *r, uint64_t at, uint64_t available)
{
	size_t offset = shim_place(&r->c->activities, at, SHIM_ACTIVITY_BYTES);
	const char *data = shim_activity_bytes(r->c) + offset;
	struct shim_record h;

	if (offset % 8)
		return 0;
	memcpy(&h, data, sizeof(h));
	if (!record_bytes(h.kind) || h.bytes < record_bytes(h.kind) || h.bytes % 8 ||
	    h.bytes > available || h.bytes > SHIM_ACTIVITY_BYTES - offset ||
	    (h.kind != SHIM_REC_PAD && h.bytes > sizeof(r->record)))
		return 0;
	if (h.kind != SHIM_REC_PAD)
		memcpy(r->record, data, h.bytes);
	memcpy(r->record, &h, sizeof(h));
	return h.bytes;
}

int shim_rings__activities(struct shim_rings *r,
			   int (*take)(void *ctx, const struct shim_record *record), void *ctx)
{
	struct shim_ring *ring = &r->c->activities;
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE), tail = ring->tail;
	const struct shim_record *h = (const struct shim_record *)r->record;
	int err = 0;

	while (tail != head && !err) {
		size_t bytes =
			head - tail > SHIM_ACTIVITY_BYTES ? 0 : copy_record(r, tail, head - tail);

		if (!bytes) {
			count_malformed(r);
			tail = head;
			break;
		}
		tail += bytes;
		if (h->kind == SHIM_REC_NAME)
			((char *)r->record)[bytes - 1] = '\0';
		if (h->kind != SHIM_REC_PAD)
			err = take(ctx, h);
	}
	__atomic_store_n(&ring->tail, tail, __ATOMIC_RELEASE);
	return err;
}

bool shim_rings__seen_name(const struct shim_rings *r, uint64_t key,
			   char text[SHIM_SEEN_NAME_MAX + 1])
{
	for (size_t i = 0; i < SHIM_SEEN_NAME_TRIES; i++) {
		const struct shim_seen_name *name =
			&shim_seen_names(r->c)[shim_seen_name_place(key, i)];
		const uint32_t len = __atomic_load_n(&name->len, __ATOMIC_ACQUIRE);
		const uint32_t at = __atomic_load_n(&name->at, __ATOMIC_RELAXED);

		if (__atomic_load_n(&name->key, __ATOMIC_RELAXED) != key)
			continue;
		if (!len || len > SHIM_SEEN_NAME_MAX || at > SHIM_SEEN_TEXT_BYTES - len)
			return false;
		memcpy(text, shim_seen_texts(r->c) + at, len);
		text[len] = '\0';
		return true;
	}
	return false;
}
