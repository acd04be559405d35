// SPDX-License-Identifier: BSD-2-Clause
/* Much of the step belongs to none of its phases. */
#include "analysis/findings.h"
#include <string.h>

#define WORTH_SAYING 20.0 /* percent of the step */

struct outside {
	uint64_t ns;
	uint32_t track;
};

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct outside *o = state;

	o->ns += b->step->phase_ns[KIND_OTHER];
	o->track = b->step->track;
	return 0;
}

/* Of the wait for which the thread is blocked longest, if it may be half of the time outside: the
 * recording has sums of a step, not when each wait was. */
static uint32_t cause_of(const struct analysis *a, const struct outside *o)
{
	uint64_t ns;
	const uint32_t wait = thread_wait__longest(a, o->track, &ns);

	return 2 * ns >= o->ns ? wait : 0;
}

static int judge(const struct analysis *a, void *state, struct finding *f)
{
	const struct outside *o = state;
	struct thread_times times;
	size_t len;

	/* Without a backward pass there is no telling what a step should consist of. */
	if (!a->phases[KIND_BACKWARD].calls || finding__percent(a, o->ns) < WORTH_SAYING)
		return 0;
	f->cost_ns = finding__per_step(a, o->ns);
	f->cause = cause_of(a, o);
	snprintf(f->what, sizeof(f->what),
		 "%.0f %% of the step is neither loading, forward, backward nor optimization.",
		 finding__percent(a, o->ns));
	snprintf(f->evidence, sizeof(f->evidence), "%s of a step of %s", time_text(a, f->cost_ns).s,
		 time_text(a, finding__per_step(a, a->steps.cpu.total)).s);
	if (thread_times__of(a, o->track, &times)) {
		len = strlen(f->evidence);
		snprintf(f->evidence + len, sizeof(f->evidence) - len,
			 "; of a whole step the thread runs for %s, stands ready for %s and is "
			 "blocked for %s",
			 time_text(a, finding__per_step(a, times.run_ns)).s,
			 time_text(a, finding__per_step(a, times.runnable_ns)).s,
			 time_text(a, finding__per_step(a, times.blocked_ns)).s);
	}
	snprintf(f->next, sizeof(f->next),
		 "metrics, logging, checkpoints or a wait for the device's result? The trace shows "
		 "where the gap is; a range of your own around it names it");
	return 1;
}

const struct finding_rule finding_outside_phases = {
	.key = "outside_phases",
	.is_general = true,
	.state_size = sizeof(struct outside),
	.visit = visit,
	.judge = judge,
};
