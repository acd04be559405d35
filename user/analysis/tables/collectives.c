// SPDX-License-Identifier: BSD-2-Clause
/*
 * Collectives Summary: exchanges between the host's processes, by name. A collective lasts from the
 * request to its end, on any thread. Collectives of a device are kernels and not in this table.
 */
#include <errno.h>
#include <stdlib.h>
#include "analysis/order.h"
#include "common/util.h"

struct collectives {
	struct stat_map map;
	struct payload {
		uint64_t bytes;
		bool unknown; /* the size of at least one is unknown */
	} *payloads;	      /* by row of the map */
	size_t payload_cnt, payload_cap;
};

static int add(struct collectives *c, const struct event *e)
{
	const struct stat_key key = {.id = e->name};
	struct stat *stat = stat_map__at(&c->map, &key);
	const struct payload none = {};
	struct payload *payload;

	if (!stat)
		return -ENOMEM;
	stat__add(stat, e->dur_ns, 0);
	while (c->payload_cnt < c->map.cnt)
		if (ARRAY_PUSH(c->payloads, c->payload_cnt, c->payload_cap, none))
			return -ENOMEM;
	payload = &c->payloads[stat_map__index(&c->map, stat)];
	payload->bytes += e->value > 0 ? (uint64_t)e->value : 0;
	payload->unknown |= e->value <= 0;
	return 0;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	int err = 0;

	for (size_t i = 0; i < b->track_cnt; i++) {
		const struct track_batch *t = &b->tracks[i];

		if (!analysis__is_main(a, t->track))
			continue;
		for (const struct span *s = t->roots; s && !err; s = span__next(s, NULL))
			if (s->kind == KIND_COMMUNICATION)
				err = add(state, &s->ev);
	}
	for (size_t i = 0; i < b->other_cnt && !err; i++)
		if (analysis__is_collective(a->r, &b->others[i]))
			err = add(state, &b->others[i]);
	return err;
}

enum { CELL_SIZE = 7, CELL_RATE, CELL_ALL };

static int add_row(const struct analysis *a, const struct collectives *c, struct table *t,
		   const struct stat_row *row)
{
	const struct payload *payload = &c->payloads[row - c->map.rows];
	const char *why = payload->unknown ? "not all sizes are known, or it has none" : NULL;
	struct cell cells[CELL_ALL];

	cells[0] = cell__text(analysis__name(a, row->key.id));
	cells[1] = cell__count(row->stat.calls);
	cells__time(cells + 2, &row->stat.cpu, row->stat.calls, analysis__base(a).cpu_ns);
	cells[CELL_SIZE] =
		why ? cell__none(why) : cell__bytes((int64_t)(payload->bytes & INT64_MAX));
	cells[CELL_RATE] =
		why || !row->stat.cpu.total
			? cell__none(why ? why : "it took no time")
			: cell__decimal((double)payload->bytes / (double)row->stat.cpu.total);
	return table__add_row(t, 0, cells);
}

static int add_columns(struct table *t)
{
	const struct column size = {.key = "size", .title = "Size", .rank = 2, .type = CELL_BYTES};
	const struct column rate = {
		.key = "gb_per_s", .title = "GB/s", .rank = 1, .type = CELL_DECIMAL};
	int err = table__add_call_columns(t, 24);

	if (!err)
		err = table__add_time_columns(t, "Elapsed", "cpu");
	if (!err)
		err = table__add_column(t, &size);
	return err ? err : table__add_column(t, &rate);
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	struct collectives *c = state;
	auto_free struct stat_row **rows = calloc(c->map.cnt + 1, sizeof(struct stat_row *));
	int err = rows ? add_columns(t) : -ENOMEM;

	for (size_t i = 0; i < c->map.cnt && !err; i++)
		rows[i] = &c->map.rows[i];
	if (!err)
		stat_rows__sort(a, order_cpu, rows, c->map.cnt);
	for (size_t i = 0; i < c->map.cnt && !err; i++)
		err = add_row(a, c, t, rows[i]);
	if (!err && c->map.cnt)
		err = stat_rows__describe_order(a, order_cpu, t);
	if (err || !c->map.cnt)
		return err;
	return table__add_notef(t,
				"From where a collective was asked for to its end, other ranks "
				"waited for included. Size: of what this rank put in, or is to "
				"take. Ratios: of %s; they may overlap.",
				analysis__base(a).cpu_name);
}

static void clean(void *state)
{
	struct collectives *c = state;

	stat_map__free(&c->map);
	free(c->payloads);
}

static const char *why_empty(const struct analysis *a)
{
	(void)a;
	return "No collective of the host was seen; those of a device are kernels.";
}

const struct table_impl table_collectives = {
	.def = {"collectives", "the host's collectives by name, with their sizes", true, order_cpu,
		USES_OP},
	.title = "Collectives Summary",
	.state_size = sizeof(struct collectives),
	.visit = visit,
	.fill = fill,
	.why_empty = why_empty,
	.clean = clean,
};
