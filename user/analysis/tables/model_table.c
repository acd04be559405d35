// SPDX-License-Identifier: BSD-2-Clause
/* Model Summary: the time of the phases of a step. */
#include "analysis/tables/awaited.h"
#include "analysis/step_parts.h"
#include "analysis/turns.h"
#include "common/counted.h"

#define FEW_UNCALLED 0.01 /* share of the kernels' time that is not worth a note */
/* share of the steps' time: least wait for operators in Others for a note */
#define WORTH_SAYING 0.2
/* share of the steps with a backward pass: least share without an update for a note */
#define ACCUMULATES 0.25
#define MANY_BARE   0.25 /* share of all steps: least share without any phase for a note */

static const enum span_kind phases[] = {KIND_DATALOADER, KIND_FORWARD, KIND_BACKWARD,
					KIND_OPTIMIZATION};

/* Operators in steps, by thread. */
#define GPU_WAIT_SHARE 0.05 /* share of the steps' time that is worth a note */

struct state {
	uint64_t own, elsewhere;
	uint64_t told;	       /* steps whose phases are known from operators of another thread */
	uint64_t passes;       /* steps that have a backward pass */
	uint64_t accumulating; /* the same, without an update */
	uint64_t endless;      /* steps in which an optimizer began, but none of its operators was
				  seen */
	uint64_t steps, bare;  /* all steps, and steps without any phase */
	bool infers_forward, infers_optimizer, reruns_closure, updates_in_backward;
	struct awaited awaited;
	struct turns turns;
	uint64_t gpu_wait_ns; /* waits for the device outside of the phases */
};

static bool has_operator(const struct span *s)
{
	for (; s; s = s->next_sibling)
		if (s->kind == KIND_OPERATOR || s->kind == KIND_PYTHON_OP ||
		    has_operator(s->first_child))
			return true;
	return false;
}

/* Is it a backward pass that was inferred, as no function of the step's thread shows it? */
static bool has_inferred_pass(const struct span *s)
{
	for (; s; s = s->next_sibling)
		if ((s->kind == KIND_BACKWARD && !s->ev.name) || has_inferred_pass(s->first_child))
			return true;
	return false;
}

/* Is it a forward pass that was inferred, as no function shows it? It may lie within ranges. A
 * graph's forward pass begins with it. */
static bool has_inferred_forward(const struct span *s)
{
	for (; s; s = s->next_sibling)
		if (s->kind == KIND_FORWARD ? !s->ev.name
					    : s->kind != KIND_OPERATOR && s->kind != KIND_SCRIPT &&
						      has_inferred_forward(s->first_child))
			return true;
	return false;
}

static bool is_begin(const struct analysis *a, const struct span *s)
{
	const struct name *name = s && s->ev.name ? recording__name(a->r, s->ev.name) : NULL;

	return name && name->category == CAT_OPTIMIZER_BEGIN;
}

/* Is it an optimizer of which only operators were seen? */
static bool has_inferred_optimizer(const struct analysis *a, const struct span *s)
{
	for (; s; s = s->next_sibling)
		if (s->kind == KIND_OPTIMIZATION && !s->ev.name && !span__continues(s) &&
		    !is_begin(a, s->first_child))
			return true;
	return false;
}

static bool has_begin(const struct analysis *a, const struct span *s)
{
	for (; s; s = s->next_sibling)
		if (is_begin(a, s))
			return true;
	return false;
}

static size_t count_in(const struct span *s, enum span_kind kind)
{
	size_t cnt = 0;

	for (; s; s = s->next_sibling)
		cnt += s->kind == kind ? 1 : count_in(s->first_child, kind);
	return cnt;
}

/* Does the optimizer run its closure more than once per step, as LBFGS does? It computes between
 * the runs. False if that time is known apart from the closure's. */
static bool has_reruns(const struct analysis *a, const struct span *s)
{
	for (; s; s = s->next_sibling) {
		const struct name *n = s->kind == KIND_USER && s->ev.name
					       ? recording__name(a->r, s->ev.name)
					       : NULL;

		if (n && n->category == CAT_OPTIMIZER &&
		    count_in(s->first_child, KIND_BACKWARD) > 1 &&
		    count_in(s->first_child, KIND_OPTIMIZATION) < 2)
			return true;
		if (s->kind == KIND_USER && has_reruns(a, s->first_child))
			return true;
	}
	return false;
}

/* Does an optimizer run in the hooks of gradients, within the backward pass? */
static bool has_update_in_backward(const struct span *s)
{
	for (; s; s = s->next_sibling)
		if (s->kind == KIND_BACKWARD ? count_in(s->first_child, KIND_OPTIMIZATION) > 0
					     : has_update_in_backward(s->first_child))
			return true;
	return false;
}

/* Does an operator of the optimizer lie in this pass? Then it is on the step's thread. */
static bool has_operator_in_pass(const struct span *s)
{
	for (; s; s = s->next_sibling)
		if ((s->kind == KIND_OPERATOR && s->phase == KIND_BACKWARD) ||
		    has_operator_in_pass(s->first_child))
			return true;
	return false;
}

/* Spans of the steps' thread. NULL: there are none, or the batch is outside of steps. */
static const struct span *own_roots(const struct batch *b)
{
	for (size_t i = 0; b->step && i < b->track_cnt; i++)
		if (b->tracks[i].track->id == b->step->track)
			return b->tracks[i].roots;
	return NULL;
}

/* Counts a step with a backward pass but without an optimizer step. */
static void count_missing(const struct analysis *a, const struct span *own, struct state *st)
{
	const bool begins = has_begin(a, own);

	st->endless += begins;
	st->accumulating += !begins;
}

/* Passes the work on, so that it is known what the thread waits for. */
static int visit_work(const struct analysis *a, void *state, const struct device_work *w)
{
	return 0;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	const struct span *own = own_roots(b);
	struct state *st = state;
	int err;

	st->infers_forward = st->infers_forward || has_inferred_forward(own);
	st->infers_optimizer = st->infers_optimizer || has_inferred_optimizer(a, own);
	st->reruns_closure = st->reruns_closure || has_reruns(a, own);
	/* Only if no phase is an optimizer's. Otherwise the tree is not walked. */
	for (size_t i = 0;
	     i < b->track_cnt && !st->updates_in_backward && !a->phases[KIND_OPTIMIZATION].calls;
	     i++)
		st->updates_in_backward = has_update_in_backward(b->tracks[i].roots);
	if (b->step) {
		st->gpu_wait_ns += a->gpu_wait.phase_ns[KIND_OTHER];
		st->steps++;
		st->bare += !step__has_phase(b->step);
	}
	if (b->step && b->step->phase_ns[KIND_BACKWARD]) {
		st->passes++;
		if (!b->step->phase_ns[KIND_OPTIMIZATION])
			count_missing(a, own, st);
	}
	st->told += has_inferred_pass(own) && !has_operator_in_pass(own);
	for (size_t i = 0; b->step && i < b->track_cnt; i++) {
		const struct track *t = b->tracks[i].track;

		if (t->kind != TRACK_THREAD || !analysis__is_main(a, t) ||
		    !has_operator(b->tracks[i].roots))
			continue;
		if (t->id == b->step->track)
			st->own++;
		else
			st->elsewhere++;
	}
	/* With a data loader the steps are certain, so nobody needs turns. */
	err = a->phases[KIND_DATALOADER].calls ? 0 : turns__add(&st->turns, b);
	return err ? err : awaited__add(a, &st->awaited, b);
}

static bool is_mostly_awaited(const struct analysis *a, const struct awaited *w)
{
	const uint64_t ns = awaited__ns(a, w);

	return ns && 2 * ns >= w->others_ns &&
	       (double)ns >= WORTH_SAYING * (double)a->steps.cpu.total;
}

static int note_elsewhere(const struct analysis *a, const struct state *st, struct table *t)
{
	if (st->told)
		return table__add_note(
			t, "Forward, Backward and Optimization of a graph are the times of "
			   "its operators, which another thread ran while this one waited "
			   "or went on.");
	if (!st->own && st->elsewhere)
		return table__add_note(
			t, "Operators ran on other threads than the one whose phases "
			   "these are: a phase is the time to ask for them, or to wait.");
	if (!is_mostly_awaited(a, &st->awaited))
		return 0;
	return table__add_note(t,
			       "Others is mostly the wait for operators that were queued for other "
			       "threads: a phase is the time to ask for them.");
}

/* An engine may launch work while Python is already in another phase. Work is joined to phases by
 * step, because other threads launch it, such as those of the backward pass. */
static const char *why_no_device_times(const struct analysis *a)
{
	return analysis__callers_unknown(a) ? "the engine launches kernels later than a phase asks"
	       : !a->steps.calls	    ? "device times of phases are known in steps alone"
					    : NULL;
}

static void hide_device_times(const struct analysis *a, struct cell *cells)
{
	const char *why = why_no_device_times(a);

	for (int i = 7; i < NAME_CELLS && a->has_device && why; i++)
		cells[i] = cell__none(why);
}

static int note_device_times(const struct analysis *a, struct table *t)
{
	const uint64_t no_call_ns = a->of_no_call_ns + a->not_executed_ns;

	if (a->has_device && !a->steps.calls && !analysis__callers_unknown(a))
		return table__add_note(t, "GPU times of phases are not known: the window has no "
					  "step by which work is joined to its phase. The operator "
					  "table has those of operators.");
	if (analysis__callers_unknown(a))
		return table__add_note(t, "GPU times of phases are not known: the engine's threads "
					  "launch kernels later than a phase asks for them.");
	if (!a->engine_launches || (double)no_call_ns <= FEW_UNCALLED * (double)a->executed_ns)
		return 0;
	return table__add_notef(
		t,
		"Others has %s of kernels that the engine launched for no operator, "
		"or for one that was called before the window or in no phase.",
		time_text(a, no_call_ns).s);
}

static int add_others(const struct analysis *a, struct table *t, uint64_t cpu_ns)
{
	static const char why[] = "not made of calls";
	uint64_t whole = analysis__total_ns(a);
	struct cell cells[NAME_CELLS] = {cell__text("Others"), cell__none(why)};

	for (int i = 2; i < NAME_CELLS; i++)
		cells[i] = cell__none(why);
	cells[2] = cell__time(whole > cpu_ns ? whole - cpu_ns : 0);
	cells[6] = cell__share(cells[2].time_ns, whole);
	cells[7] = cell__time(a->others_gpu_ns);
	cells[11] = cell__share(a->others_gpu_ns, a->steps.gpu.total);
	hide_device_times(a, cells);
	return table__add_row(t, 1, cells);
}

static int note_gpu_wait(const struct analysis *a, const struct state *st, struct table *t)
{
	if (st->gpu_wait_ns < GPU_WAIT_SHARE * (double)analysis__whole_ns(a) || !st->gpu_wait_ns)
		return 0;
	return table__add_notef(
		t, "In Others the thread waits %s for a device that computes meanwhile.",
		time_text(a, st->gpu_wait_ns).s);
}

static bool trains_without_loader(const struct analysis *a)
{
	return a->phases[KIND_FORWARD].calls && a->phases[KIND_BACKWARD].calls &&
	       !a->phases[KIND_DATALOADER].calls;
}

static int note_turns(const struct analysis *a, const struct turns *turns, struct table *t)
{
	const size_t length = turns__length(turns);

	if (!length || !trains_without_loader(a))
		return 0;
	return table__add_notef(t,
				"The steps come in turns of %zu, by their operators. If several "
				"networks are trained one after the other, a turn may be one "
				"iteration (--step-range and --step-probe choose a step).",
				length);
}

/* For example, a rollout of reinforcement learning lies outside of all phases. */
static int note_forward(const struct analysis *a, const struct state *st, struct table *t)
{
	if (!st->infers_forward || !trains_without_loader(a))
		return 0;
	return table__add_note(t, "No data loader was seen: Forward is all from the step's begin, "
				  "or from zero_grad, to its backward pass, also where batches are "
				  "made there.");
}

/* A graph consists of operators only. */
static int note_updates(const struct state *st, struct table *t)
{
	if (!st->infers_optimizer || st->told)
		return 0;
	return table__add_note(t, "No call of the optimizer was seen: Optimization is from the "
				  "first of its operators to the last. What it does in Python "
				  "before them is in Others.");
}

static int note_reruns(const struct state *st, struct table *t)
{
	if (!st->reruns_closure)
		return 0;
	return table__add_note(t, "The optimizer runs its closure several times in a step: what it "
				  "computes between two runs is in Forward.");
}

/* Only optimizers of the framework itself are seen. */
static int note_optimizer(const struct analysis *a, const struct state *st, struct table *t)
{
	if (st->endless)
		return table__add_notef(
			t,
			"In %llu of %llu steps the optimizer was seen to begin, but none of its "
			"operators. Its time is not known, and in Others (--no-prune shows it).",
			(unsigned long long)st->endless, (unsigned long long)st->passes);
	if (!a->phases[KIND_BACKWARD].calls || a->phases[KIND_OPTIMIZATION].calls)
		return 0;
	if (st->updates_in_backward)
		return table__add_note(t, "The optimizer runs within the backward pass, in the "
					  "hooks of gradients: Backward has its time.");
	return table__add_note(t, "No step of an optimizer was seen. An optimizer that is not the "
				  "framework's, or that updates by operators of other uses, lies "
				  "in Others or Forward, unless a range of yours names it.");
}

static int note_accumulation(const struct analysis *a, const struct state *st, struct table *t)
{
	if (!a->phases[KIND_OPTIMIZATION].calls || !st->accumulating ||
	    (double)st->accumulating < ACCUMULATES * (double)st->passes)
		return 0;
	return table__add_notef(t,
				"%llu of %llu steps have a backward pass and no optimizer's step. "
				"If gradients are accumulated, several of these are one iteration "
				"(--step-range and --step-probe choose a step).",
				(unsigned long long)st->accumulating,
				(unsigned long long)st->passes);
}

static int note_bare(const struct state *st, struct table *t)
{
	if (!st->bare || (double)st->bare < MANY_BARE * (double)st->steps)
		return 0;
	return table__add_notef(
		t,
		"%llu of %llu steps have none of these phases: a run of a graph without "
		"gradients, an evaluation's say, or one that failed. What they took is "
		"in Others.",
		(unsigned long long)st->bare, (unsigned long long)st->steps);
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	const struct state *st = state;
	uint64_t whole = analysis__total_ns(a), sum = 0;
	struct cell cells[NAME_CELLS];
	struct stat top = a->steps;
	size_t kinds = 0;
	int err = table__add_name_columns(a, t, 15);

	for (size_t i = 0; i < 4; i++)
		kinds += a->phases[phases[i]].calls > 0;
	if (err || !kinds)
		return err ? err : table__add_note(t, "No phase of a step was seen.");
	if (!top.calls)
		stat__add(&top, whole, 0);
	cells__name(a, cells, a->steps.calls ? "ProfileStep" : "Window", &top, whole,
		    a->steps.gpu.total);
	if (!a->steps.calls)
		hide_device_times(a, cells);
	err = table__add_row(t, 0, cells);
	for (size_t i = 0; i < 4 && !err; i++) {
		const struct stat *s = &a->phases[phases[i]];

		sum += s->cpu.total;
		if (!s->calls)
			continue;
		cells__name(a, cells, span_kind__label(phases[i]), s, whole, a->steps.gpu.total);
		hide_device_times(a, cells);
		err = table__add_row(t, 1, cells);
	}
	if (!err)
		err = add_others(a, t, sum);
	if (!err)
		err = table__note_ratios(a, t, analysis__total_name(a),
					 "the kernels of the steps; copies and sets do not count");
	if (!err)
		err = note_device_times(a, t);
	if (!err)
		err = note_gpu_wait(a, st, t);
	if (!err)
		err = note_forward(a, st, t);
	if (!err)
		err = note_turns(a, &st->turns, t);
	if (!err)
		err = note_updates(st, t);
	if (!err)
		err = note_reruns(st, t);
	if (!err)
		err = note_optimizer(a, st, t);
	if (!err)
		err = note_accumulation(a, st, t);
	if (!err)
		err = note_bare(st, t);
	return err ? err : note_elsewhere(a, st, t);
}

static void clean(void *state)
{
	struct state *st = state;

	awaited__free(&st->awaited);
	turns__free(&st->turns);
}

const struct table_impl table_model = {
	.def = {"model", "data loader, forward, backward and optimizer of the steps", true},
	.title = "Model Summary",
	.rests_on_device = true,
	.state_size = sizeof(struct state),
	.visit = visit,
	.visit_work = visit_work,
	.fill = fill,
	.clean = clean,
};
