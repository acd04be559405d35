// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory Manipulation Summary: copies and sets by kind. CPU is the time of the calls that asked for
 * them. GPU is the time of the copies. Ranges of the framework around copies have a section of
 * their own; their names tell.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/tables/by_stream.h"
#include "analysis/tables/spans_by_name.h"
#include "common/util.h"

struct manipulations {
	struct stat_map map;
	uint64_t *bytes; /* by row of the map */
	size_t bytes_cnt, bytes_cap;
	struct by_name ranges;
};

/* For example "GpuMemcpySync:GPU->CPU", "BufferedReader:MemoryCopy". */
bool range__is_manipulation(const char *name)
{
	static const char *const parts[] = {"memcpy", "memorycopy", "memset"};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strcasestr(name, parts[i]))
			return true;
	return false;
}

/* Only the launch of a whole graph has a time, so the graph's copies have none. */
static uint64_t call_ns(const struct span *s)
{
	const struct span *launch = s->launch;

	return launch && launch->first_device == s && !s->next_device ? launch->cpu_ns : 0;
}

static int add_device(const struct analysis *a, struct manipulations *m, const struct track *t,
		      const struct span *s)
{
	const struct stat_key key = {.group = by_stream__group(a, t), .id = s->ev.name};
	struct stat *stat = stat_map__at(&m->map, &key);
	const uint64_t none = 0;

	if (!stat)
		return -ENOMEM;
	stat__add(stat, call_ns(s), s->ev.dur_ns);
	while (m->bytes_cnt < m->map.cnt)
		if (ARRAY_PUSH(m->bytes, m->bytes_cnt, m->bytes_cap, none))
			return -ENOMEM;
	if (s->ev.value > 0)
		m->bytes[stat_map__index(&m->map, stat)] += (uint64_t)s->ev.value;
	return 0;
}

static int visit_thread(const struct analysis *a, struct manipulations *m,
			const struct track_batch *t)
{
	int err = 0;

	for (const struct span *s = t->roots; s && !err; s = span__next(s, NULL))
		if (s->kind == KIND_USER && range__is_manipulation(analysis__name(a, s->ev.name)))
			err = by_name__add(a, &m->ranges, t->track, s);
	return err;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	int err = 0;

	for (size_t i = 0; i < b->track_cnt && !err; i++) {
		const struct track_batch *t = &b->tracks[i];

		if (t->track->kind == TRACK_THREAD) {
			err = visit_thread(a, state, t);
			continue;
		}
		for (const struct span *s = t->roots; s && !err; s = s->next_sibling)
			if (s->kind == KIND_MEMCPY || s->kind == KIND_MEMSET)
				err = add_device(a, state, t->track, s);
	}
	return err;
}

enum { CELL_SIZE = NAME_CELLS, CELL_RATE, CELL_ALL };

static int add_row(const struct analysis *a, void *state, struct table *t,
		   const struct stat_row *row, uint64_t whole)
{
	const struct manipulations *m = state;
	const uint64_t bytes = m->bytes[row - m->map.rows];
	const struct ratio_base base = analysis__base(a);
	struct cell cells[CELL_ALL];

	(void)whole;
	cells__name(a, cells, analysis__name(a, row->key.id), &row->stat, base.cpu_ns, base.gpu_ns);
	cells[CELL_SIZE] = bytes ? cell__bytes((int64_t)(bytes & INT64_MAX))
				 : cell__none("its size was not recorded");
	cells[CELL_RATE] = bytes && row->stat.gpu.total
				   ? cell__decimal((double)bytes / (double)row->stat.gpu.total)
				   : cell__none("its size or its time was not recorded");
	return table__add_row(t, 0, cells);
}

static int add_columns(const struct analysis *a, struct table *t)
{
	const struct column size = {.key = "size", .title = "Size", .rank = 2, .type = CELL_BYTES};
	const struct column rate = {
		.key = "gb_per_s", .title = "GB/s", .rank = 1, .type = CELL_DECIMAL};
	int err = table__add_name_columns(a, t, 24);

	if (!err && a->has_device)
		err = table__add_column(t, &size);
	if (!err && a->has_device)
		err = table__add_column(t, &rate);
	return err;
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	struct manipulations *m = state;
	const struct ratio_base base = analysis__base(a);
	const struct by_name_whole whole = {};
	int err = add_columns(a, t);

	if (!err)
		err = by_stream__fill(a, &m->map, order_both, t, add_row, m);
	if (!err)
		err = by_name__fill(a, &m->ranges, &whole, t);
	if (!err && table__row_cnt(t))
		err = stat_rows__describe_order(a, order_both, t);
	if (!err && table__row_cnt(t))
		err = table__note_ratios(a, t, base.cpu_name, base.gpu_name);
	return err;
}

static void clean(void *state)
{
	struct manipulations *m = state;

	stat_map__free(&m->map);
	stat_map__free(&m->ranges.map);
	free(m->bytes);
}

static const char *why_empty(const struct analysis *a)
{
	return a->has_device ? "No copy or set of memory was seen."
			     : "No copy or set of memory was seen; no device time was recorded.";
}

const struct table_impl table_manipulation = {
	.def = {"manipulation", "copies and sets of memory, with their bandwidth", true, order_both,
		USES_BY_DEVICE | USES_BY_THREAD | USES_OP},
	.title = "Memory Manipulation Summary",
	.rests_on_device = true,
	.counts_stepless = true,
	.state_size = sizeof(struct manipulations),
	.visit = visit,
	.fill = fill,
	.why_empty = why_empty,
	.clean = clean,
};
