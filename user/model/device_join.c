// SPDX-License-Identifier: BSD-2-Clause
#include "model/device_join.h"
#include "common/util.h"

#define NONE UINT32_MAX

/* The device events of a chunk. */
struct join_chunk {
	size_t chunk, bytes;
	uint64_t used;
	struct recording_cursor *cursor; /* holds the args */
	struct join_row {
		struct event e;
		uint32_t pid;
		uint32_t next; /* next row of the same slot in the file */
	} *rows;
	size_t cnt, cap;
	uint32_t *slots; /* first row of each slot */
	size_t slot_cnt;
};

static size_t slot_of(const struct join_chunk *c, struct launch_key key)
{
	return ((key.id ^ key.pid) * 0x9e3779b97f4a7c15ull >> 32) & (c->slot_cnt - 1);
}

static void free_chunk(struct join_chunk *c)
{
	if (!c)
		return;
	recording_cursor__close(c->cursor);
	free(c->rows);
	free(c->slots);
	free(c);
}

/* ---- reading ---- */

static int read_rows(struct join_chunk *c, const struct recording *r)
{
	struct join_row row = {};
	int ret, err = 0;

	recording_cursor__seek(c->cursor, c->chunk);
	while (!err && (ret = recording_cursor__next_in(c->cursor, c->chunk, &row.e))) {
		const struct track *t = ret < 0 ? NULL : recording__track(r, row.e.track);

		row.pid = t ? t->pid : 0;
		if (ret < 0)
			err = ret;
		else if (row.e.type == EVENT_DEVICE)
			err = ARRAY_PUSH(c->rows, c->cnt, c->cap, row);
	}
	return err;
}

/* Begins with the last row, so that rows of a slot are linked in file order. */
static int link_rows(struct join_chunk *c)
{
	c->slot_cnt = 16;
	while (c->slot_cnt < c->cnt)
		c->slot_cnt *= 2;
	c->slots = malloc(c->slot_cnt * sizeof(*c->slots));
	if (!c->slots)
		return -ENOMEM;
	memset(c->slots, 0xff, c->slot_cnt * sizeof(*c->slots));
	for (size_t i = c->cnt; i-- > 0;) {
		struct join_row *row = &c->rows[i];
		uint32_t *slot = &c->slots[slot_of(c, (struct launch_key){row->e.id, row->pid})];

		row->next = *slot;
		*slot = (uint32_t)i;
	}
	return 0;
}

static void drop_oldest(struct device_join *j)
{
	size_t oldest = 0;

	for (size_t i = 1; i < j->kept_cnt; i++)
		if (j->kept[i]->used < j->kept[oldest]->used)
			oldest = i;
	j->kept_bytes -= j->kept[oldest]->bytes;
	free_chunk(j->kept[oldest]);
	j->kept[oldest] = j->kept[--j->kept_cnt];
}

static void keep(struct device_join *j, struct join_chunk *c)
{
	c->bytes = sizeof(*c) + c->cap * sizeof(*c->rows) + c->slot_cnt * sizeof(*c->slots) +
		   recording_cursor__bytes(c->cursor);
	while (j->kept_cnt &&
	       (j->kept_cnt == JOIN_KEPT_MAX || j->kept_bytes + c->bytes > JOIN_KEPT_BYTES))
		drop_oldest(j);
	j->kept_bytes += c->bytes;
	j->kept[j->kept_cnt++] = c;
}

static int read_chunk(struct device_join *j, size_t chunk, struct join_chunk **out)
{
	struct join_chunk *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	j->reads++;
	c->chunk = chunk;
	err = recording_cursor__open(j->index.r, &c->cursor);
	if (!err)
		err = read_rows(c, j->index.r);
	if (!err)
		err = link_rows(c);
	if (err) {
		free_chunk(c);
		return err;
	}
	keep(j, c);
	*out = c;
	return 0;
}

static int get_chunk(struct device_join *j, size_t chunk, struct join_chunk **out)
{
	int err = 0;

	*out = NULL;
	for (size_t i = j->kept_cnt; i-- > 0 && !*out;)
		if (j->kept[i]->chunk == chunk)
			*out = j->kept[i];
	if (!*out)
		err = read_chunk(j, chunk, out);
	if (!err)
		(*out)->used = ++j->clock;
	return err;
}

/* ---- taking ---- */

static bool is_taken(const struct device_join *j, uint64_t number)
{
	return j->taken[number / 64] >> number % 64 & 1;
}

static void mark(struct device_join *j, size_t chunk, uint64_t number)
{
	j->taken[number / 64] |= 1ull << number % 64;
	j->left[chunk]--;
}

static int take_row(struct device_join *j, const struct join_chunk *c, size_t row,
		    device_event_fn take, void *ctx)
{
	mark(j, c->chunk, j->index.chunks[c->chunk].first + row);
	return take(ctx, &c->rows[row].e);
}

static int take_in_chunk(struct device_join *j, const struct join_chunk *c, struct launch_key key,
			 device_event_fn take, void *ctx)
{
	const uint64_t first = j->index.chunks[c->chunk].first;
	int err = 0;

	for (uint32_t i = c->slots[slot_of(c, key)]; i != NONE && !err; i = c->rows[i].next)
		if (c->rows[i].e.id == key.id && c->rows[i].pid == key.pid &&
		    !is_taken(j, first + i))
			err = take_row(j, c, i, take, ctx);
	return err;
}

int device_join__take(struct device_join *j, struct launch_key key, device_event_fn take, void *ctx)
{
	struct join_chunk *c;
	int err = 0;

	for (size_t i = device_index__chunk(&j->index, key, 0); i < j->index.chunk_cnt && !err;
	     i = device_index__chunk(&j->index, key, i + 1)) {
		if (!j->left[i])
			continue;
		err = get_chunk(j, i, &c);
		if (!err)
			err = take_in_chunk(j, c, key, take, ctx);
	}
	return err;
}

int device_join__take_rest(struct device_join *j, size_t max, device_event_fn take, void *ctx)
{
	size_t cnt = 0;
	int err = 0;

	for (size_t i = 0; i < j->index.chunk_cnt && cnt < max && !err; i++) {
		struct join_chunk *c;

		if (!j->left[i])
			continue;
		err = get_chunk(j, i, &c);
		for (size_t k = 0; !err && k < c->cnt && cnt < max; k++)
			if (!is_taken(j, j->index.chunks[i].first + k)) {
				err = take_row(j, c, k, take, ctx);
				cnt++;
			}
	}
	return err ? err : (int)cnt;
}

void device_join__mark(struct device_join *j, uint64_t number)
{
	const struct index_chunk *chunks = j->index.chunks;
	const size_t chunk = COUNT_FIRST(j->index.chunk_cnt, i, chunks[i].first <= number) - 1;

	mark(j, chunk, number);
}

/* ---- life ---- */

int device_join__open(struct device_join *j, const struct recording *r)
{
	int err;

	*j = (struct device_join){};
	err = device_index__build(&j->index, r);
	if (err)
		return err;
	j->taken = calloc(j->index.device_cnt / 64 + 1, sizeof(*j->taken));
	j->left = calloc(j->index.chunk_cnt + 1, sizeof(*j->left));
	if (!j->taken || !j->left)
		return -ENOMEM;
	for (size_t i = 0; i < j->index.chunk_cnt; i++)
		j->left[i] = j->index.chunks[i].cnt;
	return 0;
}

void device_join__free(struct device_join *j)
{
	while (j->kept_cnt)
		free_chunk(j->kept[--j->kept_cnt]);
	free(j->taken);
	free(j->left);
	device_index__free(&j->index);
}
