// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/tables/awaited.h"
#include "analysis/thread_times.h"
#include <string.h>

struct part {
	uint64_t begin, end;
};

/* The part of a span that lies in the step. Empty if end is not after begin. */
static struct part within(const struct step *step, const struct span *s)
{
	const uint64_t step_end = step->ts_ns + step->dur_ns, span_end = s->ev.ts_ns + s->ev.dur_ns;

	return (struct part){
		.begin = s->ev.ts_ns > step->ts_ns ? s->ev.ts_ns : step->ts_ns,
		.end = span_end < step_end ? span_end : step_end,
	};
}

bool awaited__is_call(const struct analysis *a, const struct span *s)
{
	const char *name = analysis__name(a, s->ev.name);

	return s->kind == KIND_OTHER && (strstr(name, "Wait") || strstr(name, "Sync"));
}

static bool is_in_phase(const struct span *s)
{
	return span_kind__is_phase(s->kind) || s->phase != KIND_OTHER;
}

static int add_span(const struct analysis *a, struct awaited *w, const struct step *step,
		    const struct span *s, bool own)
{
	const bool in_phase = is_in_phase(s);
	const struct part t = within(step, s);
	int err = 0;

	if (t.begin >= t.end)
		return 0;
	if (in_phase)
		err = interval_union__add(&w->phases, t.begin, t.end);
	else if (own && awaited__is_call(a, s))
		w->calls_ns += t.end - t.begin;
	if (!err && (in_phase || (!own && s->kind == KIND_OPERATOR)))
		err = interval_union__add(&w->busy, t.begin, t.end);
	return err;
}

/* A span in a phase, and all inside it, counts for the phase on any thread. */
static int add_spans(const struct analysis *a, struct awaited *w, const struct step *step,
		     const struct span *s, bool own)
{
	int err = 0;

	for (; s && !err; s = s->next_sibling) {
		err = add_span(a, w, step, s, own);
		if (!err && !is_in_phase(s))
			err = add_spans(a, w, step, s->first_child, own);
	}
	return err;
}

int awaited__add(const struct analysis *a, struct awaited *w, const struct batch *b)
{
	uint64_t phases_ns, busy_ns;
	int err = 0;

	if (!b->step)
		return 0;
	w->others_ns += b->step->phase_ns[KIND_OTHER];
	w->track = b->step->track;
	interval_union__clear(&w->phases);
	interval_union__clear(&w->busy);
	for (size_t i = 0; i < b->track_cnt && !err; i++) {
		const struct track_batch *t = &b->tracks[i];
		const bool own = t->track->id == b->step->track;

		if (!analysis__is_main(a, t->track))
			continue;
		err = add_spans(a, w, b->step, t->roots, own);
	}
	if (err)
		return err;
	phases_ns = interval_union__length(&w->phases);
	busy_ns = interval_union__length(&w->busy);
	w->elsewhere_ns += busy_ns > phases_ns ? busy_ns - phases_ns : 0;
	return 0;
}

/* How long the thread may have waited for other threads: neither running nor waiting for data. */
static uint64_t idle_ns(const struct analysis *a, const struct awaited *w)
{
	const uint64_t loader_ns = a->phases[KIND_DATALOADER].cpu.total;
	struct thread_times times;

	if (!thread_times__of(a, w->track, &times))
		return UINT64_MAX;
	return times.blocked_ns > loader_ns ? times.blocked_ns - loader_ns : 0;
}

uint64_t awaited__ns(const struct analysis *a, const struct awaited *w)
{
	const uint64_t idle = idle_ns(a, w);
	uint64_t ns = w->elsewhere_ns < idle ? w->elsewhere_ns : idle;

	ns = ns > w->calls_ns ? ns : w->calls_ns;
	return ns < w->others_ns ? ns : w->others_ns;
}

void awaited__free(struct awaited *w)
{
	interval_union__free(&w->phases);
	interval_union__free(&w->busy);
}
