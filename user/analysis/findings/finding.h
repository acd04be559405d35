/* SPDX-License-Identifier: BSD-2-Clause */
/* A finding, and the rule that makes it: one file with its thresholds, and one row in findings.c. */
#ifndef PROFTRACE_FINDING_H
#define PROFTRACE_FINDING_H

#include "analysis/analysis.h"

/* A cause without a name of its own: launches come too slowly for the device. */
#define CAUSE_LAUNCHES UINT32_MAX

struct finding_rule;

struct finding {
	uint64_t cost_ns; /* the most that a fix can save of a step; 0: the finding is about
			     memory */
	uint32_t cause; /* name of the wait that causes it, or one of CAUSE_...; 0: none */
	/* The rule that `next` refers to. Its finding, if there is one, comes first. NULL: none. */
	const struct finding_rule *see_first;
	char what[200], evidence[640], next[480];
};

struct finding_rule {
	const char *key; /* in JSON and CSV */
	bool is_general; /* other findings may be its cause: ranks by its cost without theirs */
	bool of_host; /* saves time of the host: at most what the busiest device is idle */
	bool rests_on_device; /* silent if device work is not known until the end */
	bool timer; /* judges by data that --timer-only records */
	/* Rules may find the same wait (finding.cause). The report prints the one with the highest rank. */
	int wait_rank;
	size_t state_size;
	int (*visit)(const struct analysis *a, void *state, const struct batch *b); /* or NULL */
	/* Gets the devices' work in the step that is visited next (analysis.feed.batch). May be
	 * NULL. */
	int (*visit_work)(const struct analysis *a, void *state, const struct device_work *w);
	/* 1 with *f filled, 0: nothing found, or a negative errno. Called only if there are
	 * steps. */
	int (*judge)(const struct analysis *a, void *state, struct finding *f);
	void (*clean)(void *state); /* or NULL */
};

extern const struct finding_rule finding_data_loader, finding_device_idle, finding_launch_bound, finding_gpu_bound,
	finding_sync,
	finding_slow_steps, finding_cpu_wait, finding_exposed_communication, finding_device_alloc,
	finding_small_copies, finding_copy_bandwidth, finding_exposed_copies, finding_outside_phases,
	finding_off_cpu, finding_page_faults, finding_memory_peak, finding_memory_unused;

/* Mean per step. */
uint64_t finding__per_step(const struct analysis *a, uint64_t total_ns);
/* Scales clock time to the steps' time, which is without the probes' cost. */
uint64_t finding__of_clock(const struct analysis *a, uint64_t clock_ns);
/* The part of the steps' time, 0..100. */
double finding__percent(const struct analysis *a, uint64_t total_ns);

/* What a finding calls the thread of the steps. Without a backward pass and an optimizer it may be
 * a server's thread. */
const char *finding__thread(const struct analysis *a);

/* May a wait for this reason be a wait for the next request? So for a job that neither trains nor
 * loads data. Such a wait needs no fix. */
bool finding__may_be_idle(const struct analysis *a, const char *reason);

#endif
