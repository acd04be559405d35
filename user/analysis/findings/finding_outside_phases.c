// SPDX-License-Identifier: BSD-2-Clause
/* Much of the step belongs to none of its phases. */
#include <string.h>
#include "analysis/tables/awaited.h"
#include "analysis/findings/few_steps.h"
#include "analysis/findings/finding.h"
#include "analysis/step_parts.h"
#include "analysis/thread_times.h"

#define WORTH_SAYING 20.0 /* percent of the step */

struct outside {
	struct awaited awaited;
	struct few_steps others; /* time in no phase, by step; without waits for a busy device */
	uint64_t gpu_wait_ns;	 /* waits for a busy device */
	uint64_t ready_ns;	 /* time without a processor: so much of others may be that */
};

/* A step without phases, such as a graph that evaluates, does not say what it should contain. */
static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct outside *o = state;
	uint64_t others_ns, ready_ns, wait_ns = a->gpu_wait.phase_ns[KIND_OTHER];
	int err;

	if (!step__has_phase(b->step))
		return 0;
	others_ns = b->step->phase_ns[KIND_OTHER];
	wait_ns = wait_ns < others_ns ? wait_ns : others_ns;
	o->gpu_wait_ns += wait_ns;
	others_ns -= wait_ns;
	ready_ns = ready_time__of(a, b->step);
	ready_ns = ready_ns < others_ns ? ready_ns : others_ns;
	o->ready_ns += ready_ns;
	err = few_steps__add(&o->others, b->step->index, others_ns - ready_ns);
	return err ? err : awaited__add(a, &o->awaited, b);
}

/* The reason for which the thread is blocked longest, if it may be half of the time outside. The
 * recording has sums per step, not the time of each wait. */
static uint32_t cause_of(const struct analysis *a, uint32_t track, uint64_t gap_ns)
{
	uint64_t ns;
	const uint32_t wait = thread_wait__longest(a, track, &ns);

	return 2 * ns >= gap_ns ? wait : 0;
}

static int judge(const struct analysis *a, void *state, struct finding *f)
{
	const struct outside *o = state;
	const struct awaited *w = &o->awaited;
	const uint64_t known_ns = awaited__ns(a, w) + o->gpu_wait_ns + o->ready_ns;
	const uint64_t gap_ns = w->others_ns > known_ns ? w->others_ns - known_ns : 0;
	struct thread_times times;
	bool few;
	size_t len;

	/* Without a backward pass it is unknown which phases a step should have. */
	if (!a->phases[KIND_BACKWARD].calls || finding__percent(a, gap_ns) < WORTH_SAYING)
		return 0;
	f->cost_ns = finding__per_step(a, gap_ns);
	f->cause = cause_of(a, w->track, gap_ns);
	snprintf(f->what, sizeof(f->what),
		 "%.0f %% of the step is neither loading, forward, backward nor optimization.",
		 finding__percent(a, gap_ns));
	snprintf(f->evidence, sizeof(f->evidence), "%s of a step of %s%s",
		 time_text(a, f->cost_ns).s,
		 time_text(a, finding__per_step(a, a->steps.cpu.total)).s,
		 o->ready_ns ? ", without waits for a processor" : "");
	few = few_steps__describe(a, &o->others, 0, f->evidence, sizeof(f->evidence));
	if (thread_times__of(a, w->track, &times)) {
		len = strlen(f->evidence);
		snprintf(f->evidence + len, sizeof(f->evidence) - len,
			 "; of a whole step the thread runs for %s, stands ready for %s and is "
			 "blocked for %s",
			 time_text(a, finding__per_step(a, times.run_ns)).s,
			 time_text(a, finding__per_step(a, times.runnable_ns)).s,
			 time_text(a, finding__per_step(a, times.blocked_ns)).s);
	}
	snprintf(f->next, sizeof(f->next), "%s",
		 few ? "an evaluation, a checkpoint, the start and end of loader workers "
		       "(persistent_workers=True keeps them) or logging? `--table steps` marks "
		       "slow steps, and the trace shows what runs in them"
		     : "metrics, logging, checkpoints or a wait for the device's result? The trace "
		       "shows where the gap is; a range of your own around it names it");
	return 1;
}

static void clean(void *state)
{
	struct outside *o = state;

	awaited__free(&o->awaited);
	few_steps__free(&o->others);
}

const struct finding_rule finding_outside_phases = {
	.key = "outside_phases",
	.of_host = true,
	.is_general = true,
	.state_size = sizeof(struct outside),
	.visit = visit,
	.judge = judge,
	.clean = clean,
};
