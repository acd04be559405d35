// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/step_compare.h"
#include "capture/arming/arm.h"
#include "capture/arming/step_cost.h"
#include "capture/session.h"
#include "capture/wait.h"
#include "common/err.h"
#include "common/util.h"

enum {
	STEPS_MAX = 48, /* most steps without probes */
	UNLIKE = 2,	/* steps after the change to skip: the first may have had probes */
};
#define WAIT_NS 1000000000ull

static int look_at_steps(struct session *s, struct wait *w)
{
	const uint64_t *until_seq = w->ctx;

	return s->opts->stop->asked || s->target_gone || s->probes.ctl->step_seq >= *until_seq
		       ? WAIT_IS_OVER
		       : WAIT_GOES_ON;
}

/* Reads and drops records: the window has all its records already. */
static int watch_until(struct session *s, uint64_t seq)
{
	return session__wait(s, &(struct wait){look_at_steps, &seq, .turn_us = 5000,
					       .end_ns = clock__monotonic_ns() + WAIT_NS,
					       .stage = STAGE_END});
}

void step_compare__watch(struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	uint64_t from;
	int err;

	if (s->step_cost.with.cnt < STEP_COST_LEAST || s->opts->timer_only || !s->sched ||
	    s->residency != RESIDENCY_FULL)
		return;
	err = arm__take_out(s);
	from = ctl->step_seq + UNLIKE;
	if (!err)
		err = watch_until(s, from + STEPS_MAX);
	if (err)
		log__debug("steps without probes: %s", err__take(err));
	if (ctl->step_seq > from)
		step_cost__read(ctl, ctl->step_seq, ctl->step_seq - from, &s->step_cost.without);
}
