// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/job/rank_times.h"
#include "analysis/analysis.h"
#include "analysis/losses.h"
#include "analysis/step_parts.h"
#include "common/util.h"
#include "model/device_info.h"
#include <stdlib.h>
#include <string.h>

/* a launch takes some us; a launch that is blocked by the device takes ms */
#define BLOCKED_NS 100000

struct reading {
	const struct recording *r;
	struct rank_times *times;
	/* what reaches into the next step or further */
	struct interval_union collectives, compute, blocked;
};

/* interval_union__add() may fold intervals that overlap() needs, so this keeps all. */
static int add(struct interval_union *u, const struct event *e)
{
	const struct stretch i = {e->ts_ns, e->ts_ns + e->dur_ns};

	return i.begin < i.end ? ARRAY_PUSH(u->items, u->cnt, u->cap, i) : 0;
}

static void forget_until(struct interval_union *u, uint64_t ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < u->cnt; i++)
		if (u->items[i].end > ns)
			u->items[kept++] = u->items[i];
	u->cnt = kept;
}

static uint64_t overlap(const struct interval_union *u, uint64_t begin, uint64_t end)
{
	uint64_t length = 0;

	for (size_t i = 0; i < u->cnt; i++) {
		uint64_t from = u->items[i].begin > begin ? u->items[i].begin : begin;
		uint64_t to = u->items[i].end < end ? u->items[i].end : end;

		length += from < to ? to - from : 0;
	}
	return length;
}

/* Notes when a collective of this step ended, for the comparison of hosts' clocks. */
static int note_end(struct reading *rd, const struct step *step, uint32_t name,
		    const struct event *e)
{
	const struct name *n = step && name ? recording__name(rd->r, name) : NULL;

	return n ? collective_ends__add(&rd->times->ends, step->index, n->text, e->ts_ns,
					e->ts_ns + e->dur_ns)
		 : 0;
}

static int gather_device(struct reading *rd, const struct step *step, const struct span *s)
{
	int err = 0;

	for (; s && !err; s = s->next_sibling) {
		bool is_collective;

		if (s->kind != KIND_KERNEL)
			continue;
		is_collective = kernel_name__is_collective(span__name(rd->r, s));
		rd->times->has_device = true;
		rd->times->waits |= is_collective;
		err = add(is_collective ? &rd->collectives : &rd->compute, &s->ev);
		if (!err && step && s->launch)
			err = launched__add(&rd->times->launched, step, &s->ev, is_collective);
		if (!err && is_collective && s->launch)
			err = note_end(rd, step, s->ev.name, &s->ev);
	}
	return err;
}

/* Was this call blocked by the device, by a full queue or by work that it waits for? A thread other
 * than the step's, such as a data loader's, does not hold up the step. There only an operator's
 * calls count. */
static bool is_blocked(const struct batch *b, const struct track_batch *t, const struct span *s)
{
	return s->kind == KIND_RUNTIME && s->ev.dur_ns >= BLOCKED_NS && b->step &&
	       (s->parent || t->track->id == b->step->track);
}

/* Does the call only ask MXNet's engine for the exchange? The engine does the exchange and
 * waits. */
static bool only_asks(const struct reading *rd, const struct span *s)
{
	return !strncmp(span__name(rd->r, s), "MXKVStore", strlen("MXKVStore"));
}

/* Gathers calls that do the exchange themselves, or wait for it. */
static int gather_host(struct reading *rd, const struct batch *b, const struct track_batch *t)
{
	int err = 0;

	for (const struct span *s = t->roots; s && !err; s = span__next(s, NULL)) {
		if (s->kind == KIND_COMMUNICATION) {
			*(only_asks(rd, s) ? &rd->times->asks : &rd->times->waits) = true;
			err = add(&rd->collectives, &s->ev);
			if (!err)
				err = note_end(rd, b->step, s->ev.name, &s->ev);
		} else if (is_blocked(b, t, s)) {
			err = add(&rd->blocked, &s->ev);
		}
	}
	return err;
}

static int gather(struct reading *rd, const struct batch *b)
{
	int err = 0;

	for (size_t i = 0; i < b->other_cnt && !err; i++)
		if (analysis__is_collective(rd->r, &b->others[i])) {
			rd->times->waits = true;
			err = add(&rd->collectives, &b->others[i]);
			if (!err)
				err = note_end(rd, b->step, b->others[i].name, &b->others[i]);
		}
	for (size_t i = 0; i < b->track_cnt && !err; i++)
		err = b->tracks[i].track->kind == TRACK_DEVICE
			      ? gather_device(rd, b->step, b->tracks[i].roots)
			      : gather_host(rd, b, &b->tracks[i]);
	return err;
}

static void overlap_spans(const struct interval_union *u, const struct span *s, uint64_t *hidden)
{
	for (; s; s = s->next_sibling) {
		if (span_kind__is_phase(s->kind))
			hidden[s->kind] += overlap(u, s->ev.ts_ns, s->ev.ts_ns + s->ev.dur_ns);
		else
			overlap_spans(u, s->first_child, hidden);
	}
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Adds to ns the time of each part of the step outside of the intervals. Returns the length of the
 * intervals. */
static uint64_t add_phases_without(struct interval_union *u, const struct batch *b, uint64_t *ns)
{
	const uint64_t begin = b->step->ts_ns, end = begin + b->step->dur_ns;
	uint64_t hidden[KIND_CNT] = {0}, phases = 0, length;

	interval_union__merge(u);
	length = overlap(u, begin, end);
	for (size_t i = 0; i < b->track_cnt; i++)
		if (b->tracks[i].track->id == b->step->track)
			overlap_spans(u, b->tracks[i].roots, hidden);
	for (size_t p = 0; p < STEP_PHASES; p++) {
		const enum span_kind kind = step_parts[p].kind;
		const uint64_t part = less(b->step->phase_ns[kind], hidden[kind]);

		ns[kind] += part;
		phases += part;
	}
	ns[KIND_OTHER] += less(b->step->cpu_ns, phases + length);
	forget_until(u, end);
	return length;
}

static void add_step(struct reading *rd, const struct batch *b)
{
	const uint64_t begin = b->step->ts_ns, end = begin + b->step->dur_ns;
	struct rank_times *t = rd->times;
	uint64_t collective_ns;

	if (!t->steps++) {
		t->begin_ns = begin;
		t->first_step = b->step->index;
	}
	t->end_ns = end;
	t->last_step = b->step->index;
	t->track = b->step->track;
	coverage__add_step(&t->coverage, b->step);
	t->step_ns += b->step->cpu_ns;
	collective_ns = add_phases_without(&rd->collectives, b, t->phase_ns);
	t->collective_ns += collective_ns;
	t->collective_sq += (double)collective_ns * (double)collective_ns;
	t->blocked_ns += add_phases_without(&rd->blocked, b, t->host_ns);
	interval_union__merge(&rd->compute);
	t->compute_ns += overlap(&rd->compute, begin, end);
	forget_until(&rd->compute, end);
}

static int visit(const struct batch *b, void *ctx)
{
	struct reading *rd = ctx;
	int err = gather(rd, b);

	if (!err && b->step)
		add_step(rd, b);
	return err;
}

uint64_t rank_times__per_step(const struct rank_times *t, uint64_t ns)
{
	return t->steps ? ns / t->steps : 0;
}

int rank_times__read(const struct recording *r, bool raw_times, struct rank_times *out)
{
	struct reading rd = {.r = r, .times = out};
	struct analysis a = {.r = r};
	struct model_opts opts = {.raw_times = raw_times, .stats = &a.model};
	const json_t *rank = json_object_get(json_object_get(recording__meta(r), "rank"), "rank");
	int err;

	*out = (struct rank_times){
		.rank = json_is_integer(rank) ? (int)json_integer_value(rank) : -1,
		.pid = analysis__main_pid(r),
		.coverage = coverage__of(r),
		.timer_only = recording__is_timer_only(r),
	};
	err = model__run(r, &opts, visit, &rd);
	if (!err)
		err = launched__end(&out->launched);
	collective_ends__sort(&out->ends);
	interval_union__merge(&rd.collectives);
	out->behind_ns = out->steps ? overlap(&rd.collectives, out->end_ns, UINT64_MAX) : 0;
	out->why_unsure = losses__why_unsure(&a);
	interval_union__free(&rd.collectives);
	interval_union__free(&rd.compute);
	interval_union__free(&rd.blocked);
	return err;
}

void rank_times__free(struct rank_times *t)
{
	launched__free(&t->launched);
	collective_ends__free(&t->ends);
}
