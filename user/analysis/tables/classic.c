// SPDX-License-Identifier: BSD-2-Clause
/*
 * The report of the classic Paddle profiler (fluid.profiler): events by name. Times are of one side
 * (--state CPU, GPU) or of both added up (All), as in that profiler. Its overhead and copy lines
 * are notes here.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/left_out.h"
#include "analysis/order.h"
#include "analysis/tables/spans_by_name.h"
#include "common/util.h"

/* cpu: the time that --state selects; gpu: the device's time. */
struct classic {
	struct stat_map map;
	struct stat_map copies; /* id: copies and sets */
	uint64_t kernel_ns;
};

enum measure { BY_FIRST_END, BY_CALLS, BY_TOTAL, BY_MAX, BY_MIN, BY_AVE };

static const struct order_word words[] = {
	{"default", BY_FIRST_END, NULL},
	{"calls", BY_CALLS, "calls"},
	{"total", BY_TOTAL, "total"},
	{"max", BY_MAX, "max"},
	{"min", BY_MIN, "min"},
	{"ave", BY_AVE, "ave"},
	{},
};

static bool is_event(const struct span *s)
{
	return s->ev.name && s->kind != KIND_RUNTIME;
}

static uint64_t time_of(const struct analysis *a, const struct span *s)
{
	switch (a->opts->state) {
	case STATE_CPU:
		return s->cpu_ns;
	case STATE_GPU:
		return s->device_ns;
	default:
		return s->cpu_ns + s->device_ns;
	}
}

/* Rows come in the order of their first end. An inner event ends before the outer one. */
static int add_tree(const struct analysis *a, struct classic *c, const struct track *t,
		    const struct span *s)
{
	const struct stat_key key = {.group = by_name__group(a, t), .id = s->ev.name};
	struct stat *stat;
	int err = 0;

	for (const struct span *child = s->first_child; child && !err; child = child->next_sibling)
		err = add_tree(a, c, t, child);
	if (err || !is_event(s))
		return err;
	stat = stat_map__at(&c->map, &key);
	if (!stat)
		return -ENOMEM;
	analysis__count(a, stat, &s->ev, time_of(a, s), s->device_ns);
	return 0;
}

static int add_device(struct classic *c, const struct span *s)
{
	const struct stat_key key = {.id = s->ev.name};
	struct stat *stat;

	if (s->kind == KIND_KERNEL)
		c->kernel_ns += s->device_ns;
	if (s->kind != KIND_MEMCPY)
		return 0;
	stat = stat_map__at(&c->copies, &key);
	if (!stat)
		return -ENOMEM;
	stat__add(stat, 0, s->device_ns);
	return 0;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct classic *c = state;
	int err = 0;

	for (size_t i = 0; i < b->track_cnt; i++) {
		const struct track_batch *t = &b->tracks[i];

		for (const struct span *s = t->roots; s && !err; s = s->next_sibling)
			err = t->track->kind == TRACK_DEVICE ? add_device(c, s)
							     : add_tree(a, c, t->track, s);
	}
	return err;
}

static double value_of(const struct stat_row *r, int measure)
{
	switch (measure) {
	case BY_CALLS:
		return (double)r->stat.calls;
	case BY_TOTAL:
		return (double)r->stat.cpu.total;
	case BY_MAX:
		return (double)r->stat.cpu.max;
	case BY_MIN:
		return (double)r->stat.cpu.min;
	default:
		return (double)range__avg(&r->stat.cpu, r->stat.calls);
	}
}

static int add_columns(const struct analysis *a, struct table *t)
{
	const bool both = a->opts->state == STATE_ALL;
	const struct {
		bool on;
		struct column c;
	} all[] = {
		{true, {"event", "Event", 0, NULL, CELL_TEXT, 0, 90, NULL}},
		{true, {"calls", "Calls", 6, NULL, CELL_COUNT, 0, 0, NULL}},
		{true, {"total", "Total", 8, NULL, CELL_TIME, 0, 0, NULL}},
		{both, {"cpu", "CPU Time", 0, NULL, CELL_TIME, 3, 0, NULL}},
		{both, {"cpu_ratio", "(Ratio)", 0, NULL, CELL_DECIMAL, 4, 0, NULL}},
		{both, {"gpu", "GPU Time", 0, NULL, CELL_TIME, 3, 0, NULL}},
		{both, {"gpu_ratio", "(Ratio)", 0, NULL, CELL_DECIMAL, 4, 0, NULL}},
		{true, {"min", "Min.", 0, NULL, CELL_TIME, 1, 0, NULL}},
		{true, {"max", "Max.", 0, NULL, CELL_TIME, 1, 0, NULL}},
		{true, {"ave", "Ave.", 0, NULL, CELL_TIME, 0, 0, NULL}},
		{true, {"ratio", "Ratio.", 0, NULL, CELL_DECIMAL, 0, 0, NULL}},
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all) && !err; i++)
		if (all[i].on)
			err = table__add_column(t, &all[i].c);
	return err;
}

static struct cell ratio(uint64_t part, uint64_t whole)
{
	return whole ? cell__decimal((double)part / (double)whole)
		     : cell__none("the whole is zero");
}

static int add_row(const struct analysis *a, struct table *t, const struct stat_row *r,
		   uint64_t whole)
{
	const char *no_device = "no device time was recorded";
	const uint64_t total = r->stat.cpu.total, gpu = r->stat.gpu.total;
	auto_free char *label = by_name__label(a, r->key.id);
	struct cell cells[11];
	size_t n = 0;

	if (!label)
		return -ENOMEM;
	cells[n++] = cell__text(label);
	cells[n++] = cell__count(r->stat.calls);
	cells[n++] = cell__time(total);
	if (a->opts->state == STATE_ALL) {
		cells[n++] = cell__time(total - gpu);
		cells[n++] = ratio(total - gpu, total);
		cells[n++] = a->has_device ? cell__time(gpu) : cell__none(no_device);
		cells[n++] = a->has_device ? ratio(gpu, total) : cell__none(no_device);
	}
	cells[n++] = cell__time(r->stat.cpu.min);
	cells[n++] = cell__time(r->stat.cpu.max);
	cells[n++] = cell__time(range__avg(&r->stat.cpu, r->stat.calls));
	cells[n++] = ratio(total, whole);
	return table__add_row(t, 0, cells);
}

static int fill_section(const struct analysis *a, const struct classic *c, struct table *t,
			struct ordered *order, size_t cnt, uint64_t *whole)
{
	uint64_t sum = 0;
	int err = 0;

	for (size_t i = 0; i < cnt; i++)
		sum += c->map.rows[order[i].row].stat.cpu.total;
	ordered__sort(a, order, cnt);
	for (size_t i = 0; i < cnt && !err; i++)
		err = add_row(a, t, &c->map.rows[order[i].row], sum);
	*whole += sum;
	return err;
}

static size_t rows_of_group(const struct analysis *a, const struct classic *c, uint32_t group,
			    struct ordered *out)
{
	const int measure = order__measure(a, words);
	const double step = a->opts->ascending ? 1 : -1;
	size_t cnt = 0;

	for (size_t i = 0; i < c->map.cnt; i++) {
		const struct stat_row *r = &c->map.rows[i];
		double value = measure == BY_FIRST_END ? step * (double)i : value_of(r, measure);

		if (r->key.group == group)
			out[cnt++] = (struct ordered){value, analysis__name(a, r->key.id), i};
	}
	return cnt;
}

/* The lines at the begin of the profiler's report. Its "computation" was the events' compute
 * ranges; here it is the kernels. */
static int add_notes(const struct analysis *a, const struct classic *c, uint64_t whole,
		     struct table *t)
{
	static const char *const places[] = {"All", "CPU", "GPU"};
	uint64_t copies = 0, calls = 0;
	int err = table__add_notef(t, "Place: %s", places[a->opts->state]);

	for (size_t i = 0; i < c->copies.cnt; i++) {
		copies += c->copies.rows[i].stat.gpu.total;
		calls += c->copies.rows[i].stat.calls;
	}
	if (!err)
		err = table__add_notef(t,
				       "Total time: %s, of all events; inner events count again.",
				       time_text(a, whole).s);
	if (err || !a->has_device)
		return err;
	err = table__add_notef(t, "Computation time (kernels): %s", time_text(a, c->kernel_ns).s);
	if (!err)
		err = table__add_notef(t, "GpuMemcpy: calls %llu, total %s",
				       (unsigned long long)calls, time_text(a, copies).s);
	for (size_t i = 0; i < c->copies.cnt && !err; i++) {
		const struct stat_row *r = &c->copies.rows[i];

		err = table__add_notef(
			t, "  %s: calls %llu, total %s", analysis__name(a, r->key.id),
			(unsigned long long)r->stat.calls, time_text(a, r->stat.gpu.total).s);
	}
	return err;
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	const struct classic *c = state;
	auto_free struct ordered *order = calloc(c->map.cnt + 1, sizeof(*order));
	uint64_t whole = 0;
	uint32_t last = 0;
	int err = order ? add_columns(a, t) : -ENOMEM;

	if (!err && a->opts->state == STATE_GPU && !a->has_device)
		return table__add_note(t, "No device time was recorded.");
	for (size_t i = 0; i < c->map.cnt; i++)
		if (c->map.rows[i].key.group > last)
			last = c->map.rows[i].key.group;
	for (uint32_t group = 0; group <= last && !err; group++) {
		size_t cnt = rows_of_group(a, c, group, order);

		if (cnt && cnt < c->map.cnt)
			err = by_name__add_section(a, t, group, NULL);
		if (!err && cnt)
			err = fill_section(a, c, t, order, cnt, &whole);
	}
	if (!err)
		err = add_notes(a, c, whole, t);
	if (!err)
		err = table__note_cut(t, &c->map);
	if (!err)
		err = left_out__note_missing(a, t);
	return err ? err : order__describe(a, words, t);
}

static void clean(void *state)
{
	struct classic *c = state;

	stat_map__free(&c->map);
	stat_map__free(&c->copies);
}

const struct table_impl table_classic = {
	.def = {"classic", "the classic Paddle profiler's report (--state, --sorted-by)", false,
		words, USES_BY_THREAD | USES_STATE | USES_OP},
	.title = "Profiling Report",
	.rests_on_device = true,
	.state_size = sizeof(struct classic),
	.visit = visit,
	.fill = fill,
	.clean = clean,
};
