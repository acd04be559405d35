// SPDX-License-Identifier: BSD-2-Clause
/*
 * Device Call Summary: calls of the device's interface, and under launches the kernels by name. It
 * is printed by default only if device times are unknown, because other tables are better.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/left_out.h"
#include "analysis/order.h"
#include "common/util.h"

struct calls {
	struct stat_map map; /* child: the launched kernel; 0: the whole call */
	struct sizes {
		uint64_t bytes, failed;
	} *sizes; /* by row of the map */
	size_t size_cnt, size_cap;
};

static int add(struct calls *c, const struct span *s, uint32_t kernel)
{
	const struct stat_key key = {.id = s->ev.name, .child = kernel};
	struct stat *stat = stat_map__at(&c->map, &key);
	const struct sizes none = {0};
	struct sizes *sizes;

	if (!stat)
		return -ENOMEM;
	stat__add(stat, s->cpu_ns, s->device_ns);
	while (c->size_cnt < c->map.cnt)
		if (ARRAY_PUSH(c->sizes, c->size_cnt, c->size_cap, none))
			return -ENOMEM;
	sizes = &c->sizes[stat_map__index(&c->map, stat)];
	sizes->failed += !!(s->ev.flags & EVENT_FAILED);
	if (s->ev.value > 0 && !(s->ev.flags & EVENT_FAILED))
		sizes->bytes += (uint64_t)s->ev.value;
	return 0;
}

static int add_call(struct calls *c, const struct span *s)
{
	struct event_call call;
	int err = add(c, s, 0);

	if (err || s->ev.args_len != sizeof(call))
		return err;
	memcpy(&call, s->ev.args, sizeof(call));
	return call.kernel ? add(c, s, call.kernel) : 0;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	int err = 0;

	for (size_t i = 0; i < b->track_cnt && !err; i++) {
		const struct track_batch *t = &b->tracks[i];

		if (t->track->kind != TRACK_THREAD || !analysis__is_main(a, t->track))
			continue;
		for (const struct span *s = t->roots; s && !err; s = span__next(s, NULL))
			if (s->kind == KIND_RUNTIME)
				err = add_call(state, s);
	}
	return err;
}

static int add_columns(struct table *t)
{
	const struct column more[] = {
		{.key = "gpu_total", .title = "GPU Time", .rank = 3, .type = CELL_TIME},
		{.key = "size", .title = "Size", .rank = 2, .type = CELL_BYTES},
		{.key = "failed", .title = "Failed", .rank = 1, .type = CELL_COUNT},
	};
	int err = table__add_call_columns(t, 24);

	if (!err)
		err = table__add_time_columns(t, "Elapsed", "cpu");
	if (!err)
		err = table__add_columns(t, more, ARRAY_SIZE(more));
	return err;
}

static int add_row(const struct analysis *a, const struct calls *c, struct table *t,
		   const struct stat_row *row, uint64_t whole)
{
	const struct sizes *sizes = &c->sizes[row - c->map.rows];
	const uint32_t name = row->key.child ? row->key.child : row->key.id;
	struct cell cells[10] = {cell__text(analysis__name(a, name)), cell__count(row->stat.calls)};

	cells__time(cells + 2, &row->stat.cpu, row->stat.calls, whole);
	cells[7] = a->has_device
			   ? cell__time(row->stat.gpu.total)
			   : cell__none("only calls were seen: nothing tells when a kernel or copy "
					"ran");
	cells[8] = sizes->bytes ? cell__bytes((int64_t)(sizes->bytes & INT64_MAX))
		   : a->has_device
			   ? cell__none("CUPTI tells the sizes of copies and sets, not of calls")
			   : cell__none("the call names no size");
	cells[9] = cell__count(sizes->failed);
	return table__add_row(t, row->key.child ? 1 : 0, cells);
}

static int add_estimate(const struct analysis *a, struct table *t, const struct stat_entry *e)
{
	static const char why[] = "not measured in the window";
	struct cell cells[10] = {cell__text(e->name), cell__count(e->stat->calls)};

	cells__time(cells + 2, &e->stat->cpu, e->stat->calls, analysis__base(a).cpu_ns);
	cells[4] = cells[5] = cell__none("only its average was measured");
	cells[7] = cells[8] = cells[9] = cell__none(why);
	return table__add_estimate(t, 0, cells);
}

/* The map's rows with these ids, in order. id 0: all whole calls. */
static size_t rows_of(const struct analysis *a, const struct calls *c, uint32_t id,
		      struct stat_row **out)
{
	size_t cnt = 0;

	for (size_t i = 0; i < c->map.cnt; i++) {
		struct stat_row *row = &c->map.rows[i];

		if (id ? row->key.id == id && row->key.child : !row->key.child)
			out[cnt++] = row;
	}
	stat_rows__sort(a, order_calls, out, cnt);
	return cnt;
}

static int add_kernels(const struct analysis *a, const struct calls *c, struct table *t,
		       const struct stat_row *call)
{
	auto_free struct stat_row **rows = calloc(c->map.cnt + 1, sizeof(struct stat_row *));
	size_t cnt = rows ? rows_of(a, c, call->key.id, rows) : 0;
	int err = rows ? 0 : -ENOMEM;

	for (size_t i = 0; i < cnt && !err; i++)
		err = add_row(a, c, t, rows[i], call->stat.cpu.total);
	return err;
}

static int add_entry(const struct analysis *a, const struct calls *c, struct table *t,
		     const struct stat_entry *e)
{
	int err;

	if (!e->row)
		return add_estimate(a, t, e);
	err = add_row(a, c, t, e->row, analysis__base(a).cpu_ns);
	return err ? err : add_kernels(a, c, t, e->row);
}

/* Adds recorded and estimated calls in one order. */
static int add_entries(const struct analysis *a, const struct calls *c,
		       const struct left_out_rows *estimates, struct table *t)
{
	auto_free struct stat_row **rows = calloc(c->map.cnt + 1, sizeof(struct stat_row *));
	auto_free struct stat_entry *entries =
		calloc(c->map.cnt + estimates->cnt + 1, sizeof(*entries));
	size_t cnt, n = 0;
	int err = rows && entries ? 0 : -ENOMEM;

	if (err)
		return err;
	cnt = rows_of(a, c, 0, rows);
	for (size_t i = 0; i < cnt; i++)
		entries[n++] = (struct stat_entry){analysis__name(a, rows[i]->key.id),
						   &rows[i]->stat, rows[i]};
	for (size_t i = 0; i < estimates->cnt; i++)
		if (estimates->items[i].stat.calls)
			entries[n++] = (struct stat_entry){estimates->items[i].name,
							   &estimates->items[i].stat, NULL};
	stat_entries__sort(a, order_calls, entries, n);
	for (size_t i = 0; i < n && !err; i++)
		err = add_entry(a, c, t, &entries[i]);
	return err;
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	const struct calls *c = state;
	const size_t cnt = c->map.cnt;
	struct left_out_rows estimates;
	int err = left_out__read(a->r, LEFT_OUT_DEVICE_CALLS, a->steps.calls, &estimates);

	table__set_estimates(t);
	if (!err)
		err = add_columns(t);
	if (!err)
		err = add_entries(a, c, &estimates, t);
	if (!err)
		err = left_out_rows__note(&estimates, t);
	left_out_rows__free(&estimates);
	if (!err && cnt)
		err = table__add_notef(
			t,
			"The outermost call counts. %s Ratios: of %s; of indented rows, of the "
			"call that they are part of.",
			a->has_device
				? "GPU time: of the kernels, copies and sets that it launched."
				: "Kernels are named by what libraries register with the runtime. "
				  "Those launched through the driver have no name here, and those "
				  "of a graph are not shown.",
			analysis__base(a).cpu_name);
	return err || !cnt ? err : stat_rows__describe_order(a, order_calls, t);
}

static void clean(void *state)
{
	struct calls *c = state;

	stat_map__free(&c->map);
	free(c->sizes);
}

static const char *why_empty(const struct analysis *a)
{
	(void)a;
	return "No call of a device's interface was seen.";
}

const struct table_impl table_calls = {
	.def = {"calls",
		"calls of the device's interface; by default where no device times are known", true,
		order_calls, USES_OP},
	.title = "Device Call Summary",
	.rests_on_device = true,
	.state_size = sizeof(struct calls),
	.visit = visit,
	.fill = fill,
	.why_empty = why_empty,
	.clean = clean,
};
