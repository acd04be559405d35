// SPDX-License-Identifier: BSD-2-Clause
/*
 * key_averages of the PyTorch profiler: every event by name, or by name and shapes or callers. Each
 * has its own time and the time of all inside it. Device work counts for the event that called the
 * device's interface. Kernels have rows of their own.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/analysis.h"
#include "analysis/callers.h"
#include "analysis/flops_sum.h"
#include "analysis/left_out.h"
#include "analysis/order.h"
#include "analysis/shapes.h"
#include "analysis/sources.h"
#include "analysis/tables/spans_by_name.h"
#include "common/util.h"

enum place { HOST, DEVICE, PLACES };

struct sums {
	uint64_t self_cpu_ns, self_gpu_ns;
	int64_t bytes[PLACES], self_bytes[PLACES];
	struct flops_sum flops;
};

struct averages {
	struct stat_map map; /* child: shapes or callers, if they tell rows apart; device 1: ran
				on a device */
	struct sums *sums;   /* by row of the map */
	size_t sum_cnt, sum_cap;
	struct shapes shapes;
	struct callers callers;
	struct sources sources; /* used instead of callers if stacks were recorded */
	bool any_shape, any_flops, memory[PLACES];
	struct flops_names flops_names;
	struct left_out_rows estimates;
	int64_t outside_bytes[PLACES]; /* of allocations outside of all events */
	uint64_t outside_cnt[PLACES];
};

enum measure {
	BY_CPU_TOTAL,
	BY_CPU,
	BY_SELF_CPU,
	BY_GPU,
	BY_GPU_TOTAL,
	BY_SELF_GPU,
	BY_COUNT,
	BY_FLOPS,
	BY_MEMORY, /* + place */
	BY_SELF_MEMORY = BY_MEMORY + PLACES,
};

/* The profiler's words. Older versions, and their users, say cuda_ for device_. */
static const struct order_word words[] = {
	{"cpu_time_total", BY_CPU_TOTAL, "cpu_total"},
	{"cpu_time", BY_CPU, "cpu_avg"},
	{"self_cpu_time_total", BY_SELF_CPU, "self_cpu"},
	{"cuda_time_total", BY_GPU_TOTAL, "gpu_total"},
	{"cuda_time", BY_GPU, "gpu_avg"},
	{"self_cuda_time_total", BY_SELF_GPU, "self_gpu"},
	{"device_time_total", BY_GPU_TOTAL, "gpu_total"},
	{"device_time", BY_GPU, "gpu_avg"},
	{"self_device_time_total", BY_SELF_GPU, "self_gpu"},
	{"cpu_memory_usage", BY_MEMORY + HOST, "cpu_memory"},
	{"self_cpu_memory_usage", BY_SELF_MEMORY + HOST, "self_cpu_memory"},
	{"cuda_memory_usage", BY_MEMORY + DEVICE, "gpu_memory"},
	{"self_cuda_memory_usage", BY_SELF_MEMORY + DEVICE, "self_gpu_memory"},
	{"device_memory_usage", BY_MEMORY + DEVICE, "gpu_memory"},
	{"self_device_memory_usage", BY_SELF_MEMORY + DEVICE, "self_gpu_memory"},
	{"count", BY_COUNT, "calls"},
	{"flops", BY_FLOPS, "total_flops"},
	{},
};

/* Inferred phases, and the backward pass as a whole, are no events of the profiler. Waits are no
 * work of the device. */
static bool is_event(const struct span *s)
{
	return s->ev.name && s->kind != KIND_SYNC && s->kind != KIND_BACKWARD;
}

static const struct span *enclosing_event(const struct span *s)
{
	do
		s = s->parent;
	while (s && !is_event(s));
	return s;
}

static size_t events_directly_in(const struct span *s)
{
	size_t cnt = 0;

	for (const struct span *c = s->first_child; c; c = c->next_sibling)
		cnt += is_event(c) ? 1 : events_directly_in(c);
	return cnt;
}

/* Is it a call of its own name, and nothing else? The profiler counts both as one event
 * (torch/autograd/profiler_util.py, EventList._remove_dup_nodes). */
static bool is_repeated(const struct span *s)
{
	const struct span *enclosing = enclosing_event(s);

	return enclosing && enclosing->ev.name == s->ev.name && events_directly_in(enclosing) == 1;
}

static bool has_row(const struct span *s)
{
	return is_event(s) && !is_repeated(s);
}

/* The event that gets this span's own time and work: the span itself, or the event around it. */
static const struct span *owner(const struct span *s)
{
	while (s && !has_row(s))
		s = s->parent;
	return s;
}

static uint64_t launched_by(const struct span *s)
{
	uint64_t ns = 0;

	for (const struct span *d = s->first_device; d; d = d->next_device)
		ns += d->device_ns;
	return ns;
}

/* Device work that the event's own calls of the device's interface launched, also by nested
 * calls. */
static uint64_t launched_by_calls(const struct span *s)
{
	uint64_t ns = 0;

	for (const struct span *c = s->first_child; c; c = c->next_sibling)
		if (c->kind == KIND_RUNTIME)
			ns += launched_by(c) + launched_by_calls(c);
	return ns;
}

static struct sums *sums_at(struct averages *k, const struct stat_key *key, struct stat **stat)
{
	const struct sums none = {};

	*stat = stat_map__at(&k->map, key);
	while (*stat && k->sum_cnt < k->map.cnt)
		if (ARRAY_PUSH(k->sums, k->sum_cnt, k->sum_cap, none))
			return NULL;
	return *stat ? &k->sums[stat_map__index(&k->map, *stat)] : NULL;
}

static bool by_source(const struct analysis *a)
{
	return a->opts->group_by == GROUP_BY_STACK && sources__has(a);
}

static int key_of(const struct analysis *a, struct averages *k, const struct track *t,
		  const struct span *s, struct stat_key *key)
{
	*key = (struct stat_key){.group = by_name__group(a, t), .id = s->ev.name};
	k->any_shape |= s->ev.args_len && s->kind != KIND_RUNTIME;
	if (by_source(a))
		return sources__id(a, &k->sources, sources__stack(a, &k->sources, t, s),
				   &key->child);
	if (a->opts->group_by == GROUP_BY_STACK)
		return callers__id(&k->callers, s, has_row, &key->child);
	if (a->opts->group_by != GROUP_BY_SHAPE || s->kind == KIND_RUNTIME)
		return 0;
	return shapes__id(&k->shapes, s, &key->child);
}

static int add_span(const struct analysis *a, struct averages *k, const struct track *t,
		    const struct span *s)
{
	const struct span *row = owner(s);
	struct stat_key key;
	struct stat *stat;
	struct sums *sums;
	int err = row ? key_of(a, k, t, row, &key) : 0;

	if (err || !row)
		return err;
	sums = sums_at(k, &key, &stat);
	if (!sums)
		return -ENOMEM;
	if (row == s) {
		analysis__count(a, stat, &s->ev, s->cpu_ns,
				s->kind == KIND_RUNTIME ? 0 : s->device_ns);
		flops_sum__add(&sums->flops, &k->flops_names, a->r, &s->ev);
		k->any_flops |= flops_sum__shown(&sums->flops, a->r);
	}
	sums->self_cpu_ns += s->self_ns;
	if (s->kind != KIND_RUNTIME)
		sums->self_gpu_ns += launched_by(s) + launched_by_calls(s);
	return 0;
}

/* Adds device work to the section of the launching thread. */
static int add_device(const struct analysis *a, struct averages *k, const struct track *t,
		      const struct span *s)
{
	const struct track *by = s->launch ? recording__track(a->r, s->launch->ev.track) : NULL;
	struct stat_key key = {.id = s->ev.name, .device = 1};
	struct stat *stat;
	struct sums *sums;

	if (by)
		key.group = by_name__group(a, by);
	else if (!a->opts->by_thread && a->main_pid && t->pid != a->main_pid)
		key.group = GROUP_OTHERS;
	if (by && by_source(a)) {
		int err = sources__id(a, &k->sources, sources__stack(a, &k->sources, by, s->launch),
				      &key.child);

		if (err)
			return err;
	}
	sums = sums_at(k, &key, &stat);
	if (!sums)
		return -ENOMEM;
	stat__add(stat, 0, s->device_ns);
	sums->self_gpu_ns += s->device_ns;
	return 0;
}

static int add_track(const struct analysis *a, struct averages *k, const struct track_batch *t)
{
	int err = 0;

	for (const struct span *s = t->roots; s && !err; s = span__next(s, NULL))
		if (t->track->kind == TRACK_THREAD)
			err = add_span(a, k, t->track, s);
		else if (is_event(s))
			err = add_device(a, k, t->track, s);
	return err;
}

/* Adds allocated less freed bytes to the innermost event and all around it. Memory that the
 * framework's allocator takes from the driver does not count. */
static int add_memory(const struct analysis *a, struct averages *k, const struct event *e,
		      const struct span *innermost)
{
	const struct event_memory *m = e->args;
	enum place place = m->device_type ? DEVICE : HOST;
	const struct track *t = recording__track(a->r, e->track);
	bool self = true;

	if (e->name || !t)
		return 0;
	k->memory[place] = true;
	if (!owner(innermost)) {
		k->outside_bytes[place] += e->value;
		k->outside_cnt[place]++;
	}
	for (const struct span *s = innermost; s; s = s->parent) {
		struct stat_key key;
		struct stat *stat;
		struct sums *sums;
		int err;

		if (!has_row(s))
			continue;
		err = key_of(a, k, t, s, &key);
		if (err)
			return err;
		sums = sums_at(k, &key, &stat);
		if (!sums)
			return -ENOMEM;
		sums->bytes[place] += e->value;
		sums->self_bytes[place] += self ? e->value : 0;
		self = false;
	}
	return 0;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct averages *k = state;
	int err = flops_names__load(&k->flops_names, a->r);

	if (!err && by_source(a))
		err = sources__take(a, &k->sources, b);
	for (size_t i = 0; i < b->track_cnt && !err; i++)
		err = add_track(a, k, &b->tracks[i]);
	for (size_t i = 0; i < b->memory_cnt && !err; i++)
		err = add_memory(a, k, &b->memory[i], b->memory_spans[i]);
	return err;
}

/* ---- rows ---- */

static double value_of(const struct averages *k, size_t row, int measure)
{
	const struct stat *s = &k->map.rows[row].stat;
	const struct sums *m = &k->sums[row];
	const uint64_t calls = s->calls ? s->calls : 1;

	switch (measure) {
	case BY_CPU:
		return (double)range__avg(&s->cpu, calls);
	case BY_SELF_CPU:
		return (double)m->self_cpu_ns;
	case BY_GPU:
		return (double)range__avg(&s->gpu, calls);
	case BY_GPU_TOTAL:
		return (double)s->gpu.total;
	case BY_SELF_GPU:
		return (double)m->self_gpu_ns;
	case BY_COUNT:
		return (double)s->calls;
	case BY_FLOPS:
		return (double)m->flops.flops;
	case BY_MEMORY + HOST:
	case BY_MEMORY + DEVICE:
		return (double)m->bytes[measure - BY_MEMORY];
	case BY_SELF_MEMORY + HOST:
	case BY_SELF_MEMORY + DEVICE:
		return (double)m->self_bytes[measure - BY_SELF_MEMORY];
	default:
		return (double)s->cpu.total;
	}
}

/* Does some row have this measure? */
static bool has_measure(const struct analysis *a, const struct averages *k, int measure)
{
	switch (measure) {
	case BY_GPU:
	case BY_GPU_TOTAL:
	case BY_SELF_GPU:
		return a->has_device;
	case BY_FLOPS:
		return k->any_flops;
	case BY_MEMORY + HOST:
	case BY_MEMORY + DEVICE:
		return k->memory[measure - BY_MEMORY];
	case BY_SELF_MEMORY + HOST:
	case BY_SELF_MEMORY + DEVICE:
		return k->memory[measure - BY_SELF_MEMORY];
	default:
		return true;
	}
}

static int measure_of(const struct analysis *a, const struct averages *k)
{
	int measure = order__measure(a, words);

	return has_measure(a, k, measure) ? measure : words->measure;
}

static int describe_order(const struct analysis *a, const struct averages *k, struct table *t)
{
	if (has_measure(a, k, order__measure(a, words)))
		return order__describe(a, words, t);
	table__set_sorted(t, words->column);
	return table__add_notef(t,
				"Rows are in the order of %s: nothing was recorded to sort by %s.",
				words->word, a->opts->sort_word);
}

static int add_columns(const struct analysis *a, const struct averages *k, struct table *t)
{
	const struct {
		bool on;
		struct column c;
	} all[] = {
		{true, {"name", "Name", 0, NULL, CELL_TEXT, 0, 55, NULL}},
		{true, {"self_cpu_share", "Self CPU %", 0, NULL, CELL_PERCENT, 4, 0, "S.CPU%"}},
		{true, {"self_cpu", "Self CPU", 8, NULL, CELL_TIME, 0, 0, NULL}},
		{true, {"cpu_share", "CPU total %", 0, NULL, CELL_PERCENT, 7, 0, "CPU%"}},
		{true, {"cpu_total", "CPU total", 8, NULL, CELL_TIME, 0, 0, NULL}},
		{true, {"cpu_avg", "CPU time avg", 0, NULL, CELL_TIME, 6, 0, "CPU avg"}},
		{a->has_device, {"self_gpu", "Self GPU", 8, NULL, CELL_TIME, 0, 0, NULL}},
		{a->has_device,
		 {"self_gpu_share", "Self GPU %", 0, NULL, CELL_PERCENT, 5, 0, "S.GPU%"}},
		{a->has_device, {"gpu_total", "GPU total", 8, NULL, CELL_TIME, 0, 0, NULL}},
		{a->has_device, {"gpu_avg", "GPU time avg", 0, NULL, CELL_TIME, 6, 0, "GPU avg"}},
		{k->memory[HOST], {"cpu_memory", "CPU Mem", 0, NULL, CELL_BYTES, 3, 0, NULL}},
		{k->memory[HOST],
		 {"self_cpu_memory", "Self CPU Mem", 0, NULL, CELL_BYTES, 2, 0, "S.CPU M"}},
		{k->memory[DEVICE], {"gpu_memory", "GPU Mem", 0, NULL, CELL_BYTES, 3, 0, NULL}},
		{k->memory[DEVICE],
		 {"self_gpu_memory", "Self GPU Mem", 0, NULL, CELL_BYTES, 2, 0, "S.GPU M"}},
		{true, {"calls", "# of Calls", 0, NULL, CELL_COUNT, 0, 0, "Calls"}},
		{a->opts->group_by == GROUP_BY_SHAPE,
		 {"input_shapes", "Input Shapes", 0, NULL, CELL_TEXT, .max_width = 60,
		  .grouped = true}},
		{by_source(a),
		 {"stack", "Source Location", 0, NULL, CELL_TEXT, .max_width = 110, .grouped = true,
		  .stack = true}},
		{a->opts->group_by == GROUP_BY_STACK && !by_source(a),
		 {"callers", "Called From", 0, NULL, CELL_TEXT, .max_width = 75, .grouped = true,
		  .stack = true}},
		{k->any_flops, {"total_flops", "Total FLOPs", 0, NULL, CELL_LARGE, 2, 0, "FLOPs"}},
		{k->any_flops, {"flops_per_s", "FLOP/s", 0, NULL, CELL_LARGE, 3, 0, NULL}},
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all) && !err; i++)
		if (all[i].on)
			err = table__add_column(t, &all[i].c);
	return err;
}

struct wholes {
	uint64_t self_cpu_ns, gpu_ns, flops_unknown;
	uint64_t estimated_ns; /* the estimated part of self_cpu_ns */
};

static struct cell average(const struct range *r, uint64_t calls)
{
	return calls ? cell__time(range__avg(r, calls)) : cell__none("no calls");
}

static int add_row(const struct analysis *a, const struct averages *k, struct table *t, size_t row,
		   const struct wholes *w)
{
	const struct stat_row *r = &k->map.rows[row];
	const struct stat *s = &r->stat;
	const struct sums *m = &k->sums[row];
	const char *shapes = shapes__text(&k->shapes, r->key.child);
	const char *source = sources__text(&k->sources, r->key.child);
	auto_free char *callers = callers__text(a, &k->callers, r->key.child);
	auto_free char *label = by_name__label(a, r->key.id);
	struct cell cells[19];
	size_t n = 0;

	if (!callers || !label)
		return -ENOMEM;
	cells[n++] = cell__text(label);
	cells[n++] = cell__share(m->self_cpu_ns, w->self_cpu_ns);
	cells[n++] = cell__time(m->self_cpu_ns);
	cells[n++] = cell__share(s->cpu.total, w->self_cpu_ns);
	cells[n++] = cell__time(s->cpu.total);
	cells[n++] = average(&s->cpu, s->calls);
	if (a->has_device) {
		cells[n++] = cell__time(m->self_gpu_ns);
		cells[n++] = cell__share(m->self_gpu_ns, w->gpu_ns);
		cells[n++] = cell__time(s->gpu.total);
		cells[n++] = average(&s->gpu, s->calls);
	}
	for (enum place p = HOST; p < PLACES; p++)
		if (k->memory[p]) {
			cells[n++] = cell__bytes(m->bytes[p]);
			cells[n++] = cell__bytes(m->self_bytes[p]);
		}
	cells[n++] = cell__count(s->calls);
	if (a->opts->group_by == GROUP_BY_SHAPE)
		cells[n++] = shapes ? cell__text(shapes) : cell__none("no shapes were recorded");
	if (by_source(a))
		cells[n++] = source	     ? cell__text(source)
			     : r->key.device ? cell__none("it ran on a device")
					     : cell__none("no stack of Python was read for it");
	else if (a->opts->group_by == GROUP_BY_STACK)
		cells[n++] = *callers	     ? cell__text(callers)
			     : r->key.device ? cell__none("it ran on a device")
					     : cell__none("nothing that was recorded called it");
	if (k->any_flops) {
		cells[n++] = flops_sum__cell(&m->flops);
		cells[n++] = flops_sum__rate(&m->flops, s);
	}
	return table__add_row(t, 0, cells);
}

/* The index of the cell with the number of calls. */
static size_t calls_column(const struct analysis *a, const struct averages *k)
{
	return 6 + (a->has_device ? 4u : 0u) + (k->memory[HOST] ? 2u : 0u) +
	       (k->memory[DEVICE] ? 2u : 0u);
}

/* The place of an estimated row in the order. */
static double estimate_of(const struct left_out_row *e, int measure)
{
	switch (measure) {
	case BY_CPU_TOTAL:
	case BY_SELF_CPU:
		return (double)e->all_ns;
	case BY_CPU:
		return (double)e->all_ns / (double)e->all_calls;
	case BY_COUNT:
		return (double)e->all_calls;
	default:
		return -HUGE_VAL;
	}
}

static int add_estimate(const struct analysis *a, const struct averages *k, struct table *t,
			const struct left_out_row *e, const struct wholes *w)
{
	static const char why[] = "not measured in the window";
	struct cell cells[19];
	size_t n = 0;

	cells[n++] = cell__text(e->name);
	cells[n++] = cell__share(e->all_ns, w->self_cpu_ns);
	cells[n++] = cell__time(e->all_ns);
	cells[n++] = cell__share(e->all_ns, w->self_cpu_ns);
	cells[n++] = cell__time(e->all_ns);
	cells[n++] = cell__time((e->all_ns + e->all_calls / 2) / e->all_calls);
	while (n < calls_column(a, k))
		cells[n++] = cell__none(why);
	cells[n++] = cell__count(e->all_calls);
	while (n < ARRAY_SIZE(cells))
		cells[n++] = cell__none(why);
	return table__add_estimate(t, 0, cells);
}

/* Memory outside of all events: the profiler has the row "[memory]" for it. */
static int add_outside(const struct averages *k, struct table *t)
{
	static const char *const names[] = {[HOST] = "CPU", [DEVICE] = "GPU"};
	int err = 0;

	for (enum place p = HOST; p < PLACES && !err; p++)
		if (k->outside_cnt[p])
			err = table__add_notef(
				t,
				"Outside of all events: %lld bytes of %s memory, in %llu "
				"allocations and frees.",
				(long long)k->outside_bytes[p], names[p],
				(unsigned long long)k->outside_cnt[p]);
	return err;
}

static int add_footer(const struct analysis *a, const struct averages *k, const struct wholes *w,
		      struct table *t)
{
	int err = table__add_notef(t, "Self CPU time total: %s",
				   time_text(a, w->self_cpu_ns - w->estimated_ns).s);

	if (!err && w->estimated_ns)
		err = table__add_notef(
			t,
			"Shares: of that and of %s of estimated rows (~), whose time is in what is "
			"around or before them, too.",
			time_text(a, w->estimated_ns).s);

	if (!err && a->has_device)
		err = table__add_notef(t, "Self GPU time total: %s", time_text(a, w->gpu_ns).s);
	if (!err && a->has_device)
		err = table__add_note(t, GPU_OWNER_TIME);
	if (!err)
		err = table__note_cut(t, &k->map);
	if (!err && by_source(a))
		err = table__add_note(
			t, "Source Location: lines of Python, the innermost first; of "
			   "backward nodes that of the operator that they differentiate.");
	else if (!err && a->opts->group_by == GROUP_BY_STACK)
		err = table__add_note(t, "Called From: the operators and ranges around it, the "
					 "innermost first; frames of Python were not recorded "
					 "(--with-stack).");
	if (!err && k->any_flops)
		err = flops_sum__note(a->r, w->flops_unknown, t);
	if (!err && a->opts->group_by == GROUP_BY_SHAPE && !k->any_shape)
		err = table__add_note(
			t,
			"Rows are by name: no shapes were recorded; --record-shapes records them.");
	return err;
}

/* Adds the rows [order, order + cnt), which are one section. */
static int fill_section(const struct analysis *a, const struct averages *k, struct table *t,
			struct ordered *order, size_t cnt)
{
	struct wholes w = {};
	int err = 0;

	for (size_t i = 0; i < cnt; i++) {
		if (order[i].row >= k->map.cnt) {
			w.estimated_ns += k->estimates.items[order[i].row - k->map.cnt].all_ns;
			continue;
		}
		w.self_cpu_ns += k->sums[order[i].row].self_cpu_ns;
		w.flops_unknown += k->sums[order[i].row].flops.unknown;
		if (k->map.rows[order[i].row].key.device)
			w.gpu_ns += k->sums[order[i].row].self_gpu_ns;
	}
	w.self_cpu_ns += w.estimated_ns;
	ordered__sort(a, order, cnt);
	for (size_t i = 0; i < cnt && !err; i++)
		err = order[i].row < k->map.cnt
			      ? add_row(a, k, t, order[i].row, &w)
			      : add_estimate(a, k, t,
					     &k->estimates.items[order[i].row - k->map.cnt], &w);
	return err ? err : add_footer(a, k, &w, t);
}

static size_t rows_of_group(const struct analysis *a, const struct averages *k, uint32_t group,
			    struct ordered *out)
{
	const int measure = measure_of(a, k);
	size_t cnt = 0;

	for (size_t i = 0; i < k->map.cnt; i++)
		if (k->map.rows[i].key.group == group)
			out[cnt++] = (struct ordered){value_of(k, i, measure),
						      analysis__name(a, k->map.rows[i].key.id), i};
	/* With sections by thread, an estimated row's thread is unknown. */
	for (size_t i = 0; group == GROUP_MAIN && !a->opts->by_thread && i < k->estimates.cnt; i++)
		out[cnt++] = (struct ordered){estimate_of(&k->estimates.items[i], measure),
					      k->estimates.items[i].name, k->map.cnt + i};
	return cnt;
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	struct averages *k = state;
	int err = left_out__read(a->r, LEFT_OUT_OPERATORS, a->steps.calls, &k->estimates);
	const size_t all = k->map.cnt + (a->opts->by_thread ? 0 : k->estimates.cnt);
	auto_free struct ordered *order = calloc(all + 1, sizeof(*order));
	uint32_t last = 0;
	size_t done = 0;

	table__set_estimates(t);
	if (!err)
		err = order ? add_columns(a, k, t) : -ENOMEM;

	for (size_t i = 0; i < k->map.cnt; i++)
		if (k->map.rows[i].key.group > last)
			last = k->map.rows[i].key.group;
	for (uint32_t group = 0; group <= last && !err; group++) {
		size_t cnt = rows_of_group(a, k, group, order);

		if (cnt && cnt < all)
			err = by_name__add_section(a, t, group, NULL);
		if (!err && cnt)
			err = fill_section(a, k, t, order, cnt);
		done += cnt;
	}
	if (!err && !done)
		err = table__add_note(t, "No event was seen in the window.");
	if (!err && a->opts->by_thread)
		err = left_out__note_missing(a, t);
	else if (!err)
		err = left_out_rows__note(&k->estimates, t);
	if (!err)
		err = add_outside(k, t);
	return err ? err : describe_order(a, k, t);
}

static void clean(void *state)
{
	struct averages *k = state;

	stat_map__free(&k->map);
	free(k->sums);
	flops_names__free(&k->flops_names);
	shapes__free(&k->shapes);
	callers__free(&k->callers);
	sources__free(&k->sources);
	left_out_rows__free(&k->estimates);
}

const struct table_impl table_key_averages = {
	.def = {"key_averages", "PyTorch's: events by name (--group-by), self and total", false,
		words, USES_BY_THREAD | USES_GROUP_BY | USES_OP},
	.title = "Key Averages",
	.rests_on_device = true,
	.state_size = sizeof(struct averages),
	.visit = visit,
	.fill = fill,
	.clean = clean,
};
