/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Far from a window the job runs without a single probe. Its steps are counted by two variables of
 * its own that grow by the same in each (struct pt_counters; PyTorch's: how many nodes autograd has
 * made, and how many backward passes there were), read from outside. Now and then, and before a
 * window, the probes are there for two steps: by how far the two have come until the first it is
 * known how many have ended. If they do not agree on one number, or the second is not as all before,
 * each step is seen by a probe from then on. A backward pass without an optimizer step counts.
 */
#ifndef PROFTRACE_PROBELESS_H
#define PROFTRACE_PROBELESS_H

#include <stdbool.h>
#include <stdint.h>
#include "bpf/ctl.h"

struct session;

struct probeless {
	bool out;		      /* no probe is in the job */
	bool refuted;		      /* its steps cannot be told without */
	uint64_t pause_ns;	      /* how long the probes are out, 0: never yet */
	uint64_t until_ns, looked_ns; /* the end of that, and the latest look at the job */
	uint64_t step_ns;	      /* a step's length by the latest look, 0: unknown */
	bool is_checked;	      /* the probes are back for that, */
	uint64_t seq;		      /* since step_seq, counter_odd, counter_alike were so */
	uint32_t odd, alike;
};

/* While the session rests, `left` steps of step_ns before its window. Call often. */
int probeless__poll(struct session *s, uint64_t left, uint64_t step_ns);
/* The probes that count steps are there again, if they were out. */
int probeless__end(struct session *s);
/* After that, whether what was counted can be true. Call often. */
void probeless__check(struct session *s);
/* Length of a step as it was seen from outside, if that is less. */
uint64_t probeless__pace(const struct session *s, uint64_t step_ns);
/* Steps until now, seen or counted. */
uint64_t probeless__step(const struct pt_ctl *ctl);
/* Puts what a recording says of it where its step rule is explained, "" if there is nothing. */
void probeless__describe(struct session *s);

#endif
