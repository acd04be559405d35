// SPDX-License-Identifier: BSD-2-Clause
/* The foot of every report: what was lost or left out, and what the recording cost. */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include "analysis/left_out.h"
#include "analysis/losses.h"
#include "analysis/tables/facts.h"
#include "analysis/tables/own_cost.h"
#include "common/json_number.h"
#include "common/counted.h"
#include "common/util.h"

#define TOLD_FROM 0.005 /* share of the time from which on a wait is printed */
/* factor on --max-overhead: the estimate and the choice of probes are of different steps */
#define OVERSPENT 1.2

static int add_list(struct table *t, const json_t *list, const char *intro)
{
	const json_t *item;
	size_t i;
	int err = 0;

	json_array_foreach((json_t *)list, i, item)
	{
		if (!err && json_is_string(item))
			err = table__add_notef(t, "%s%s", intro, json_string_value(item));
	}
	return err;
}

static int add_left_out(const struct analysis *a, struct table *t)
{
	const size_t operators = left_out__cnt(a, LEFT_OUT_OPERATORS);
	const size_t calls = left_out__cnt(a, LEFT_OUT_DEVICE_CALLS);

	if (!operators && !calls)
		return 0;
	return table__as_legend(
		t, table__add_notef(t,
				    "%s had no probe in the window, on average too short to be "
				    "worth one, or backward "
				    "nodes beside such: their time is in what is around or before "
				    "them. The %s them, "
				    "--no-prune records them.",
				    counted(operators + calls, "function", "functions").s,
				    !calls	 ? "operator table estimates"
				    : !operators ? "device call table estimates"
						 : "operator and device call tables estimate"));
}

static int add_order(const struct analysis *a, struct table *t)
{
	const struct model_stats *m = &a->model;

	if (!m->before_launch)
		return 0;
	return table__add_notef(
		t,
		"%llu of %s before the call that launched them, by up to %.3f ms: the clock of the "
		"device's times is off. So the time at which things ran, queue delays and what the "
		"device did meanwhile are wrong; durations are right.",
		(unsigned long long)m->before_launch,
		counted(m->linked, "kernel, copy or set begins", "kernels, copies and sets begin")
			.s,
		(double)m->before_launch_ns / 1e6);
}

/* A wait does not end before what it waits for. With that, both sides bound the error of the
 * clock. */
static int add_waits(const struct analysis *a, struct table *t)
{
	const struct model_stats *m = &a->model;
	const int64_t most = m->least_delay_ns;
	char bound[48] = "";

	if (!m->after_wait)
		return 0;
	if (most > (int64_t)m->after_wait_ns)
		snprintf(bound, sizeof(bound), ", and by at most %.3f ms", (double)most / 1e6);
	return table__add_notef(
		t,
		"%llu of %s for a device ended before the work that it waited for: the device's "
		"clock is ahead of the host's by at least %.3f ms%s. The time at which things ran, "
		"and queue delays, are off by as much; durations are right.",
		(unsigned long long)m->after_wait, counted(m->waits, "wait", "waits").s,
		(double)m->after_wait_ns / 1e6, bound);
}

static int add_damage(const struct analysis *a, struct table *t)
{
	const struct recording_damage *d = recording__damage(a->r);
	int err = 0;

	if (d->truncated)
		err = table__add_note(t, "The file was cut off: it is read up to its last whole "
					 "chunk, and what is written at the end (CPU time, cost, "
					 "loss) is missing.");
	if (!err && d->bad_chunks)
		err = table__add_notef(
			t, "%s damaged and left out.",
			counted(d->bad_chunks, "chunk of the file is", "chunks of the file are").s);
	if (!err && a->model.clipped)
		err = table__add_notef(t,
				       "%s overlapped another without nesting; an end was moved.",
				       counted(a->model.clipped, "event", "events").s);
	if (!err && a->model.early)
		err = table__add_notef(t, "%s read apart from the step.",
				       counted(a->model.early, "part of a very long step was",
					       "parts of very long steps were")
					       .s);
	if (!err && a->model.unlinked)
		err = table__add_notef(
			t, "%s no launch in the recording.",
			counted(a->model.unlinked, "device event has", "device events have").s);
	if (!err)
		err = add_order(a, t);
	return err ? err : add_waits(a, t);
}

static int add_subtracted(const struct analysis *a, struct table *t)
{
	const struct ratio_base base = analysis__base(a);
	uint64_t whole = base.cpu_ns + (base.is_steps ? a->model.subtracted_ns : 0);

	if (!a->model.subtracted_ns || !whole)
		return 0;
	return table__as_legend(
		t, table__add_notef(
			   t,
			   "Times are less the cost of the probes inside: %s of %s (%.2f %%); "
			   "--raw-times leaves it in.",
			   time_text(a, a->model.subtracted_ns).s, time_text(a, whole).s,
			   100.0 * (double)a->model.subtracted_ns / (double)whole));
}

/* Measured by bench/overhead, see doc/measurements/cost.md. */
static int add_underestimated(const struct analysis *a, struct table *t)
{
	if (own_cost__estimated(a).has_interval || own_cost__measured(a).without_steps ||
	    (double)own_cost__added_ns(a) < TOLD_FROM * (double)own_cost__paid_ns(a))
		return 0;
	return table__add_note(
		t, "The estimate may be low: jobs with steps of 1 to 10 ms lost 1.1 to 3 times as "
		   "much.");
}

#define INJECT "--inject (our library sees operators without probes)"

static int add_overspent(const struct analysis *a, struct table *t)
{
	const double wanted =
		json_number_value(json_object_get(recording__meta(a->r), "max_overhead"));
	const json_t *cost = own_cost__json(a);
	const uint64_t all = own_cost__added_ns(a), fixed = json__positive(cost, "tracepoint_ns");
	const uint64_t added = all > fixed ? all - fixed : 0;
	const bool inject_helps = json_is_true(json_object_get(cost, "inject_helps"));

	if (wanted <= 0) /* --no-prune was given */
		return inject_helps && (double)all >= TOLD_FROM * (double)own_cost__paid_ns(a)
			       ? table__add_note(t, INJECT " adds less.")
			       : 0;
	/* The tracepoints stay, whatever probes are left out. */
	if ((double)added < OVERSPENT * wanted * (double)own_cost__paid_ns(a))
		return 0;
	return table__add_notef(
		t, "The estimate is more than --max-overhead %g%%: %s--detail phase adds less.",
		100 * wanted, inject_helps ? INJECT " or " : "");
}

static uint64_t not_negative(double ns)
{
	return ns > 0 ? (uint64_t)ns : 0;
}

static struct cell per_step(double ns, uint64_t steps)
{
	return cell__time(steps ? (uint64_t)(ns / (double)steps) : 0);
}

/* The cost of the tool: probe hits, their estimated time, and proftrace's own CPU time. */
static int add_cost_facts(const struct analysis *a, struct table *t)
{
	const json_t *cost = json_object_get(recording__summary(a->r), "cost");
	const json_t *injection = json_object_get(recording__summary(a->r), "injection");
	static const char why[] = "the recording does not say";
	const char *no_steps = cost ? "it has no whole step" : why;
	uint64_t steps = own_cost__steps(a); /* the steps that the hits cover */
	uint64_t hits = json__positive(cost, "hits"), noted = json__positive(cost, "noted_calls"),
		 time = own_cost__paid_ns(a);
	const struct added_cost estimated = own_cost__estimated(a), all = own_cost__added(a);
	const struct measured_cost m = own_cost__measured(a);
	const json_t *tracepoints = json_object_get(cost, "tracepoint_ns");
	char where[256];
	uint64_t lost_cnt = losses__count(a, where, sizeof(where));
	const struct fact facts[] = {
		{"events_lost", "events lost",
		 recording__summary(a->r) ? cell__count(lost_cnt)
					  : cell__none("the file was cut off")},
		{where[0] ? "lost_where" : NULL, "lost where", cell__text(where)},
		{"hits", "probe hits", cost ? cell__count(hits) : cell__none(why)},
		{"hits_per_step", "probe hits per step",
		 cost && steps ? cell__count((hits + steps / 2) / steps) : cell__none(no_steps)},
		{noted && steps ? "noted_calls_per_step" : NULL,
		 "operators per step that our library in the process saw, without probes",
		 cell__count(steps ? (noted + steps / 2) / steps : 0)},
		{"added_per_step", "estimated added time per step",
		 cost && steps ? per_step(estimated.ns, steps) : cell__none(no_steps), CELL_TIME},
		{estimated.has_interval && steps ? "estimated_low" : NULL,
		 "at least, all caches warm", per_step(estimated.low_ns, steps), CELL_TIME},
		{estimated.has_interval && steps ? "estimated_high" : NULL,
		 "at most, all caches cold", per_step(estimated.high_ns, steps), CELL_TIME},
		{m.without_steps ? "measured_per_step" : NULL,
		 "added time per step, measured on steps with and without probes",
		 cell__time(not_negative(m.added_ns)), CELL_TIME},
		{m.without_steps ? "measured_low" : NULL, "at least",
		 cell__time(not_negative(m.low_ns)), CELL_TIME},
		{m.without_steps ? "measured_high" : NULL, "at most",
		 cell__time(not_negative(m.high_ns)), CELL_TIME},
		{m.without_steps && estimated.has_interval ? "weighted_per_step" : NULL,
		 "added time per step, estimate and measurement weighted", per_step(all.ns, steps),
		 CELL_TIME},
		{tracepoints && steps ? "tracepoints_per_step" : NULL,
		 "of it by the kernel's tracepoints",
		 cell__time(steps ? json__positive(cost, "tracepoint_ns") / steps : 0), CELL_TIME},
		{json__positive(cost, "run_ns") && steps ? "run_per_step" : NULL,
		 "run time per step, of which the next line is a share",
		 cell__time(steps ? json__positive(cost, "run_ns") / steps : 0), CELL_TIME},
		{"added", "estimated added time",
		 cost && time ? cell__share((uint64_t)all.ns, time) : cell__none(why),
		 CELL_PERCENT},
		{estimated.has_interval && time ? "added_low" : NULL, "at least",
		 cell__share((uint64_t)all.low_ns, time), CELL_PERCENT},
		{estimated.has_interval && time ? "added_high" : NULL, "at most",
		 cell__share((uint64_t)all.high_ns, time), CELL_PERCENT},
		{"loader_cpu", "CPU time of proftrace",
		 cost ? cell__time(json__positive(cost, "loader_cpu_ns")) : cell__none(why),
		 CELL_TIME},
		{injection ? "stopped" : NULL, "target stopped, to load the library",
		 cell__time(json__positive(injection, "stopped_ns"))},
	};

	return facts__add(t, facts, ARRAY_SIZE(facts));
}

static int add_measured(const struct analysis *a, struct table *t)
{
	const struct measured_cost m = own_cost__measured(a);
	const struct added_cost estimated = own_cost__estimated(a);
	const char *how = estimated.has_interval
				  ? " The share weighs both, each by its variance; it is no less "
				    "than the estimate's least."
			  : own_cost__added(a).ns == estimated.ns
				  ? ""
				  : " The estimate from hits lies outside of it: the share is by "
				    "its nearer end.";

	if (!m.without_steps)
		return 0;
	return table__as_legend(t, table__add_notef(t,
						    "Measured: run time of %" PRIu64
						    " steps with probes and %" PRIu64
						    " without, medians, 95 %% interval.%s",
						    m.with_steps, m.without_steps, how));
}

/* The cost is a share of the time for which the thread ran. On a busy machine that is less than the
 * window. */
static int add_base(const struct analysis *a, struct table *t)
{
	const uint64_t run_ns = json__positive(own_cost__json(a), "run_ns"),
		       window_ns = analysis__window_ns(a);

	if (!run_ns || !window_ns)
		return 0;
	return table__as_legend(
		t, table__add_notef(t, "The share is of the time that %s: %s in a window of %s.",
				    own_cost__steps(a) ? "the thread that makes the steps ran"
						       : "the process ran",
				    time_text(a, run_ns).s, time_text(a, window_ns).s));
}

static int add_cupti(const struct analysis *a, struct table *t)
{
	const json_t *device = json_object_get(recording__summary(a->r), "device");
	const char *source = json_string_value(json_object_get(device, "source"));
	const uint64_t calls = json__positive(device, "calls"),
		       questions = json__positive(device, "questions");
	const char *stays = json_string_value(json_object_get(device, "stays"));
	int err = 0;

	if (stays)
		err = table__add_notef(t,
				       "CUPTI stays in the process, with nothing enabled: %s. "
				       "It took 0.6 us of a launch on an H200.",
				       stays);
	if (err || !source || strcmp(source, "CUPTI") != 0 || !calls)
		return err;
	err = table__add_notef(
		t,
		"Not in the estimate: what CUPTI itself takes of %s of CUDA's and %s of the "
		"device, which it does not tell.",
		counted(calls, "call", "calls").s,
		counted(json__positive(device, "activities"), "activity", "activities").s);
	if (err || !questions)
		return err;
	return table__add_notef(
		t,
		"Nor what it takes of %s whether the device is done (cudaEventQuery, "
		"cudaStreamQuery), which are in no table.",
		counted(questions, "question", "questions").s);
}

/* How many stacks of Python were read, and how many were not. */
static int add_stacks(const struct analysis *a, struct table *t)
{
	const json_t *stacks = json_object_get(recording__summary(a->r), "stacks");
	const uint64_t read = json__positive(stacks, "read"), cut = json__positive(stacks, "cut");
	const uint64_t unread = json__positive(stacks, "unread");
	const uint64_t without = unread + json__positive(stacks, "full");
	const uint64_t unknown = json__positive(stacks, "unknown_functions");
	int err = 0;

	if (read)
		err = table__as_legend(
			t, table__add_notef(
				   t,
				   "Stacks of Python: %" PRIu64 " were read, %s each, which is in "
				   "the estimated time.",
				   read,
				   time_text(a, json__positive(stacks, "ns") / (read + unread)).s));
	if (!err && without)
		err = table__add_notef(
			t,
			"%s no stack of Python: %" PRIu64
			" could not be read, or began on threads that run no Python, %" PRIu64
			" came when there were too many different ones.",
			counted(without, "span has", "spans have").s, unread,
			json__positive(stacks, "full"));
	if (!err && cut)
		err = table__add_notef(t, "Of %s of Python only the 64 innermost frames were read.",
				       counted(cut, "different stack", "different stacks").s);
	if (!err && unknown)
		err = table__add_notef(t, "%s could not be read.",
				       counted(unknown, "function in a stack of Python",
					       "functions in stacks of Python")
					       .s);
	return err;
}

static int add_notes(const struct analysis *a, struct table *t)
{
	const json_t *summary = recording__summary(a->r);
	const json_t *loss = json_object_get(summary, "loss");
	int err = add_measured(a, t);

	if (!err)
		err = add_base(a, t);
	if (!err)
		err = add_underestimated(a, t);
	if (!err)
		err = add_overspent(a, t);
	if (!err)
		err = add_cupti(a, t);
	if (!err)
		err = add_subtracted(a, t);
	if (!err)
		err = add_damage(a, t);
	if (!err && json_is_true(json_object_get(loss, "target_execed")))
		err = table__add_note(t,
				      "The target replaced its program (exec) during the window.");
	else if (!err && json_is_true(json_object_get(loss, "target_gone")))
		err = table__add_note(t, "The target ended during the window.");
	if (!err)
		err = add_left_out(a, t);
	if (!err)
		err = add_stacks(a, t);
	if (!err)
		err = add_list(t, json_object_get(summary, "missing"), "missing: ");
	if (!err)
		err = coverage__note_foot(a, t);
	if (!err)
		err = add_list(t, json_object_get(summary, "notes"), "");
	return err;
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	int err = add_cost_facts(a, t);

	return err ? err : add_notes(a, t);
}

static int fill_short(const struct analysis *a, void *state, struct table *t)
{
	int err = own_cost__add_lines(a, t);

	return err ? err : add_notes(a, t);
}

const struct table_impl table_cost = {
	.def = {"cost", "events lost and the tool's own cost; always printed", true},
	.title = "Loss and Cost",
	.timer = true,
	.fill = fill,
	.fill_short = fill_short,
};
