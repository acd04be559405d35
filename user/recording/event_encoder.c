// SPDX-License-Identifier: BSD-2-Clause
#include "recording/event_codec.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOBS_MAX (2u << 20) /* bytes of args in one chunk; the last event may exceed it */

/* The most bytes that one event takes in each column. COLUMN_BLOBS has its own limit. */
static const uint8_t event_room[COLUMN_CNT] = {
	[COLUMN_KIND] = 1, [COLUMN_TRACK] = 5,	     [COLUMN_NAME] = 5,	  [COLUMN_TIME] = 10,
	[COLUMN_DUR] = 10, [COLUMN_ID] = 10,	     [COLUMN_VALUE] = 10, [COLUMN_FLAGS] = 3,
	[COLUMN_ARGS] = 5, [COLUMN_MEMORY] = 4 * 10, [COLUMN_STACK] = 5,
};

static size_t column_cap(int i)
{
	if (i == COLUMN_BLOBS)
		return BLOBS_MAX + VARINT_MAX_SIZE + EVENT_ARGS_MAX;
	return (size_t)CHUNK_EVENTS_MAX * event_room[i];
}

static void start_over(struct event_encoder *enc)
{
	for (int i = 0; i < COLUMN_CNT; i++)
		enc->columns[i].p = enc->columns[i].start;
	memset(&enc->state, 0, sizeof(enc->state));
	enc->cnt = 0;
	enc->blob_cnt = 0;
	hash_index__clear(&enc->blob_index);
}

int event_encoder__init(struct event_encoder *enc)
{
	memset(enc, 0, sizeof(*enc));
	/* Reserves room for the worst case, so that adding needs no checks. Untouched pages cost
	 * nothing. */
	for (int i = 0; i < COLUMN_CNT; i++) {
		enc->columns[i].start = malloc(column_cap(i));
		if (!enc->columns[i].start)
			goto fail;
	}
	enc->blobs = malloc(CHUNK_EVENTS_MAX * sizeof(*enc->blobs));
	if (!enc->blobs)
		goto fail;
	start_over(enc);
	return 0;
fail:
	event_encoder__free(enc);
	return -ENOMEM;
}

void event_encoder__free(struct event_encoder *enc)
{
	for (int i = 0; i < COLUMN_CNT; i++)
		free(enc->columns[i].start);
	free(enc->blobs);
	hash_index__free(&enc->blob_index);
	memset(enc, 0, sizeof(*enc));
}

static size_t column_len(const struct event_encoder *enc, int i)
{
	return (size_t)(enc->columns[i].p - enc->columns[i].start);
}

bool event_encoder__full(const struct event_encoder *enc)
{
	return enc->cnt >= CHUNK_EVENTS_MAX || column_len(enc, COLUMN_BLOBS) >= BLOBS_MAX;
}

static void put(struct event_encoder *enc, enum event_column column, uint64_t v)
{
	enc->columns[column].p = varint__put(enc->columns[column].p, v);
}

static void put_zigzag(struct event_encoder *enc, enum event_column column, uint64_t v)
{
	put(enc, column, zigzag__pack((int64_t)v));
}

struct blob_key {
	const struct event_encoder *enc;
	const void *data;
	uint32_t len;
};

static bool same_blob(uint32_t item, const void *ctx)
{
	const struct blob_key *key = ctx;
	const struct event_blob *blob = &key->enc->blobs[item];

	return blob->len == key->len &&
	       memcmp(key->enc->columns[COLUMN_BLOBS].start + blob->off, key->data, key->len) == 0;
}

/* An allocation's totals mostly follow from the previous event and its own size, so most
 * differences are 0. */
static void put_memory(struct event_encoder *enc, const struct event *e)
{
	struct event_memory *last = &enc->state.memory, m;

	memcpy(&m, e->args, sizeof(m));
	put(enc, COLUMN_ARGS, ARGS_MEMORY);
	put_zigzag(enc, COLUMN_MEMORY,
		   m.total_allocated - last->total_allocated - (uint64_t)e->value);
	put_zigzag(enc, COLUMN_MEMORY, m.total_reserved - last->total_reserved);
	put_zigzag(enc, COLUMN_MEMORY, (uint64_t)m.device_type);
	put_zigzag(enc, COLUMN_MEMORY, (uint64_t)m.device_index);
	*last = m;
}

/* Each step has the same shapes, so each distinct blob is stored once per chunk. */
static int put_blob(struct event_encoder *enc, const struct event *e)
{
	const struct blob_key key = {enc, e->args, e->args_len};
	uint64_t hash = hash__bytes(e->args, e->args_len, 0);
	uint32_t item = hash_index__find(&enc->blob_index, hash, same_blob, &key);
	struct event_column_buf *column = &enc->columns[COLUMN_BLOBS];
	int err;

	if (item != HASH_NONE) {
		put(enc, COLUMN_ARGS, (uint64_t)ARGS_FIRST + item);
		return 0;
	}
	err = hash_index__add(&enc->blob_index, hash, enc->blob_cnt);
	if (err)
		return err;
	put(enc, COLUMN_ARGS, ARGS_NEW);
	put(enc, COLUMN_BLOBS, e->args_len);
	enc->blobs[enc->blob_cnt].off = (uint32_t)column_len(enc, COLUMN_BLOBS);
	enc->blobs[enc->blob_cnt].len = e->args_len;
	enc->blob_cnt++;
	memcpy(column->p, e->args, e->args_len);
	column->p += e->args_len;
	return 0;
}

static int put_args(struct event_encoder *enc, const struct event *e)
{
	if (!e->args_len) {
		put(enc, COLUMN_ARGS, ARGS_NONE);
		return 0;
	}
	if (e->type == EVENT_MEMORY && e->args_len == sizeof(struct event_memory)) {
		put_memory(enc, e);
		return 0;
	}
	return put_blob(enc, e);
}

int event_encoder__add(struct event_encoder *enc, const struct event *e)
{
	uint16_t flags = e->stack ? e->flags | EVENT_STACKED : e->flags & (uint16_t)~EVENT_STACKED;
	bool extra = flags || e->args_len;
	uint8_t kind = (uint8_t)(e->type | e->end << KIND_END_SHIFT);
	uint64_t end_ns = e->ts_ns + e->dur_ns;

	if (!e->type || e->type > KIND_TYPE_MASK || e->end > KIND_END_MASK ||
	    e->args_len > EVENT_ARGS_MAX || (e->args_len && !e->args))
		return -EINVAL;
	if (extra) {
		/* First, because nothing else can fail. */
		int err = put_args(enc, e);

		if (err)
			return err;
		put(enc, COLUMN_FLAGS, flags);
		if (e->stack)
			put(enc, COLUMN_STACK, e->stack);
		kind |= KIND_HAS_EXTRA;
	}
	put(enc, COLUMN_TRACK, e->track);
	put(enc, COLUMN_NAME, e->name);
	put_zigzag(enc, COLUMN_TIME, end_ns - enc->state.end_ns);
	put(enc, COLUMN_DUR, e->dur_ns);
	enc->state.end_ns = end_ns;
	if (e->id != EVENT_NO_ID) {
		put_zigzag(enc, COLUMN_ID, e->id - enc->state.id[e->type]);
		enc->state.id[e->type] = e->id;
		kind |= KIND_HAS_ID;
	}
	if (e->value) {
		put_zigzag(enc, COLUMN_VALUE, (uint64_t)e->value);
		kind |= KIND_HAS_VALUE;
	}
	*enc->columns[COLUMN_KIND].p++ = kind;
	enc->cnt++;
	return 0;
}

size_t event_encoder__size(const struct event_encoder *enc)
{
	size_t size = VARINT_MAX_SIZE * (1 + COLUMN_CNT);

	for (int i = 0; i < COLUMN_CNT; i++)
		size += column_len(enc, i);
	return size;
}

size_t event_encoder__take(struct event_encoder *enc, uint8_t *out)
{
	uint8_t *p = varint__put(out, COLUMN_CNT);

	for (int i = 0; i < COLUMN_CNT; i++)
		p = varint__put(p, column_len(enc, i));
	for (int i = 0; i < COLUMN_CNT; i++) {
		size_t len = column_len(enc, i);

		memcpy(p, enc->columns[i].start, len);
		p += len;
	}
	start_over(enc);
	return (size_t)(p - out);
}
