// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/series.h"
#include <stdlib.h>
#include <string.h>
#include "analysis/step_parts.h"
#include "common/util.h"

struct reading {
	const struct recording *r;
	struct series_set *set;
	/* number of a name's series + 1, by kind and name id */
	uint32_t *slots[SERIES_KIND_CNT];
};

/* All series have room for as many steps. */
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

/* Of the step that is being read. */
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
	return 0;
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
	"it had no probe in one recording, too short to be worth one (--keep-all)";

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
	*s = (struct series_set){0};
}
