/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which functions are worth a probe. Probes of hot and short functions that launch nothing cost more than they show.
 * These functions are pruned by name, and their measured statistics are kept.
 */
#ifndef PROFTRACE_PRUNE_H
#define PROFTRACE_PRUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "frameworks/framework.h"

struct prune_input {
	uint32_t row;
	uint32_t hits; /* probe hits per span, without those of stat.ends */
	bool has_names; /* its program reads names, and calls with some names get no span */
	bool stays;
	bool is_node;	/* a backward node; it lasts until the next node with a probe begins */
	bool is_caller; /* it has no spans: its return ends the spans of the functions that it calls */
	struct pt_probe_stat stat; /* of the measured steps */
};

struct prune_policy {
	double steps;	     /* steps measured */
	bool by_time;	     /* `steps` is then the CPU time of the process in seconds */
	double max_overhead; /* share of a step's time that probes may add, 0.02 = 2 % */
	uint64_t step_ns;    /* length of a step */
	uint64_t hit_ns;     /* what one hit costs */
	double peer_hits_per_call; /* see struct framework */
	double other_ns;     /* cost per step of the probes that cannot be pruned: those of steps and phases */
	uint64_t inside_ns;  /* part of a span's own cost inside its measured duration */
	uint64_t callers;    /* callers of functions that cannot be pruned, as in struct pt_probe_stat */
};

/* The limit up to which a measured duration counts when probes are chosen. A function that is longer in each step is
 * exempt. So a single call that a page fault or the machine's host interrupts does not decide. Put it into ctl.clip_ns
 * before steps are measured. */
uint64_t prune__clip_ns(const struct prune_policy *policy);
/* The total length of the calls, if each call is as long as typical calls. */
uint64_t prune__typical_ns(const struct prune_policy *policy, const struct pt_probe_stat *stat);
/* The share of the measured time that an estimate counts. It is 1 for a function with a long call in at least 30 % of
 * the steps: such a function is really long. */
double prune__typical_share(const struct prune_policy *policy, const struct pt_probe_stat *stat);
/* Marks the rows to prune in pruned[] and returns their number. The least informative rows for their cost go first,
 * until the budget holds. The budget includes the probes of steps and phases.
 * First tier: functions with at least 4 calls a step whose spans last on average less than 10 times their probes.
 * Second tier, if the budget does not hold: 2 calls a step and less than 25 times. Third tier, if it suffices: one call
 * a step. The second and third tier stop at a quarter of the known cost of the framework's own profiler. No tier prunes
 * a function that takes a fifth of the step and lasts 10 times its probes.
 * Last: the remaining callees of a caller whose hits they are not worth. A caller goes with its last callee. */
size_t prune__choose(const struct prune_policy *policy, const struct prune_input *in, size_t cnt,
		     bool *pruned);
/* A backward node with a probe is charged with the time of the nodes without one. If some nodes are pruned, prunes more
 * nodes: short ones, and those that would be charged with more time than their own. Estimates replace them. Prunes no
 * node if tensor hooks take long: these run before a node, and would be charged to the node before. */
void prune__nodes(const struct prune_policy *policy, const struct prune_input *in,
			 size_t cnt, bool *pruned);

#endif
