// SPDX-License-Identifier: BSD-2-Clause
#include "model/device_index.h"
#include "common/util.h"

#define BLOCK_BITS 6
#define BLOCKS	   (1u << 20) /* a process can have 2^26 ids before two share a place */

#define FILTER_BITS_MAX (1u << 14)
#define FILTER_PROBES	3

static uint64_t block_of(struct launch_key key)
{
	return (key.id >> BLOCK_BITS) + key.pid * 0x9e3779b97f4a7c15ull;
}

static struct index_block *place_of(const struct device_index *x, struct launch_key key)
{
	return &x->blocks[block_of(key) % BLOCKS];
}

/* ---- filters ---- */

static uint64_t mix(uint64_t h)
{
	h = (h ^ h >> 33) * 0xff51afd7ed558ccdull;
	h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53ull;
	return h ^ h >> 33;
}

static void filter_add(struct device_index *x, const struct index_chunk *c, uint64_t block)
{
	uint64_t h = mix(block);

	for (int i = 0; i < FILTER_PROBES; i++, h >>= 16) {
		const uint32_t bit = h & (c->bits - 1);

		x->filters[c->filter + bit / 64] |= 1ull << bit % 64;
	}
}

static bool filter_has(const struct device_index *x, const struct index_chunk *c, uint64_t block)
{
	uint64_t h = mix(block);

	for (int i = 0; i < FILTER_PROBES && c->bits; i++, h >>= 16) {
		const uint32_t bit = h & (c->bits - 1);

		if (!(x->filters[c->filter + bit / 64] >> bit % 64 & 1))
			return false;
	}
	return c->bits;
}

/* Blocks of a chunk's device events, in file order. */
struct block_list {
	uint64_t *items;
	size_t cnt, cap;
};

static int make_filter(struct device_index *x, struct index_chunk *c, const struct block_list *l)
{
	uint32_t bits = 64;
	int err = 0;

	while (bits < FILTER_BITS_MAX && bits < 8 * l->cnt)
		bits *= 2;
	c->filter = (uint32_t)x->filter_cnt;
	for (uint32_t i = 0; i < bits / 64 && l->cnt && !err; i++)
		err = ARRAY_PUSH(x->filters, x->filter_cnt, x->filter_cap, 0);
	if (err || !l->cnt)
		return err;
	c->bits = bits;
	for (size_t i = 0; i < l->cnt; i++)
		filter_add(x, c, l->items[i]);
	return 0;
}

/* ---- building ---- */

static bool is_launch(const struct device_index *x, const struct event *e)
{
	const struct name *n = e->type == EVENT_SPAN ? recording__name(x->r, e->name) : NULL;

	return n && e->id != EVENT_NO_ID &&
	       (n->category == CAT_RUNTIME || n->category == CAT_DRIVER);
}

static void count(uint32_t *cnt)
{
	*cnt += *cnt != UINT32_MAX;
}

static int add_device(struct device_index *x, size_t chunk, struct launch_key key,
		      struct block_list *l)
{
	struct index_block *b = place_of(x, key);
	const uint64_t block = block_of(key);

	if (!b->devices)
		b->first = (uint32_t)chunk;
	b->last = (uint32_t)chunk;
	count(&b->devices);
	if (l->cnt && l->items[l->cnt - 1] == block)
		return 0;
	return ARRAY_PUSH(l->items, l->cnt, l->cap, block);
}

static int add_event(struct device_index *x, size_t chunk, const struct event *e,
		     struct block_list *l)
{
	const struct track *t = recording__track(x->r, e->track);
	const struct launch_key key = {e->id, t ? t->pid : 0};

	if (e->type == EVENT_DEVICE) {
		x->chunks[chunk].cnt++;
		return t && e->id != EVENT_NO_ID ? add_device(x, chunk, key, l) : 0;
	}
	if (t && is_launch(x, e))
		count(&place_of(x, key)->launches);
	return 0;
}

static int add_chunk(struct device_index *x, struct recording_cursor *c, size_t i,
		     struct block_list *l)
{
	struct event e;
	int ret, err = 0;

	l->cnt = 0;
	x->chunks[i].first = x->device_cnt;
	recording_cursor__seek(c, i);
	while (!err && (ret = recording_cursor__next_brief(c, i, &e)))
		err = ret < 0 ? ret : add_event(x, i, &e, l);
	x->device_cnt += x->chunks[i].cnt;
	return err ? err : make_filter(x, &x->chunks[i], l);
}

int device_index__build(struct device_index *x, const struct recording *r)
{
	struct recording_cursor *c = NULL;
	struct block_list l = {};
	int err;

	*x = (struct device_index){.r = r, .chunk_cnt = recording__chunk_cnt(r)};
	x->blocks = calloc(BLOCKS, sizeof(*x->blocks));
	x->chunks = calloc(x->chunk_cnt + 1, sizeof(*x->chunks));
	if (!x->blocks || !x->chunks)
		return -ENOMEM;
	err = recording_cursor__open(r, &c);
	for (size_t i = 0; i < x->chunk_cnt && !err; i++)
		err = add_chunk(x, c, i, &l);
	recording_cursor__close(c);
	free(l.items);
	return err;
}

void device_index__free(struct device_index *x)
{
	free(x->blocks);
	free(x->chunks);
	free(x->filters);
	*x = (struct device_index){};
}

/* ---- questions ---- */

bool device_index__may_have_launch(const struct device_index *x, struct launch_key key)
{
	return key.id != EVENT_NO_ID && place_of(x, key)->launches;
}

uint32_t device_index__expect(const struct device_index *x, struct launch_key key)
{
	const struct index_block *b = place_of(x, key);

	return b->launches ? b->devices / b->launches : 0;
}

size_t device_index__chunk(const struct device_index *x, struct launch_key key, size_t from)
{
	const struct index_block *b = place_of(x, key);

	if (!b->devices)
		return x->chunk_cnt;
	for (size_t i = from > b->first ? from : b->first; i <= b->last; i++)
		if (filter_has(x, &x->chunks[i], block_of(key)))
			return i;
	return x->chunk_cnt;
}
