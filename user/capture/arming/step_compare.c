// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/step_compare.h"
#include "capture/arming/arm.h"
#include "capture/arming/step_cost.h"
#include "capture/capture_ring.h"
#include "capture/session.h"
#include "common/err.h"
#include "common/util.h"

enum {
	STEPS_MAX = 48, /* without probes */
	UNLIKE = 2,	/* steps behind the change: the first may have had probes */
};
#define WAIT_NS 1000000000ull

/* Records are read and thrown away. Not by turns: components would finish the window. */
static int watch_until(struct session *s, uint64_t seq)
{
	const uint64_t until_ns = clock__monotonic_ns() + WAIT_NS;
	const struct pt_ctl *ctl = s->probes.ctl;
	const struct timespec pause = {.tv_nsec = 5000000};
	int err = 0;

	while (!err && !s->opts->stop->asked && ctl->step_seq < seq && target__alive(s->target) &&
	       clock__monotonic_ns() < until_ns) {
		nanosleep(&pause, NULL);
		err = session__drain(s);
	}
	return err;
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
