// SPDX-License-Identifier: BSD-2-Clause
/* Notes at the foot of a report: late windows, doubtful steps, missing data. */
#include "bpf/long_names.h"
#include "bpf/events.h"
#include "bpf/skeleton.h"
#include "capture/arming/watched.h"
#include "capture/steps/session_rule.h"
#include "common/counted.h"
#include "common/util.h"
#include "privilege/sandbox.h"
#include <stdarg.h>

#define DEAR_WATCH 4 /* a data breakpoint this many times as dear as a probe gets a note */
/* fewer steps of other threads in a window get no note: one may be a call of the set-up */
#define ASIDE_FEWEST 2

__attribute__((format(printf, 2, 3))) static void say(json_t *notes, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	json_array_append_new(notes, json_vsprintf(fmt, ap));
	va_end(ap);
}

/* ---- doubts about the steps ---- */

static void note_shift(const struct session *s, json_t *notes)
{
	if (s->windows.shift)
		say(notes, "the window opened %s later than asked: %s",
		    counted(s->windows.shift, "step", "steps").s, s->windows.late_for);
}

static void note_frozen(const struct session *s, json_t *notes)
{
	if (s->start.frozen_ns)
		say(notes, "the program stood still for %.0f ms until its probes were in",
		    (double)s->start.frozen_ns / 1e6);
}

static void note_doubts(const struct session *s, json_t *notes)
{
	const __u64 *seen = s->probes.ctl->class_seen;

	if (s->rule.boundary == PT_CLASS_DATALOADER && !s->rule.needs &&
	    step_rule__is_refuted_by(&s->rule, seen, PT_CLASS_BACKWARD))
		say(notes, "the step rule was chosen while no backward pass was seen, as in an "
			   "evaluation. One was seen later, so batches of evaluations count as "
			   "steps, too (attach while it trains)");
	if (s->rule.needs == PT_CLASS_EVALUATION &&
	    step_rule__is_refuted_by(&s->rule, seen, PT_CLASS_GRAPH))
		say(notes, "the step rule was chosen while every compiled graph evaluated. One "
			   "that trains came later: only batches of the evaluation count as steps "
			   "(attach while it trains)");
	if (step_rule__is_refuted_by(&s->rule, seen, PT_CLASS_OPTIMIZER))
		say(notes,
		    "the step rule was chosen while no optimizer step was seen. One was seen "
		    "later: if the job accumulates gradients, each step is only one of the passes "
		    "(record again; --step-range and --step-probe choose a step)");
	if (session__period_is_doubtful(s))
		say(notes, "the step rule was chosen while the job only repeated operators. Since "
			   "then a data loader, an optimizer or a backward pass was seen: these "
			   "may be no steps (record again)");
}

static void note_traced(const struct session *s, json_t *notes)
{
	if (session__period_is_traced(s))
		say(notes,
		    "after the step rule was chosen a model was traced, as by torch.compile; its "
		    "operators repeat, too: some of these may be no steps (record again)");
}

/* Steps of another thread or process. Examples: two trainers with one parent, or a server that
 * answers in several threads. */
static void note_aside(const struct session *s, json_t *notes)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	const uint64_t cnt = ctl->aside_beside - s->before.beside;
	const pid_t here = proc__status((pid_t)ctl->step_tid, "Tgid");
	const pid_t there = proc__status((pid_t)ctl->aside_tid, "Tgid");

	if (cnt < ASIDE_FEWEST || !s->rule.boundary || !here || !there)
		return;
	if (here == there)
		say(notes,
		    "steps are those of thread %u; %llu that other threads of this process begin "
		    "are not counted",
		    ctl->step_tid, (unsigned long long)cnt);
	else
		say(notes,
		    "steps are those of process %d; %s of other descendants of process %d, such as "
		    "%d, "
		    "are not counted: attach to each by -p %d,%d",
		    here, counted(cnt, "step", "steps").s, s->opts->pid, there, here, there);
}

/* ---- missing or incomplete data ---- */

static void note_missing(const struct session *s, json_t *notes)
{
	uint32_t endless = s->probes.ctl->optimizer_endless - s->before.endless;
	uint64_t cut_names = decoder__cut_names(s->records.decoder) - s->before.cut_names;
	uint64_t not_ended = decoder__not_ended(s->records.decoder) - s->before.not_ended;

	if (endless)
		say(notes,
		    "%s of an optimizer's step without an end, as when the program keeps a frame "
		    "of it: Optimization does not include them",
		    counted(endless, "call was", "calls were").s);
	if (cut_names)
		say(notes,
		    "only the beginning is known of the names of %s. They are longer than %d "
		    "bytes, there was no room for them, or their memory is not resident. A row "
		    "whose name ends in \"...\" may stand for several",
		    counted(cut_names, "span or mark", "spans or marks").s, PT_WHOLE_NAME);
	if (not_ended)
		say(notes,
		    "%s not ended by the program on the thread that began them. They end with the "
		    "frame or range around them, or where the same frame begins again",
		    counted(not_ended, "range was", "ranges were").s);
}

static void note_forked(const struct session *s, json_t *notes)
{
	if (s->children.unfollowed)
		say(notes, "%s",
		    counted(s->children.unfollowed, "forked process ended before it had probes",
			    "forked processes ended before they had probes")
			    .s);
	if (s->children.followed)
		say(notes,
		    "%s forked in the window and ran up to %.0f ms without probes; what was called "
		    "in that time is missing",
		    counted(s->children.followed, "process was", "processes were").s,
		    (double)s->children.late_ns / 1e6);
}

/* ---- cost ---- */

/* Only before the first window. */
static void note_learning(const struct session *s, json_t *notes)
{
	const struct bursts *b = &s->bursts;

	if (s->windows.opened > 1)
		return;
	if (b->cnt)
		say(notes,
		    "while proftrace looked for steps, operators had probes for %.0f ms in %s: "
		    "%llu "
		    "calls, about %.1f ms added",
		    (double)b->ns / 1e6, counted(b->cnt, "burst", "bursts").s,
		    (unsigned long long)b->calls, b->added_ns / 1e6);
	if (b->weighed)
		say(notes,
		    "before the window %s all probes to measure their cost: about %.1f ms added",
		    counted(b->weighed, "step had", "steps had").s, b->weighed_ns / 1e6);
	if (b->timed_ns)
		say(notes,
		    "before the window operators had probes for %.0f ms to measure their cost: "
		    "about "
		    "%.1f ms added",
		    (double)b->timed_ns / 1e6, b->weighed_ns / 1e6);
	if (b->astray_ns)
		say(notes,
		    "before that, operators had probes for %.1f s, until proftrace saw that the "
		    "supposed steps were none%s",
		    (double)b->astray_ns / 1e9, b->cnt ? "" : "; what that added is not known");
}

/* On a virtual machine the host may intercept such a trap. Our measurement misses part of the
 * trap's time and its cache misses. */
static void note_watched(const struct session *s, json_t *notes)
{
	const struct probe_cost *c = &s->facts.cost;
	uint64_t hits[GROUP_CNT];

	decoder__hits(s->records.decoder, hits);
	if (!hits[GROUP_WATCH] || c->watch_ns < DEAR_WATCH * c->bare.entry_ns)
		return;
	say(notes,
	    "the added time may exceed the estimate: %s of data breakpoints, which cost %.0f us "
	    "each here, as if a virtual machine's host intercepts them. In some jobs they cost "
	    "several times as much",
	    counted(hits[GROUP_WATCH], "hit was", "hits were").s, (double)c->watch_ns / 1e3);
}

/* The effect of data breakpoints on threads that do not hit them. */
static void note_slow_copies(const struct session *s, json_t *notes)
{
	const double slows = s->facts.cost.watch_slows;

	if (s->pruned.unwatched)
		say(notes,
		    "%s written in Python are not shown: there was none in %s before the window. "
		    "The data breakpoints that show them make copies of some KiB take up to %.0f "
		    "times as long on this processor; --no-prune shows them",
		    s->pruned.unwatched, counted(s->pruned.unwatched_after, "step", "steps").s,
		    slows);
	if (s->probes.watchpoints && watched__slows_copies(s))
		say(notes,
		    "while data breakpoints are set, copies of some KiB take up to %.0f times as "
		    "long on this processor: copies and fills of Python's threads appear too long",
		    slows);
}

/* The measured times of these functions hold single-stepping, which the estimate omits. */
static void note_stepped(const struct session *s, json_t *notes)
{
	if (s->plan.stepped)
		say(notes,
		    "of --op and --op-returns %s a probe at an instruction that the kernel "
		    "single-steps, its first or its return. A hit takes %.1f us here. The estimate "
		    "omits it; it counts as the caller's time or its own",
		    counted(s->plan.stepped, "function has", "functions have").s,
		    (double)s->facts.cost.bare.stepped_ns / 1e3);
}

/* Protections that the process that makes the report lacks. */
static void note_protections(json_t *notes)
{
	const unsigned int lacks = sandbox__lacks();

	if (lacks)
		say(notes, "this kernel lacks %s: reports, traces and pages were made without",
		    sandbox__name(lacks));
}

static void describe(struct session *s, json_t *summary)
{
	json_t *notes = json_array();

	note_shift(s, notes);
	note_frozen(s, notes);
	note_doubts(s, notes);
	note_traced(s, notes);
	note_aside(s, notes);
	note_missing(s, notes);
	note_learning(s, notes);
	note_watched(s, notes);
	note_slow_copies(s, notes);
	note_stepped(s, notes);
	note_forked(s, notes);
	note_protections(notes);
	json_object_set_new(summary, "notes", notes);
}

const struct component component_notes = {
	.name = "notes",
	.describe = describe,
};
