// SPDX-License-Identifier: BSD-2-Clause
#include "capture/steps/log_calls.h"
#include "capture/capture_ring.h"
#include "capture/session.h"
#include "capture/steps/step_classes.h"
#include "capture/wait.h"
#include "common/util.h"

#define MS 1000000ull

/* Drops the scheduler's records of this window, which no file gets. */
static int forget_sched(struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	struct sched_totals totals = {0};
	int err;

	if (!s->sched) /* --timer-only */
		return 0;
	err = sched_source__drain(s->sched, ctl->window_open_ns, ctl->window_close_ns, NULL, NULL,
				  &totals);
	if (!err)
		sched_totals__free(&totals);
	return err;
}

/* A look of one second shows no whole pass of a slow model, only layers that repeat. A look with
 * few calls goes on for longer, except for a window by time. */
#define LOOK_FEW     2000 /* calls */
#define LOOK_LONG_NS (8000 * MS)

static bool looks_on(const struct session *s, uint64_t begin_ns)
{
	const bool by_time = s->opts->duration_ns && !s->opts->has_schedule;
	const uint64_t longest_ns = s->opts->step_timeout_ns / 4;

	return s->records.log.cnt && s->records.log.cnt < LOOK_FEW && !by_time &&
	       clock__monotonic_ns() - begin_ns <
		       (longest_ns < LOOK_LONG_NS ? longest_ns : LOOK_LONG_NS);
}

/* If training begins meanwhile, the look ends: better marks exist than the order of operators. */
static bool has_looked(const struct session *s, uint64_t begin_ns)
{
	const bool for_long = clock__monotonic_ns() - begin_ns >= 1000 * MS;

	return !nothing_seen(s->probes.ctl) || (for_long && !looks_on(s, begin_ns));
}

struct look_at_calls {
	uint64_t begin_ns, seq, steps, calls;
};

static int look_at_log(struct session *s, struct wait *w)
{
	const struct look_at_calls *l = w->ctx;
	bool on;

	if (l->steps)
		on = s->probes.ctl->step_seq - l->seq < l->steps &&
		     clock__monotonic_ns() - l->begin_ns < 1000 * MS;
	else
		on = !has_looked(s, l->begin_ns);
	return s->records.log.cnt < l->calls && on ? WAIT_GOES_ON : WAIT_IS_OVER;
}

/* Opens a window without a file for a moment. */
int session__log_calls(struct session *s, uint64_t steps, uint64_t calls)
{
	struct pt_ctl *ctl = s->probes.ctl;
	struct look_at_calls look = {clock__monotonic_ns(), ctl->step_seq, steps, calls};
	int err;

	s->records.log.pid = (uint32_t)s->target->pid;
	ctl->window_open_ns = look.begin_ns;
	ctl->window_open = 1;
	err = session__wait(s, &(struct wait){look_at_log, &look, .turn_us = 2000});
	ctl->window_close_ns = clock__monotonic_ns();
	ctl->window_open = 0;
	if (!err)
		err = session__drain(s);
	if (!err)
		err = forget_sched(s);
	ctl->window_open_ns = 0;
	return err;
}
