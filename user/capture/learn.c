// SPDX-License-Identifier: BSD-2-Clause
/* Before the first window: learns what a step is, and how long a step takes. */
#include "capture/arming/arm.h"
#include "capture/processes/descendant.h"
#include "capture/steps/find_period.h"
#include "capture/steps/session_rule.h"
#include "capture/steps/step_classes.h"
#include "capture/user_probes/user_ops.h"
#include "capture/wait.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/util.h"
#include <stdatomic.h>
#include <string.h>

#define MS 1000000ull

/* Delay before proftrace looks at operators of a job without a sign of steps, and between two
 * looks. It is longer (LATE) if looking needs extra probes: a training job with long steps should
 * not pay for these. */
#define LOOK_NS	     (2000 * MS)
#define LOOK_LATE_NS (5000 * MS)
#define IDLE_BURSTS  2		 /* one idle look may be a wait for data or for a device */
#define LOOK_SOON_NS (1000 * MS) /* for a window by time, which needs no steps */

static void note_first_event(struct session *s)
{
	if (!s->attaching.begin_ns || nothing_seen(s->probes.ctl))
		return;
	log__debug("first event %.1f ms after the attach began",
		   (double)(clock__monotonic_ns() - s->attaching.begin_ns) / 1e6);
	s->attaching.begin_ns = 0;
}

/* Some programs fetch batches ahead in a separate thread. Such a request belongs to no step. */
static bool loads_elsewhere(const struct pt_ctl *ctl)
{
	const uint32_t loads = ctl->class_tid[PT_CLASS_DATALOADER];
	const uint32_t optimizes = ctl->class_tid[PT_CLASS_OPTIMIZER];

	return loads && optimizes && loads != optimizes &&
	       proc__status((pid_t)loads, "Tgid") == proc__status((pid_t)optimizes, "Tgid");
}

/* A window by time can open without steps. A program that `run` has just started may still prepare
 * its first step. */
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

/* How long to wait for a step. A user who records for 4 s should not wait 10 s without need. Two
 * kinds of jobs get 10 s: a job with marks of steps, and a job that seems to wait for a descendant
 * process. */
static uint64_t timeout_ns(const struct session *s)
{
	const uint64_t duration = s->opts->duration_ns;

	if (!may_do_without(s))
		return s->opts->step_timeout_ns;
	if (!nothing_seen(s->probes.ctl) || (s->bursts.idle && s->bursts.descendants_ran))
		return duration > PATIENCE_NS ? duration : PATIENCE_NS;
	return duration > PATIENCE_LEAST_NS ? duration : PATIENCE_LEAST_NS;
}

/* The looks found operators without an order, and --max-overhead allows no other look in time. */
static bool is_in_vain(const struct session *s, uint64_t left_ns)
{
	return may_do_without(s) && s->bursts.cnt && !s->bursts.idle &&
	       nothing_seen(s->probes.ctl) && !bursts__may_within(s, left_ns);
}

/* The process seems to wait for a descendant process. */
static bool only_waits(const struct session *s)
{
	return s->bursts.idle >= IDLE_BURSTS && s->bursts.descendants_ran;
}

/* Names the descendant process that does the work, if the target only waits for it. */
static void describe_descendant(struct session *s)
{
	if (!s->start.descendant_described && only_waits(s))
		s->start.descendant_described = descendant__describe(s->opts->pid);
}

/* Compilers and libraries are set up in the first steps. Time counts only after this many events of
 * one class. */
#define REPEATS 3

enum learnt { LEARNT_NOTHING, LEARNT_RULE, LEARNT_GIVEN_UP, LEARNT_LOOK_IS_DUE };

struct look_for_steps {
	__u64 seen[PT_CLASS_CNT];
	struct step_evidence e;
	uint64_t begin_ns, waited_ns, set_up_ns, asks;
	/* delay before a look at the operators, and time of the latest look */
	uint64_t look_ns, tried_ns;
	enum learnt learnt;
};

static bool decides(struct session *s, struct look_for_steps *l)
{
	const struct pt_ctl *ctl = s->probes.ctl;

	memcpy(l->seen, ctl->class_seen, sizeof(l->seen));
	/* Read class_seen before updates_again. So updates_again covers all optimizer steps in
	 * class_seen. */
	atomic_thread_fence(memory_order_acquire);
	step_evidence__note_evaluation(&l->e, &l->asks);
	l->e.loads_elsewhere = loads_elsewhere(ctl);
	l->e.updates_again = ctl->updates_again;
	return step_rule__decide(&l->e, &s->rule);
}

static enum learnt look_once(struct session *s, struct look_for_steps *l)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	const uint64_t give_up_ns = timeout_ns(s);

	l->waited_ns = clock__monotonic_ns() - l->begin_ns;
	if (!any_seen(ctl, REPEATS))
		l->set_up_ns = l->waited_ns;
	l->e.elapsed_ns = l->waited_ns - l->set_up_ns;
	if (decides(s, l))
		return LEARNT_RULE;
	if (l->waited_ns > give_up_ns || is_in_vain(s, give_up_ns - l->waited_ns))
		return LEARNT_GIVEN_UP;
	if (nothing_seen(ctl) && l->waited_ns - l->tried_ns > l->look_ns && bursts__may(s))
		return LEARNT_LOOK_IS_DUE;
	return LEARNT_NOTHING;
}

static int look_for_steps(struct session *s, struct wait *w)
{
	struct look_for_steps *l = w->ctx;

	note_first_event(s);
	l->learnt = look_once(s, l);
	if (l->learnt)
		return WAIT_IS_OVER;
	session__progress(s, "waiting for a step (%.0f s)", (double)l->waited_ns / 1e9);
	return WAIT_GOES_ON;
}

int session__learn(struct session *s)
{
	struct look_for_steps l = {
		.e = {.user_range = s->opts->step_range, .user_probe = s->opts->step_probe},
		.begin_ns = clock__monotonic_ns(),
		.look_ns = look_after_ns(s),
	};
	struct wait w = {look_for_steps, &l, .turn_us = 5000};
	int err;

	l.e.seen = l.seen;
	call_log__free(&s->records.log);
	arm__detach_operators(s);
	err = session__wait(s, &w);
	while (!err && l.learnt == LEARNT_LOOK_IS_DUE) {
		err = find_period__look(s);
		if (err || s->rule.boundary)
			break;
		l.tried_ns = clock__monotonic_ns() - l.begin_ns;
		describe_descendant(s);
		if (may_do_without(s) && only_waits(s))
			return 0;
		err = session__wait(s, &w);
	}
	if (err || !s->rule.boundary)
		return err;
	note_first_event(s);
	if (s->opts->step_unit && !session_rule__is_period(s))
		log__warn(MESSAGE_STEP_UNIT_WITHOUT_EFFECT, s->rule.source);
	session_rule__apply(s);
	return 0;
}

enum {
	MEASURED_MIN = 2, /* steps */
	MEASURED_MAX = 32,
};
#define MEASURED_NS (50 * MS) /* if steps are short, measure as many as fill this time */

static int no_step(const struct session *s)
{
	const char *named = s->opts->step_range ? NULL : s->opts->step_probe;
	const double waited_s = (double)s->opts->step_timeout_ns / 1e9;
	char namesakes[256];

	if (!named)
		return err__set(-ETIMEDOUT, MESSAGE_STEPS_OF_RULE_MISSING, waited_s,
				s->rule.source);
	switch (user_ops__namesakes(s->match.framework, named, s->target, namesakes,
				    sizeof(namesakes))) {
	case NAMESAKES_OVERLOADS:
		return err__set(-ETIMEDOUT, MESSAGE_STEPS_OF_OVERLOADED_MISSING, waited_s,
				s->rule.source, named, namesakes);
	case NAMESAKES_UNDERSCORED:
		return err__set(-ETIMEDOUT, MESSAGE_STEPS_OF_NAMESAKE_MISSING, waited_s,
				s->rule.source, named, namesakes);
	default:
		return err__set(-ETIMEDOUT, MESSAGE_STEPS_OF_PROBE_MISSING, waited_s,
				s->rule.source, named);
	}
}

struct look_for_boundary {
	uint64_t seq;		 /* the boundary to wait for */
	uint64_t seen, since_ns; /* the latest boundary seen, and when it was seen */
};

/* Returns -EAGAIN if the steps were no steps. */
static int look_for_boundary(struct session *s, struct wait *w)
{
	const uint64_t seq = s->probes.ctl->step_seq, now_ns = clock__monotonic_ns();
	struct look_for_boundary *l = w->ctx;

	if (seq != l->seen)
		l->since_ns = now_ns;
	l->seen = seq;
	if (seq >= l->seq)
		return WAIT_IS_OVER;
	if (session_rule__is_refuted(s, l->since_ns)) {
		session_rule__forget(s);
		return -EAGAIN;
	}
	if (now_ns - l->since_ns > s->opts->step_timeout_ns)
		return no_step(s);
	session__progress(s, "measuring a step");
	return WAIT_GOES_ON;
}

static int wait_boundary(struct session *s, uint64_t seq)
{
	struct look_for_boundary l = {seq, s->probes.ctl->step_seq, clock__monotonic_ns()};

	return session__wait(s, &(struct wait){look_for_boundary, &l, .turn_us = 1000});
}

/* Mean length of the latest `cnt` steps. */
static uint64_t step_length(const struct session *s, uint64_t cnt)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	uint64_t seq = ctl->step_seq;

	return (ctl->step_ns[seq % PT_STEP_RING] - ctl->step_ns[(seq - cnt) % PT_STEP_RING]) / cnt;
}

/* A data breakpoint may show the loader next only after the rule was chosen. asked: number of
 * measured steps with a loader next. */
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

/* The first step after the attach pays for page faults and is not measured. */
int session__measure_steps(struct session *s, uint64_t *steps)
{
	struct pt_ctl *ctl = s->probes.ctl;
	/* Read before the first measured step. A later read would miss steps of other threads. */
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
	/* The step that has begun is measured to its end. */
	ctl->measure_to = ctl->step_seq + 1;
	*steps = ctl->measure_to - from;
	err = wait_boundary(s, ctl->measure_to);
	explain_loader_next(s, ctl->loader_next_steps - asked, *steps);
	s->pruned.beside += ctl->aside_beside - beside;
	s->step_length.ns = step_length(s, *steps < PT_STEP_RING ? *steps : PT_STEP_RING - 1);
	s->step_length.run_ns = step_cost__run_ns(ctl, *steps);
	return err;
}
