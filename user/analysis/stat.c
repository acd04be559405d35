// SPDX-License-Identifier: BSD-2-Clause
/* Sums by key, and unions of intervals. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/analysis.h"
#include "common/util.h"

uint64_t range__avg(const struct range *r, uint64_t calls)
{
	const uint64_t whole = calls - r->cut;

	return whole ? (r->total - r->cut_total + whole / 2) / whole
		     : (r->total + calls / 2) / calls;
}

static void range_add(struct range *r, uint64_t calls, uint64_t ns, bool cut)
{
	const bool any_whole = calls > r->cut;

	r->total += ns;
	if (!calls || ns > r->max)
		r->max = ns;
	/* The minimum is of whole calls if there is one, else of cut calls. */
	if (cut ? !any_whole && (!calls || ns < r->min) : !any_whole || ns < r->min)
		r->min = ns;
	r->cut += cut;
	r->cut_total += cut ? ns : 0;
}

void stat__add_partly(struct stat *s, bool cut, bool gpu_known, uint64_t cpu_ns, uint64_t gpu_ns)
{
	range_add(&s->cpu, s->calls, cpu_ns, cut);
	range_add(&s->gpu, s->calls, gpu_ns, cut || !gpu_known);
	s->calls++;
}

void stat__add(struct stat *s, uint64_t cpu_ns, uint64_t gpu_ns)
{
	stat__add_partly(s, false, true, cpu_ns, gpu_ns);
}

static size_t hash(const struct stat_key *k)
{
	uint64_t h = ((uint64_t)k->group << 32 | k->id) * 0x9e3779b97f4a7c15ull;

	h ^= ((uint64_t)k->child << 32 | k->device) + (h >> 29);
	h *= 0xbf58476d1ce4e5b9ull;
	return h >> 32;
}

static uint32_t *find(const struct stat_map *m, const struct stat_key *key)
{
	size_t i = hash(key) & (m->slot_cnt - 1);

	while (m->slots[i] && memcmp(&m->rows[m->slots[i] - 1].key, key, sizeof(*key)) != 0)
		i = (i + 1) & (m->slot_cnt - 1);
	return &m->slots[i];
}

static int grow(struct stat_map *m)
{
	struct stat_map grown = *m;

	grown.slot_cnt = m->slot_cnt ? m->slot_cnt * 2 : 256;
	grown.slots = calloc(grown.slot_cnt, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->cnt; i++)
		*find(&grown, &m->rows[i].key) = (uint32_t)(i + 1);
	free(m->slots);
	*m = grown;
	return 0;
}

struct stat *stat_map__at(struct stat_map *m, const struct stat_key *key)
{
	struct stat_row row = {.key = *key};
	uint32_t *slot;

	if (m->cnt * 2 >= m->slot_cnt && grow(m))
		return NULL;
	slot = find(m, key);
	if (!*slot) {
		if (m->cnt >= UINT32_MAX || ARRAY_PUSH(m->rows, m->cnt, m->cap, row))
			return NULL;
		*slot = (uint32_t)m->cnt;
	}
	return &m->rows[*slot - 1].stat;
}

size_t stat_map__index(const struct stat_map *m, const struct stat *stat)
{
	const char *row = (const char *)stat - offsetof(struct stat_row, stat);

	return (size_t)((const struct stat_row *)row - m->rows);
}

void stat_map__free(struct stat_map *m)
{
	free(m->rows);
	free(m->slots);
}

static int by_begin(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

void interval_union__merge(struct interval_union *u)
{
	size_t n = 0;

	if (u->cnt)
		qsort(u->items, u->cnt, sizeof(*u->items), by_begin);
	for (size_t i = 0; i < u->cnt; i++) {
		struct stretch *last = n ? &u->items[n - 1] : NULL;

		if (last && u->items[i].begin <= last->end) {
			if (u->items[i].end > last->end)
				last->end = u->items[i].end;
		} else {
			u->items[n++] = u->items[i];
		}
	}
	u->cnt = n;
}

/* Folds the older half into a sum. A later interval loses the part that reaches into the folded
 * half. */
static void fold(struct interval_union *u)
{
	size_t half = u->cnt / 2;

	for (size_t i = 0; i < half; i++)
		u->done_ns += u->items[i].end - u->items[i].begin;
	u->horizon_ns = u->items[half - 1].end;
	u->cnt -= half;
	memmove(u->items, u->items + half, u->cnt * sizeof(*u->items));
}

int interval_union__add(struct interval_union *u, uint64_t begin, uint64_t end)
{
	struct stretch *last = u->cnt ? &u->items[u->cnt - 1] : NULL, item;

	if (begin < u->horizon_ns)
		begin = u->horizon_ns;
	if (begin >= end)
		return 0;
	if (last && begin >= last->begin && begin <= last->end) {
		if (end > last->end)
			last->end = end;
		return 0;
	}
	if (u->cnt >= 2 * UNION_MAX) {
		interval_union__merge(u);
		if (u->cnt > UNION_MAX)
			fold(u);
		if (begin < u->horizon_ns)
			begin = u->horizon_ns;
		if (begin >= end)
			return 0;
	}
	item = (struct stretch){begin, end};
	return ARRAY_PUSH(u->items, u->cnt, u->cap, item);
}

uint64_t interval_union__length(struct interval_union *u)
{
	uint64_t length = u->done_ns;

	interval_union__merge(u);
	for (size_t i = 0; i < u->cnt; i++)
		length += u->items[i].end - u->items[i].begin;
	return length;
}

void interval_union__clear(struct interval_union *u)
{
	u->cnt = 0;
	u->done_ns = u->horizon_ns = 0;
}

void interval_union__free(struct interval_union *u)
{
	free(u->items);
}
