/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Far from a window the job runs without a single probe. Its steps are counted by two variables of
 * the job that grow by the same in each step, read from outside (struct pt_counters; PyTorch's: how
 * many nodes autograd has made, and how many backward passes there were). Now and then, and before
 * a window, the probes are there for two steps. The growth of both variables until the first of
 * them says how many steps have ended. If they do not agree on one number, or the second is not as
 * all before, each step is seen by a probe from then on. A backward pass without an optimizer step
 * counts.
 */
#ifndef PROFTRACE_PROBELESS_H
#define PROFTRACE_PROBELESS_H

#include <stdbool.h>
#include <stdint.h>
#include "bpf/ctl.h"

struct session;

struct probeless {
	bool refuted;		      /* its steps cannot be told without */
	uint64_t pause_ns;	      /* how long the probes are out, 0: they never were */
	uint64_t until_ns, looked_ns; /* the end of that, and the latest look at the job */
	uint64_t step_ns;	      /* a step's length by the latest look, 0: unknown */
	bool is_checked;	      /* the probes are back for that, */
	uint64_t seq;		      /* since step_seq, counter_odd, counter_alike were so */
	uint32_t odd, alike;
};

/* Two variables of the process tell of its steps, and may do so alone. */
bool probeless__may_begin(const struct session *s);
/* Takes the probes of steps out. *begun: false where a step ended meanwhile, and they are back. 0 or a
 * negative errno with err__set. */
int probeless__begin(struct session *s, bool *begun);
/* Reads how far the job has come, ten times a second. Call often while the probes are out. */
void probeless__poll_counters(struct session *s);
/* By then it is time to look whether the variables still tell of steps. */
bool probeless__pause_is_over(const struct session *s);
/* The probes of steps come back. 0 or a negative errno with err__set. */
int probeless__end(struct session *s);
/* After that, whether what was counted can be true. Call often. */
void probeless__poll_verdict(struct session *s);
/* Steps until now, seen or counted. */
static inline uint64_t probeless__step(const struct pt_ctl *ctl)
{
	return ctl->step + ctl->probeless_steps;
}
/* Puts what a recording says of it where its step rule is explained, "" if there is nothing. */
void probeless__describe(struct session *s);

#endif
