// SPDX-License-Identifier: BSD-2-Clause
/* Before the first window: what a step is, and how long. */
#include "capture/arming/arm.h"
#include "capture/processes/descendant.h"
#include "capture/steps/epoch_end.h"
#include "capture/steps/find_period.h"
#include "capture/steps/step_classes.h"
#include "capture/user_probes/user_ops.h"
#include "capture/user_probes/user_usdt.h"
#include "common/err.h"
#include "common/util.h"
#include <stdatomic.h>
#include <string.h>

#define MS 1000000ull

/* A period is found in the calls of a second, so it is shorter than that. */
#define PERIOD_PATIENCE_NS (5000 * MS)

/* Without a sign of steps, when operators are looked at, and again. Where that takes probes which
 * are not wanted: of a job that trains, with long steps, it should not. */
#define LOOK_NS	     (2000 * MS)
#define LOOK_LATE_NS (5000 * MS)
#define IDLE_BURSTS  2		 /* a program may wait as long for its data, or for a device */
#define LOOK_SOON_NS (1000 * MS) /* a window that is a time can do without steps */

static bool has_period(const struct session *s)
{
	return s->rule.boundary == PT_CLASS_STEP_PROBE && !s->opts->step_probe;
}

static void rule_apply(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;

	/* Before either of these a step asks for its batch. */
	ctl->loader_next_ahead = s->rule.boundary == PT_CLASS_FORWARD || has_period(s);
	ctl->loader_next_opened = 0;
	ctl->step_row = s->rule.row;
	ctl->boundary_needs = s->rule.needs;
	ctl->boundary_at_end = s->rule.at_end;
	ctl->loader_next_alone = epoch_end__matters(&s->plan, &s->rule);
	ctl->boundary_class = s->rule.boundary;
}

void session__step_by_frames(struct session *s)
{
	if (s->opts->no_steps || s->opts->timer_only || !user_usdt__has_frames(&s->plan))
		return;
	s->rule = step_rule__frames();
	rule_apply(s);
}

bool session__period_is_traced(const struct session *s)
{
	return has_period(s) && s->probes.ctl->traced != s->learning.traced;
}

bool session__period_is_doubtful(const struct session *s)
{
	for (int c = 1; c < PT_CLASS_CNT && has_period(s); c++)
		if (c != PT_CLASS_STEP_PROBE && s->probes.ctl->class_seen[c])
			return true;
	return false;
}

/* Operators that an import calls have a period too, and it is found if the import takes longer than
 * we wait. So a period is only a guess until its steps were measured. A sign of the job's own kind,
 * or steps that do not come, refute it. */
static bool period_refuted(const struct session *s, uint64_t waiting_since_ns)
{
	const uint64_t patience_ns = s->opts->step_unit == STEP_UNIT_REQUEST
					     ? s->opts->step_timeout_ns
					     : PERIOD_PATIENCE_NS;

	return has_period(s) && (session__period_is_doubtful(s) || session__period_is_traced(s) ||
				 clock__monotonic_ns() - waiting_since_ns > patience_ns);
}

/* One without a class may hold for the first steps alone: gradients are accumulated over some
 * before the optimizer shows. */
static bool rule_refuted(const struct session *s, uint64_t waiting_since_ns)
{
	return step_rule__is_refuted(&s->rule, s->probes.ctl->class_seen) ||
	       period_refuted(s, waiting_since_ns);
}

/* And what was measured in its steps. */
static void forget_rule(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;

	log__debug("%s: no longer seen, or not the job's steps", s->rule.source);
	while (s->plan.name_rule_cnt &&
	       ctl->name_rules[s->plan.name_rule_cnt - 1].name_class == PT_CLASS_STEP_PROBE)
		ctl->name_rules[--s->plan.name_rule_cnt] = (struct pt_name_rule){0};
	s->rule = (struct step_rule){0};
	rule_apply(s);
	ctl->class_seen[PT_CLASS_STEP_PROBE] = 0;
	ctl->step_tid = 0;
	ctl->measure_from = ctl->measure_to = 0;
	probes__forget_stats(&s->probes);
}

static void note_first_event(struct session *s)
{
	if (!s->attaching.begin_ns || nothing_seen(s->probes.ctl))
		return;
	log__debug("first event %.1f ms after the attach began",
		   (double)(clock__monotonic_ns() - s->attaching.begin_ns) / 1e6);
	s->attaching.begin_ns = 0;
}

/* Some programs fetch batches ahead in a thread of their own. Such a request belongs to no step. */
static bool loads_elsewhere(const struct pt_ctl *ctl)
{
	const uint32_t loads = ctl->class_tid[PT_CLASS_DATALOADER];
	const uint32_t optimizes = ctl->class_tid[PT_CLASS_OPTIMIZER];

	return loads && optimizes && loads != optimizes &&
	       proc__status((pid_t)loads, "Tgid") == proc__status((pid_t)optimizes, "Tgid");
}

/* A window that is a time can do without steps. One that we started may still prepare its first. */
static bool may_do_without(const struct session *s)
{
	return s->opts->duration_ns && !s->opts->has_schedule && !s->opts->step_timeout_chosen &&
	       !s->opts->await_framework;
}

static uint64_t look_after_ns(const struct session *s)
{
	const uint64_t half = s->opts->step_timeout_ns / 2;

	if (may_do_without(s))
		return LOOK_SOON_NS;
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (s->plan.probes[i].for_period)
			return half < LOOK_LATE_NS ? half : LOOK_LATE_NS;
	return LOOK_NS;
}

#define PATIENCE_NS	  (10000 * MS)
#define PATIENCE_LEAST_NS (2500 * MS) /* one look at the operators, and its end */

/* Who wants four seconds does not want to wait for ten. Two jobs get them: one that shows marks of
 * steps, and one that seems to wait for a process below it. */
static uint64_t timeout_ns(const struct session *s)
{
	const uint64_t duration = s->opts->duration_ns;

	if (!may_do_without(s))
		return s->opts->step_timeout_ns;
	if (!nothing_seen(s->probes.ctl) || (s->bursts.idle && s->bursts.descendants_ran))
		return duration > PATIENCE_NS ? duration : PATIENCE_NS;
	return duration > PATIENCE_LEAST_NS ? duration : PATIENCE_LEAST_NS;
}

/* Operators were seen in no order, and the budget has no room for another look in time. */
static bool is_in_vain(const struct session *s, uint64_t left_ns)
{
	return may_do_without(s) && s->bursts.cnt && !s->bursts.idle &&
	       nothing_seen(s->probes.ctl) && !bursts__may_within(s, left_ns);
}

/* A parent that only waits for the process that does the work. */
static void describe_descendant(struct session *s)
{
	if (!s->start.descendant_described && s->bursts.idle >= IDLE_BURSTS &&
	    s->bursts.descendants_ran)
		s->start.descendant_described = descendant__describe(s->opts->pid);
}

/* Compilers and libraries are set up in the first steps. */
#define REPEATS 3

int session__learn(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;
	__u64 seen[PT_CLASS_CNT];
	struct step_evidence e = {
		.seen = seen,
		.user_range = s->opts->step_range,
		.user_probe = s->opts->step_probe,
	};
	const uint64_t look_ns = look_after_ns(s);
	uint64_t begin = clock__monotonic_ns(), waited_ns = 0, set_up_ns = 0, period_tried = 0;
	uint64_t asks = 0, give_up_ns;
	int err = 0;

	call_log__free(&s->records.log);
	arm__detach_operators(s);
	for (;;) {
		memcpy(seen, ctl->class_seen, sizeof(seen));
		/* Before updates_again, which then counts no less than these. */
		atomic_thread_fence(memory_order_acquire);
		step_evidence__note_evaluation(&e, &asks);
		e.loads_elsewhere = loads_elsewhere(ctl);
		e.updates_again = ctl->updates_again;
		if (step_rule__decide(&e, &s->rule))
			break;
		session__progress(s, "waiting for a step (%.0f s)", (double)waited_ns / 1e9);
		note_first_event(s);
		err = session__pump(s, 5);
		if (err)
			return err;
		waited_ns = clock__monotonic_ns() - begin;
		if (!any_seen(ctl, REPEATS))
			set_up_ns = waited_ns;
		e.elapsed_ns = waited_ns - set_up_ns;
		give_up_ns = timeout_ns(s);
		if (waited_ns > give_up_ns || is_in_vain(s, give_up_ns - waited_ns))
			return 0;
		if (nothing_seen(ctl) && waited_ns - period_tried > look_ns && bursts__may(s)) {
			err = find_period__look(s);
			if (err || s->rule.boundary)
				break;
			period_tried = clock__monotonic_ns() - begin;
			describe_descendant(s);
			if (may_do_without(s) && s->bursts.idle >= IDLE_BURSTS &&
			    s->bursts.descendants_ran)
				return 0;
		}
	}
	note_first_event(s);
	if (!err && s->opts->step_unit && s->rule.boundary && !has_period(s))
		log__warn("--step-unit changes nothing: steps are told by %s", s->rule.source);
	if (!err && s->rule.boundary)
		rule_apply(s);
	return err;
}

enum {
	MEASURED_MIN = 2, /* steps */
	MEASURED_MAX = 32,
};
#define MEASURED_NS (50 * MS) /* short steps: as many as fill this */

static int no_step(const struct session *s)
{
	const char *named = s->opts->step_range ? NULL : s->opts->step_probe;
	char namesakes[256] = "";

	if (named)
		user_ops__namesakes(s->match.framework, named, s->target, namesakes,
				    sizeof(namesakes));
	return err__set(-ETIMEDOUT,
			"no step was seen in %.0f s by %s%s%s%s: wait longer with --step-timeout, "
			"or record by time with --duration 5s",
			(double)s->opts->step_timeout_ns / 1e9, s->rule.source, named ? " " : "",
			named ? named : "", namesakes);
}

/* -EAGAIN: the steps were not steps. */
static int wait_boundary(struct session *s, uint64_t seq)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	uint64_t seen = ctl->step_seq, since = clock__monotonic_ns();
	int err = 0;

	while (!err && ctl->step_seq < seq) {
		session__progress(s, "measuring a step");
		err = session__pump(s, 1);
		if (ctl->step_seq != seen)
			since = clock__monotonic_ns();
		seen = ctl->step_seq;
		if (!err && rule_refuted(s, since)) {
			forget_rule(s);
			err = -EAGAIN;
		}
		if (!err && clock__monotonic_ns() - since > s->opts->step_timeout_ns)
			err = no_step(s);
	}
	return err;
}

/* Mean length of the latest `cnt` steps. */
static uint64_t step_length(const struct session *s, uint64_t cnt)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	uint64_t seq = ctl->step_seq;

	return (ctl->step_ns[seq % PT_STEP_RING] - ctl->step_ns[(seq - cnt) % PT_STEP_RING]) / cnt;
}

/* Of the loader a data breakpoint tells, which may come after the rule. asked: how many of the
 * measured steps. */
static void explain_loader_next(struct session *s, uint64_t asked, uint64_t steps)
{
	const struct pt_ctl *ctl = s->probes.ctl;

	if (s->rule.boundary != PT_CLASS_FORWARD || !ctl->loader_next_tid ||
	    ctl->loader_next_tid != ctl->class_tid[PT_CLASS_FORWARD])
		return;
	if (!ctl->loader_next_ahead) {
		s->rule.explain = "each step opens where the first forward pass after a backward "
				  "pass begins; the batch is requested before the optimizer step "
				  "of the step before, and lies in that step";
		return;
	}
	s->rule.source = "DataLoader";
	if (s->rule.needs && 4 * asked < 3 * steps) {
		s->rule.explain = "each step opens where the first forward pass after a backward "
				  "pass begins, or the data loader is asked for the batch ahead "
				  "of it; not all were: of several backward passes with one batch "
				  "each is a step";
		return;
	}
	s->rule.explain = s->rule.needs
				  ? "each step opens where the data loader is asked for the first "
				    "batch after a backward pass, ahead of the forward pass"
				  : "no backward pass was seen; each step opens where the data "
				    "loader is asked for the batch, ahead of the forward pass";
}

/* The first step after attach pays for page faults and is not measured. */
int session__measure_steps(struct session *s, uint64_t *steps)
{
	struct pt_ctl *ctl = s->probes.ctl;
	/* None is counted before the first of the steps; behind its begin it would be late for
	 * some. */
	const uint64_t beside = ctl->aside_beside;
	uint64_t from = ctl->step_seq + 2, begin, asked, done = 0;
	int err;

	ctl->measure_from = from;
	ctl->measure_to = UINT64_MAX;
	err = wait_boundary(s, from);
	begin = clock__monotonic_ns();
	asked = ctl->loader_next_steps;
	while (!err && done < MEASURED_MAX &&
	       (done < MEASURED_MIN || clock__monotonic_ns() - begin < MEASURED_NS)) {
		err = wait_boundary(s, from + done + 1);
		done = ctl->step_seq - from;
	}
	if (err)
		return err;
	/* The step that has begun counts whole. */
	ctl->measure_to = ctl->step_seq + 1;
	*steps = ctl->measure_to - from;
	err = wait_boundary(s, ctl->measure_to);
	explain_loader_next(s, ctl->loader_next_steps - asked, *steps);
	s->pruned.beside += ctl->aside_beside - beside;
	s->step_length.ns = step_length(s, *steps < PT_STEP_RING ? *steps : PT_STEP_RING - 1);
	s->step_length.run_ns = step_cost__run_ns(ctl, *steps);
	return err;
}
