// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/series.h"
#include <stdlib.h>
#include <string.h>
#include "analysis/step_parts.h"
#include "common/util.h"
#include "model/device_clock.h"

#define SERIES_DEVICES 64

struct reading {
	const struct recording *r;
	struct series_set *set;
	/* by kind and name id: index of the series, + 1 */
	uint32_t *slots[SERIES_KIND_CNT];
	struct step_of {
		uint64_t index, probes_ns, begin_ns, end_ns;
	} *steps;
	struct busy_time devices[SERIES_DEVICES];
	size_t step_cnt, step_cap;
	uint32_t track; /* of the thread of the steps */
};

/* All series get room for the same number of steps. */
static int grow_steps(struct series_set *s)
{
	size_t cap = s->step_cap ? 2 * s->step_cap : 64;

	if (s->step_cnt < s->step_cap)
		return 0;
	for (size_t i = 0; i < s->cnt; i++) {
		uint64_t *ns = realloc(s->items[i].ns, cap * sizeof(*ns));

		if (!ns)
			return -ENOMEM;
		memset(ns + s->step_cap, 0, (cap - s->step_cap) * sizeof(*ns));
		s->items[i].ns = ns;
	}
	s->step_cap = cap;
	return 0;
}

static struct series *new_series(struct series_set *s, enum series_kind kind, const char *name)
{
	struct series one = {
		.kind = kind, .name = name, .ns = calloc(s->step_cap + 1, sizeof(*one.ns))};

	if (!one.ns || ARRAY_PUSH(s->items, s->cnt, s->cap, one)) {
		free(one.ns);
		return NULL;
	}
	return &s->items[s->cnt - 1];
}

/* Adds a time to the step that is being read. */
static int add(struct reading *rd, enum series_kind kind, const struct span *span, uint64_t ns)
{
	uint32_t *slot = &rd->slots[kind][span->ev.name];
	struct series *s = *slot ? &rd->set->items[*slot - 1]
				 : new_series(rd->set, kind, span__name(rd->r, span));

	if (!s)
		return -ENOMEM;
	*slot = (uint32_t)(s - rd->set->items) + 1;
	s->ns[rd->set->step_cnt] += ns;
	s->calls++;
	return 0;
}

static int add_spans(struct reading *rd, const struct span *roots)
{
	int err = 0;

	for (const struct span *s = roots; s && !err; s = span__next(s, NULL)) {
		if (s->kind == KIND_OPERATOR || s->kind == KIND_PYTHON_OP)
			err = add(rd, SERIES_OPERATOR, s, s->cpu_ns);
		else if (s->kind == KIND_KERNEL)
			err = add(rd, SERIES_KERNEL, s, s->ev.dur_ns);
	}
	return err;
}

static int visit(const struct batch *b, void *ctx)
{
	struct reading *rd = ctx;
	struct series_set *set = rd->set;
	int err;

	if (!b->step)
		return 0;
	err = grow_steps(set);
	for (size_t i = 0; i < b->track_cnt && !err; i++)
		err = set->timer_only ? 0 : add_spans(rd, b->tracks[i].roots);
	if (err)
		return err;
	set->items[0].ns[set->step_cnt] = b->step->cpu_ns;
	set->items[0].calls++;
	for (size_t i = 0; i < STEP_PARTS; i++) {
		uint64_t ns = b->step->phase_ns[step_parts[i].kind];

		if (set->timer_only && !step_part__is_timed(i))
			continue;

		set->items[1 + i].ns[set->step_cnt] = ns;
		set->items[1 + i].calls += ns > 0;
	}
	set->step_cnt++;
	rd->track = b->step->track;
	return ARRAY_PUSH(rd->steps, rd->step_cnt, rd->step_cap,
			  ((struct step_of){b->step->index, b->step->dur_ns - b->step->cpu_ns,
					    b->step->ts_ns, b->step->ts_ns + b->step->dur_ns}));
}

/* ---- how busy the devices are ---- */

static int add_work(const struct device_work *w, void *ctx)
{
	struct reading *rd = ctx;
	const int device = w->track->device;

	if (w->kind == KIND_KERNEL && device >= 0 && device < SERIES_DEVICES)
		busy_time__add(&rd->devices[device], w->begin_ns, w->end_ns);
	return 0;
}

static int read_devices(struct reading *rd)
{
	struct device_clock *clock;
	uint64_t steps_ns = 0, most_ns = 0;
	int err = device_clock__open(rd->r, &clock);

	if (err)
		return err;
	for (size_t i = 0; i < rd->step_cnt && !err; i++) {
		const struct step_of *s = &rd->steps[i];

		steps_ns += s->end_ns - s->begin_ns;
		err = device_clock__between(clock, s->begin_ns, s->end_ns, add_work, rd);
	}
	device_clock__close(clock);
	for (size_t i = 0; i < SERIES_DEVICES; i++)
		if (rd->devices[i].total_ns > most_ns)
			most_ns = rd->devices[i].total_ns;
	rd->set->device_busy = steps_ns ? (double)most_ns / (double)steps_ns : 0;
	return err;
}

static bool has_kernels(const struct series_set *s)
{
	for (size_t i = 0; i < s->cnt; i++)
		if (s->items[i].kind == SERIES_KERNEL)
			return true;
	return false;
}

/* ---- the thread's states ---- */

static void add_states(const struct reading *rd, uint64_t *run_ns, uint64_t *ready_ns)
{
	const struct sched_row *rows;
	const size_t cnt = recording__sched(rd->r, &rows);

	for (size_t i = 0; i < cnt; i++) {
		const struct sched_row *r = &rows[i];
		const size_t at = COUNT_FIRST(rd->step_cnt, k, rd->steps[k].index < r->step);

		if (r->track != rd->track || at == rd->step_cnt || rd->steps[at].index != r->step)
			continue;
		if (r->state == SCHED_RUN)
			run_ns[at] += r->ns;
		else if (r->state == SCHED_RUNNABLE)
			ready_ns[at] += r->ns;
		else
			continue;
		rd->set->has_ready = true;
	}
}

static uint64_t less(uint64_t ns, uint64_t part_ns)
{
	return ns > part_ns ? ns - part_ns : 0;
}

/* A step's probes run on its thread, so their cost is subtracted from the thread's times. */
static int read_states(struct reading *rd)
{
	struct series_set *s = rd->set;
	auto_free uint64_t *run_ns = calloc(s->step_cnt + 1, sizeof(*run_ns));
	auto_free uint64_t *ready_ns = calloc(s->step_cnt + 1, sizeof(*ready_ns));
	double ready = 0, all = 0;
	struct series *run;

	s->less_ready_ns = calloc(s->step_cnt + 1, sizeof(*s->less_ready_ns));
	if (!run_ns || !ready_ns || !s->less_ready_ns)
		return -ENOMEM;
	add_states(rd, run_ns, ready_ns);
	for (size_t i = 0; i < s->step_cnt; i++) {
		s->less_ready_ns[i] = less(s->items[0].ns[i], ready_ns[i]);
		ready += (double)less(s->items[0].ns[i], s->less_ready_ns[i]);
		all += (double)s->items[0].ns[i];
	}
	s->ready_share = all > 0 ? ready / all : 0;
	if (!s->has_ready)
		return 0;
	run = new_series(s, SERIES_STEP, SERIES_RUN_NAME);
	for (size_t i = 0; run && i < s->step_cnt; i++)
		run->ns[i] = less(run_ns[i], rd->steps[i].probes_ns);
	if (run)
		run->calls = s->step_cnt;
	return run ? 0 : -ENOMEM;
}

static bool is_phase_only(const struct recording *r)
{
	const char *detail = json_string_value(json_object_get(recording__meta(r), "detail"));

	return detail && !strcmp(detail, "phase");
}

int series_set__read(const struct recording *r, bool raw_times, struct series_set *out)
{
	const struct model_opts opts = {.raw_times = raw_times};
	struct reading rd = {.r = r, .set = out};
	int err = 0;

	*out = (struct series_set){
		.timer_only = recording__is_timer_only(r),
		.phase_only = is_phase_only(r),
		.no_probe = json_object_get(recording__summary(r), "dropped_probes")};
	for (int kind = 0; kind < SERIES_KIND_CNT && !err; kind++) {
		rd.slots[kind] = calloc(recording__name_cnt(r) + 1, sizeof(*rd.slots[kind]));
		err = rd.slots[kind] ? 0 : -ENOMEM;
	}
	if (!err && !new_series(out, SERIES_STEP, "step"))
		err = -ENOMEM;
	for (size_t i = 0; i < STEP_PARTS && !err; i++)
		err = new_series(out, SERIES_PHASE, step_parts[i].key) ? 0 : -ENOMEM;
	if (!err)
		err = model__run(r, &opts, visit, &rd);
	if (!err)
		err = read_states(&rd);
	if (!err && has_kernels(out))
		err = read_devices(&rd);
	free(rd.steps);
	for (int kind = 0; kind < SERIES_KIND_CNT; kind++)
		free(rd.slots[kind]);
	if (err)
		series_set__free(out);
	return err;
}

static bool is_timed(enum series_kind kind, const char *name)
{
	for (size_t i = 0; kind == SERIES_PHASE && i < STEP_PARTS; i++)
		if (!strcmp(step_parts[i].key, name))
			return step_part__is_timed(i);
	return kind == SERIES_STEP;
}

const char series_no_probe[] =
	"it had no probe in one recording, too short to be worth one (--no-prune)";

static bool had_no_probe(const struct series_set *s, const char *name)
{
	for (size_t i = 0; i < json_array_size(s->no_probe); i++) {
		const json_t *item = json_array_get(s->no_probe, i);
		const char *one = json_string_value(json_object_get(item, "name"));

		if (one && !strcmp(one, name))
			return true;
	}
	return false;
}

const char *series_set__unrecorded(const struct series_set *s, enum series_kind kind,
				   const char *name)
{
	if (s->timer_only && !is_timed(kind, name))
		return "--timer-only did not record it";
	if (s->phase_only && kind == SERIES_OPERATOR && !series_set__find(s, kind, name))
		return "--detail phase did not record it";
	if (kind == SERIES_OPERATOR && had_no_probe(s, name) && !series_set__find(s, kind, name))
		return series_no_probe;
	return NULL;
}

const struct series *series_set__find(const struct series_set *s, enum series_kind kind,
				      const char *name)
{
	for (size_t i = 0; i < s->cnt; i++)
		if (s->items[i].kind == kind && !strcmp(s->items[i].name, name))
			return &s->items[i];
	return NULL;
}

void series_set__free(struct series_set *s)
{
	for (size_t i = 0; i < s->cnt; i++)
		free(s->items[i].ns);
	free(s->items);
	free(s->less_ready_ns);
	*s = (struct series_set){0};
}
