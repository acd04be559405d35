// SPDX-License-Identifier: BSD-2-Clause
#include "capture/steps/optimizer_mark.h"
#include "bpf/skeleton.h"
#include "capture/arming/arm_groups.h"
#include "capture/steps/log_calls.h"
#include "capture/steps/optimizer_step.h"
#include "capture/steps/step_probes.h"
#include "capture/session.h"
#include "common/err.h"
#include "common/util.h"
#include "target/python/python_slots.h"

#define MARK_PROGRAM "optimizer_mark"

enum {
	STEPS = 12, /* steps to look at */
	LEAST = 8,  /* fewest whole optimizer steps among them */
	SELDOM = 8, /* most hits of the mark's function in a step */
	HITS = 2,   /* hits of the breakpoint in a step */
};

#define MATTERS 0.5 /* the breakpoint matters above this part of what probes may add to a step */
/* Largest share of the function's time that may lie before the mark and after the last operator.
 * Must hold in most calls. */
#define DIFFERS 0.05

static struct planned_probe *mark_probe(const struct session *s)
{
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (step_probe__runs(&s->plan.probes[i], MARK_PROGRAM))
			return &s->plan.probes[i];
	return NULL;
}

int optimizer_mark__plan(struct session *s)
{
	const struct planned_probe *step = optimizer_step__watched(s);
	const uint64_t division = step ? python_slots__float_division(s->target) : 0;
	struct planned_probe probe = {
		.group = GROUP_ENCLOSING,
		.symbol = "float division",
		.program = MARK_PROGRAM,
		.category = CAT_OPTIMIZER_BEGIN,
		.chosen = true,
	};
	struct elf_file *elf = step ? target__elf(s->target, step->lib) : NULL;
	struct python_layout layout;
	char name[64];

	if (!division || !elf || division < step->lib->base || s->opts->timer_only ||
	    !s->match.framework->updates_parameters || python_layout__of(s->target, &layout))
		return 0;
	snprintf(name, sizeof(name), "%s begins", step->name);
	probe.lib = step->lib;
	probe.name = name;
	probe.vaddr = division - step->lib->base;
	/* The BPF program reads no argument. */
	if (elf_file__offset(elf, probe.vaddr, &probe.offset) ||
	    planned_probe__slide(elf, 0, 0, &probe))
		return 0;
	optimizer_step__plan_frames(s, &layout);
	return probe_plan__add(&s->plan, &probe);
}

/* ---- do mark and breakpoint show the same? ---- */

struct trial {
	const struct session *s;
	uint32_t step_row, mark_row;
	uint64_t calls, odd, alike;
};

static bool is_update(const struct session *s, const struct step_call *call)
{
	const struct named_op *named = call_log__named(&s->records.log, call->op);

	return named && s->match.framework->updates_parameters(named->name);
}

static void compare(struct trial *t, const struct step_call *step)
{
	uint64_t mark_ns = 0, update_ns = 0, marks = 0, differs_ns;

	for (size_t i = 0; i < t->s->records.log.cnt; i++) {
		const struct step_call *call = &t->s->records.log.calls[i];

		if (call->tid != step->tid || call->ts_ns < step->ts_ns ||
		    call->end_ns > step->end_ns)
			continue;
		if (call->op == t->mark_row) {
			marks++;
			mark_ns = call->ts_ns;
		} else if (is_update(t->s, call) && call->end_ns > update_ns) {
			update_ns = call->end_ns;
		}
	}
	t->calls++;
	if (marks != 1 || update_ns < mark_ns) {
		t->odd++;
		return;
	}
	differs_ns = mark_ns - step->ts_ns + step->end_ns - update_ns;
	t->alike += (double)differs_ns <= DIFFERS * (double)(step->end_ns - step->ts_ns);
}

/* Skips the first and the last call: part of them may lie outside of the look. */
static void compare_all(struct trial *t)
{
	const struct call_log *log = &t->s->records.log;
	const struct step_call *latest = NULL;
	bool is_first = true;

	for (size_t i = 0; i < log->cnt; i++) {
		if (log->calls[i].op != t->step_row)
			continue;
		if (latest && !is_first)
			compare(t, latest);
		is_first = !latest;
		latest = &log->calls[i];
	}
}

/* The thread may be interrupted in some calls, so most must be alike. */
static bool is_told(const struct trial *t, uint64_t hits)
{
	log__debug("the optimizer's step was seen %llu times, %llu of them otherwise by its "
		   "operators, %llu alike; %llu divisions",
		   (unsigned long long)t->calls, (unsigned long long)t->odd,
		   (unsigned long long)t->alike, (unsigned long long)hits);
	return t->calls >= LEAST && !t->odd && 2 * t->alike > t->calls &&
	       hits <= SELDOM * (t->calls + 2);
}

static bool matters(const struct session *s)
{
	return HITS * (double)s->facts.cost.watch_ns >
	       MATTERS * s->opts->max_overhead * (double)step_length__paid_ns(&s->step_length);
}

/* Attaches the mark instead of the breakpoint, or detaches the mark. */
static int use(struct session *s, const struct planned_probe *mark, bool on)
{
	s->pruned.rows[mark->row] = !on;
	if (!on)
		return arm__reattach(s, GROUP_ENCLOSING);
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (s->plan.probes[i].group == GROUP_WATCH && s->plan.probes[i].writes_alone)
			s->pruned.rows[s->plan.probes[i].row] = true;
	return arm__reattach(s, GROUP_WATCH);
}

int optimizer_mark__try(struct session *s)
{
	const struct planned_probe *mark = mark_probe(s), *step = optimizer_step__watched(s);
	struct trial trial = {.s = s};
	uint64_t hits;
	bool told;
	int err;

	if (!mark || !step || !s->probes.step_watched || !matters(s))
		return 0;
	trial.step_row = step->row;
	trial.mark_row = mark->row;
	s->pruned.rows[mark->row] = false;
	err = arm__reattach(s, GROUP_ENCLOSING);
	hits = s->probes.ctl->enclosing_hits;
	if (!err)
		err = session__log_calls(s, STEPS, CALL_LOG_MAX);
	if (!err)
		compare_all(&trial);
	call_log__free(&s->records.log);
	told = !err && is_told(&trial, s->probes.ctl->enclosing_hits - hits);
	return err ? err : use(s, mark, told);
}
