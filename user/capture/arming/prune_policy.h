/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which functions are worth a probe: those that are hot, short and launch nothing cost more than
 * they tell. They are left out by name, with what was measured before they were.
 */
#ifndef PROFTRACE_PRUNE_H
#define PROFTRACE_PRUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "frameworks/framework.h"

struct prune_input {
	uint32_t row;
	uint32_t hits; /* probe hits per span, but for those of stat.ends */
	bool has_names; /* its program reads them: calls may be of no interest, without a span */
	bool stays;
	bool is_node;	/* a backward node, which lasts until the next one that has a probe begins */
	bool is_caller; /* it has no spans: its return ends those of what it calls */
	struct pt_probe_stat stat; /* over the steps observed */
};

struct prune_policy {
	double steps;	     /* steps observed */
	bool by_time;	     /* seconds that the process ran, in their place */
	double max_overhead; /* share of a step's time that probes may add, 0.02 = 2 % */
	uint64_t step_ns;    /* length of a step */
	uint64_t hit_ns;     /* what one hit costs */
	double peer_hits_per_call; /* see struct framework */
	double other_ns;     /* a step, by probes that are not weighed: those of steps and phases */
	uint64_t inside_ns;  /* part of a span's own cost inside its measured duration */
	uint64_t callers;    /* of functions that are not weighed, as in struct pt_probe_stat */
};

/* When probes are chosen, measured durations count up to this, unless one is longer in each step. A
 * single call that a page fault or the machine's host interrupts must not decide. Goes to
 * ctl.clip_ns before the steps that are observed. */
uint64_t prune__clip_ns(const struct prune_policy *policy);
/* How long its calls were in all, each as long as they typically are. */
uint64_t prune__typical_ns(const struct prune_policy *policy, const struct pt_probe_stat *stat);
/* The share of the calls' measured time that an estimate counts. 1 for a function that is long in at least
 * every other step: it is long by itself. */
double prune__typical_share(const struct prune_policy *policy, const struct pt_probe_stat *stat);
/* Marks rows in pruned[]; returns how many. Those that tell least for their cost go first, until
 * the budget holds. It includes the probes of steps and phases. First: functions with at least 4
 * calls a step, and spans that last on average less than 10 times their probes. Next, if the budget
 * does not hold: those with 2 calls a step and less than 25 times, while the cost exceeds a quarter
 * of the known cost of the framework's own profiler for as many calls. Next: those with one call,
 * if that is enough. None of these goes if it is a fifth of the step and lasts 10 times its probes.
 * Last: those not worth all hits of their caller, whose other callees are gone. A caller goes with
 * the last function that it was seen to call. */
size_t prune__choose(const struct prune_policy *policy, const struct prune_input *in, size_t cnt,
		     bool *pruned);
/* A backward node that has a probe has also the time of those that have none. If some are pruned,
 * prunes more, which are estimated as well: short ones, and those that would be charged with more
 * time of others than their own. Prunes none if the hooks of tensors, which run before them, would
 * count for the node before. */
void prune__nodes(const struct prune_policy *policy, const struct prune_input *in,
			 size_t cnt, bool *pruned);

#endif
