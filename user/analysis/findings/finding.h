/* SPDX-License-Identifier: BSD-2-Clause */
/* A finding, and the rule that makes it: one file with its thresholds, and one row in findings.c. */
#ifndef PROFTRACE_FINDING_H
#define PROFTRACE_FINDING_H

#include "analysis/analysis.h"

/* What a device waits for, and no name stands for: launches that come too slowly. */
#define CAUSE_LAUNCHES UINT32_MAX

struct finding_rule;

struct finding {
	uint64_t cost_ns; /* of a step: what mending it saves at most; 0: memory, not time */
	uint32_t cause; /* name of the wait that it is of, or one of CAUSE_...; 0: none */
	/* What `next` sends the reader to: stands before it, if found. NULL: none. */
	const struct finding_rule *see_first;
	char what[200], evidence[640], next[480];
};

struct finding_rule {
	const char *key; /* in JSON and CSV */
	bool is_general; /* what others find may be its cause: it ranks by what they leave of its cost */
	bool of_host; /* what it saves is the host's: no more than the busiest device leaves */
	bool rests_on_device; /* on its work or calls: silent where these are not known to the end */
	bool timer; /* what it judges by is recorded by --timer-only, too */
	/* Rules may find the same wait (finding.cause). The report prints the one with the highest rank. */
	int wait_rank;
	size_t state_size;
	int (*visit)(const struct analysis *a, void *state, const struct batch *b); /* or NULL */
	/* What devices did in the step that is visited next (analysis.feed.batch); or NULL. */
	int (*visit_work)(const struct analysis *a, void *state, const struct device_work *w);
	/* 1 with *f filled, 0: nothing found, or a negative errno. Only called if there are steps.
	 */
	int (*judge)(const struct analysis *a, void *state, struct finding *f);
	void (*clean)(void *state); /* or NULL */
};

extern const struct finding_rule finding_data_loader, finding_device_idle, finding_launch_bound, finding_gpu_bound,
	finding_sync,
	finding_slow_steps, finding_cpu_wait, finding_exposed_communication, finding_device_alloc,
	finding_small_copies, finding_copy_bandwidth, finding_exposed_copies, finding_outside_phases,
	finding_off_cpu, finding_page_faults, finding_memory_peak, finding_memory_unused;

/* Mean over the steps. */
uint64_t finding__per_step(const struct analysis *a, uint64_t total_ns);
/* Of a time that the clock told, what the steps' time has of it: less the probes' share. */
uint64_t finding__of_clock(const struct analysis *a, uint64_t clock_ns);
/* 0..100 of the steps' time. */
double finding__percent(const struct analysis *a, uint64_t total_ns);

/* How a finding calls the thread that makes the steps: where neither a backward pass nor an optimizer
 * is seen, it may be a server's. */
const char *finding__thread(const struct analysis *a);

/* May a wait for this reason be for the next request, of a job that neither trains nor loads? There
 * is nothing to mend in it then. */
bool finding__may_be_idle(const struct analysis *a, const char *reason);

#endif
