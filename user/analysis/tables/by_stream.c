// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/tables/by_stream.h"
#include <inttypes.h>
#include <stdlib.h>
#include "common/util.h"

uint32_t by_stream__group(const struct analysis *a, const struct track *t)
{
	return a->opts->by_device ? t->id : 0;
}

void by_stream__name(const struct analysis *a, uint32_t group, char *buf, size_t size)
{
	const struct track *t = group ? recording__track(a->r, group) : NULL;

	if (t)
		snprintf(buf, size, "GPU%d stream %" PRId64, t->device, t->stream);
	else
		snprintf(buf, size, "All devices and streams merged");
}

static int by_group(const void *x, const void *y, void *ctx)
{
	const struct stat_row *p = *(struct stat_row *const *)x, *q = *(struct stat_row *const *)y;
	const struct analysis *a = ctx;
	const struct track *t = recording__track(a->r, p->key.group);
	const struct track *u = recording__track(a->r, q->key.group);

	if (t && u && t->device != u->device)
		return t->device < u->device ? -1 : 1;
	if (t && u && t->stream != u->stream)
		return t->stream < u->stream ? -1 : 1;
	return p->key.group < q->key.group ? -1 : p->key.group > q->key.group;
}

int by_stream__fill(const struct analysis *a, const struct stat_map *m,
		    const struct order_word *words, struct table *t,
		    int (*add)(const struct analysis *a, void *state, struct table *t,
			       const struct stat_row *row, uint64_t whole),
		    void *state)
{
	auto_free struct stat_row **rows = calloc(m->cnt + 1, sizeof(struct stat_row *));
	int err = 0;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < m->cnt; i++)
		rows[i] = &m->rows[i];
	if (m->cnt)
		qsort_r(rows, m->cnt, sizeof(*rows), by_group, (void *)a);
	for (size_t i = 0, end; i < m->cnt && !err; i = end) {
		uint64_t whole = 0;
		char title[64];

		for (end = i; end < m->cnt && rows[end]->key.group == rows[i]->key.group; end++)
			whole += rows[end]->stat.gpu.total;
		by_stream__name(a, rows[i]->key.group, title, sizeof(title));
		if (a->opts->by_device)
			err = table__add_section(t, title);
		stat_rows__sort(a, words, rows + i, end - i);
		for (size_t j = i; j < end && !err; j++)
			err = add(a, state, t, rows[j], whole);
	}
	return err;
}

struct interval_union *stream_unions__at(struct stream_unions *u, uint32_t group)
{
	const struct stream_union fresh = {.group = group};

	for (size_t i = 0; i < u->cnt; i++)
		if (u->items[i].group == group)
			return &u->items[i].time;
	if (ARRAY_PUSH(u->items, u->cnt, u->cap, fresh))
		return NULL;
	return &u->items[u->cnt - 1].time;
}

void stream_unions__free(struct stream_unions *u)
{
	for (size_t i = 0; i < u->cnt; i++)
		interval_union__free(&u->items[i].time);
	free(u->items);
}
