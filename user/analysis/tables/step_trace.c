// SPDX-License-Identifier: BSD-2-Clause
/*
 * MindSpore's step trace. A step begins with an interval until the forward pass. Then come forward
 * and backward, from the begin of the one to the end of the other. The rest is the tail.
 */
#include <stdlib.h>
#include "analysis/analysis.h"
#include "common/util.h"

struct trace {
	struct trace_step {
		uint64_t index, total_ns, forward_ns, backward_end_ns; /* offsets from the step's
									  begin */
		bool forward, backward;
	} *items;
	size_t cnt, cap;
};

static void take(struct trace_step *t, const struct step *step, const struct span *s)
{
	for (; s; s = s->next_sibling) {
		uint64_t begin = s->ev.ts_ns > step->ts_ns ? s->ev.ts_ns - step->ts_ns : 0;
		uint64_t end = s->ev.ts_ns + s->ev.dur_ns;

		end = end > step->ts_ns ? end - step->ts_ns : 0;
		if (s->kind == KIND_FORWARD && (!t->forward || begin < t->forward_ns)) {
			t->forward = true;
			t->forward_ns = begin;
		}
		if (s->kind == KIND_BACKWARD && (!t->backward || end > t->backward_end_ns)) {
			t->backward = true;
			t->backward_end_ns = end < t->total_ns ? end : t->total_ns;
		}
		if (!span_kind__is_phase(s->kind))
			take(t, step, s->first_child);
	}
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct trace *t = state;
	struct trace_step one = {};

	if (!b->step)
		return 0;
	one.index = b->step->index;
	one.total_ns = b->step->dur_ns;
	for (size_t i = 0; i < b->track_cnt; i++)
		if (b->tracks[i].track->id == b->step->track)
			take(&one, b->step, b->tracks[i].roots);
	return ARRAY_PUSH(t->items, t->cnt, t->cap, one);
}

/* Does the step have both passes? A step without them is no step of training. */
static bool is_whole(const struct trace_step *s)
{
	return s->forward && s->backward && s->forward_ns <= s->backward_end_ns;
}

static int add_row(struct table *t, const char *name, const struct trace_step *s)
{
	const char *why = "the step has no forward and backward pass";
	struct cell cells[] = {
		cell__text(name), cell__time(s->total_ns), cell__none(why),
		cell__none(why),  cell__none(why),
	};

	if (is_whole(s)) {
		cells[2] = cell__time(s->forward_ns);
		cells[3] = cell__time(s->backward_end_ns - s->forward_ns);
		cells[4] = cell__time(s->total_ns - s->backward_end_ns);
	}
	return table__add_row(t, 0, cells);
}

static int add_average(const struct trace *trace, struct table *t)
{
	struct trace_step mean = {.forward = true, .backward = true};
	uint64_t cnt = 0;
	int err;

	for (size_t i = 0; i < trace->cnt; i++) {
		const struct trace_step *s = &trace->items[i];

		if (!is_whole(s))
			continue;
		mean.total_ns += s->total_ns;
		mean.forward_ns += s->forward_ns;
		mean.backward_end_ns += s->backward_end_ns;
		cnt++;
	}
	if (!cnt)
		return table__add_note(t, trace->cnt ? "No step had a forward and a backward pass."
						     : "No step was recorded.");
	mean.total_ns /= cnt;
	mean.forward_ns /= cnt;
	mean.backward_end_ns /= cnt;
	err = add_row(t, "average", &mean);
	if (!err)
		table__keep_last(t);
	return err;
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	const struct column columns[] = {
		{"step", "Step", 8, NULL, CELL_TEXT},
		{"total", "Total", 10, NULL, CELL_TIME},
		{"iteration_interval", "Interval", 10, NULL, CELL_TIME},
		{"fp_and_bp", "Forward+Backward", 10, NULL, CELL_TIME},
		{"tail", "Tail", 10, NULL, CELL_TIME},
	};
	const struct trace *trace = state;
	int err = table__add_columns(t, columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < trace->cnt && !err; i++) {
		char name[24];

		snprintf(name, sizeof(name), "%llu", (unsigned long long)trace->items[i].index);
		err = add_row(t, name, &trace->items[i]);
	}
	if (!err)
		err = add_average(trace, t);
	if (!err && a->steps.calls)
		err = table__add_note(
			t, "Interval: from the step's begin to the forward pass; forward and "
			   "backward: "
			   "from the begin of the one to the end of the other; tail: all behind. "
			   "Times are as measured, the cost of the probes included.");
	return err;
}

static void clean(void *state)
{
	free(((struct trace *)state)->items);
}

const struct table_impl table_step_trace = {
	.def = {"step_trace", "MindSpore's: interval, forward and backward, tail of each step",
		false},
	.title = "Step Trace",
	.state_size = sizeof(struct trace),
	.visit = visit,
	.fill = fill,
	.clean = clean,
};
