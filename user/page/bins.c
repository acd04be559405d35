// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sums and levels over a time whose end is not known in advance. The number of bins is fixed. When
 * something lies after the last bin, bins are merged in pairs and become twice as wide.
 */
#include "common/util.h"
#include "page/page_internal.h"

#define FIRST_WIDTH_NS 64

void bins__begin(struct bins *b, uint64_t ns)
{
	if (b->begun)
		return;
	b->begun = true;
	b->begin_ns = b->end_ns = ns;
	b->width_ns = FIRST_WIDTH_NS;
}

static struct bin_series *series_at(struct bins *b, enum bin_what what, uint32_t id)
{
	for (size_t i = 0; i < b->cnt; i++)
		if (b->series[i]->what == what && b->series[i]->id == id)
			return b->series[i];
	return NULL;
}

/* NULL with *err 0: there are too many series. */
static struct bin_series *series_for(struct bins *b, enum bin_what what, uint32_t id, int *err)
{
	struct bin_series *s = series_at(b, what, id);

	*err = 0;
	if (s)
		return s;
	if (b->cnt == SERIES_MAX) {
		b->left_out++;
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		*err = -ENOMEM;
		return NULL;
	}
	s->what = what;
	s->id = id;
	b->series[b->cnt++] = s;
	return s;
}

static void fold_level(struct bin_series *s, size_t to, size_t from)
{
	if (!s->has[from])
		return;
	if (!s->has[to] || s->max[from] > s->max[to])
		s->max[to] = s->max[from];
	s->last[to] = s->last[from];
	s->has[to] = true;
}

static void fold(struct bin_series *s)
{
	for (size_t i = 0; i < BIN_CNT; i++) {
		const size_t from = 2 * i;

		s->sum_ns[i] = from < BIN_CNT ? s->sum_ns[from] + s->sum_ns[from + 1] : 0;
		s->has[i] = s->has[i] && !i;
		if (from < BIN_CNT && i)
			fold_level(s, i, from);
		if (from < BIN_CNT)
			fold_level(s, i, from + 1);
	}
}

static void widen(struct bins *b, uint64_t end_ns)
{
	if (end_ns > b->end_ns)
		b->end_ns = end_ns;
	while (end_ns - b->begin_ns > b->width_ns * BIN_CNT) {
		b->width_ns *= 2;
		for (size_t i = 0; i < b->cnt; i++)
			fold(b->series[i]);
	}
}

int bins__add(struct bins *b, enum bin_what what, uint32_t id, uint64_t from_ns, uint64_t to_ns)
{
	struct bin_series *s;
	int err;

	if (from_ns < b->begin_ns)
		from_ns = b->begin_ns;
	if (from_ns >= to_ns)
		return 0;
	widen(b, to_ns);
	s = series_for(b, what, id, &err);
	while (s && from_ns < to_ns) {
		const uint64_t bin = (from_ns - b->begin_ns) / b->width_ns;
		const uint64_t edge_ns = b->begin_ns + (bin + 1) * b->width_ns;
		const uint64_t end_ns = to_ns < edge_ns ? to_ns : edge_ns;

		s->sum_ns[bin] += end_ns - from_ns;
		from_ns = end_ns;
	}
	return err;
}

int bins__level(struct bins *b, uint32_t id, uint64_t ns, int64_t level)
{
	struct bin_series *s;
	size_t bin;
	int err;

	if (ns < b->begin_ns)
		ns = b->begin_ns;
	widen(b, ns + 1);
	s = series_for(b, BIN_MEMORY, id, &err);
	if (!s)
		return err;
	bin = (ns - b->begin_ns) / b->width_ns;
	if (!s->has[bin] || level > s->max[bin])
		s->max[bin] = level;
	s->last[bin] = level;
	s->has[bin] = true;
	return 0;
}

void bins__free(struct bins *b)
{
	for (size_t i = 0; i < b->cnt; i++)
		free(b->series[i]);
}
