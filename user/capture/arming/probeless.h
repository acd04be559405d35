/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Far from a window the job runs without a single probe. Its steps are counted by two variables of the job that grow by
 * the same in each step (struct pt_counters). We read them from outside. PyTorch's variables count autograd's nodes and
 * backward passes.
 *
 * Now and then, and before a window, probes see two steps. At the first of them the growth of each variable says how
 * many steps have ended. Two cases end probeless counting for good: the variables disagree, or the second step is
 * unlike the earlier ones. A backward pass without an optimizer step counts as a step.
 */
#ifndef PROFTRACE_PROBELESS_H
#define PROFTRACE_PROBELESS_H

#include <stdbool.h>
#include <stdint.h>
#include "bpf/ctl.h"

struct session;

struct probeless {
	bool refuted;		      /* steps cannot be counted without probes */
	uint64_t pause_ns;	      /* time without probes; 0: the probes were never detached */
	uint64_t until_ns, looked_ns; /* end of this time, and time of the latest read */
	uint64_t step_ns;	      /* a step's length by the latest read; 0: unknown */
	bool is_checked;	      /* the probes are back for a check */
	uint64_t seq;		      /* step_seq, counter_odd and counter_alike when the check began */
	uint32_t odd, alike;
};

/* Do two variables of the process count its steps, so that probes may be detached? */
bool probeless__may_begin(const struct session *s);
/* Detaches the probes of steps. *begun is false if a step was unlike the others meanwhile; then the probes are back.
 * Returns 0 or a negative errno with err__set. */
int probeless__begin(struct session *s, bool *begun);
/* Reads the step count of the job ten times a second. Call often while the probes are detached. */
void probeless__poll_counters(struct session *s);
/* Is it time to check with probes whether the variables still count steps? */
bool probeless__pause_is_over(const struct session *s);
/* Attaches the probes of steps again. Returns 0 or a negative errno with err__set. */
int probeless__end(struct session *s);
/* After probeless__end(): decides whether the probeless count can be true. Call often. */
void probeless__poll_verdict(struct session *s);
/* Steps until now, seen by probes or counted without. */
static inline uint64_t probeless__step(const struct pt_ctl *ctl)
{
	return ctl->step + ctl->probeless_steps;
}
/* Writes the sentence for the recording's explanation of the step rule; "" if there is nothing to say. */
void probeless__describe(struct session *s);

#endif
