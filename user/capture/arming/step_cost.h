/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of our probes to a step, measured on the job. It compares the CPU time of the step thread in two kinds of
 * steps. These are the window's steps, and some steps after the last window that have only the probes of steps.
 */
#ifndef PROFTRACE_STEP_COST_H
#define PROFTRACE_STEP_COST_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include "bpf/ctl.h"

struct session;

struct step_runs {
	uint64_t ns[PT_STEP_RING]; /* in the order of the steps */
	size_t cnt;
};

/* Of one session, zeroed at first. */
struct step_cost {
	struct step_runs with, without;
	uint64_t run_ns; /* CPU time of the thread in the window; without steps, of the process */
	uint64_t process_ns; /* the process's CPU time when the window opened */
};

/* Added time of a step, in nanoseconds, with its 95 % interval. */
struct step_difference {
	double added_ns, low_ns, high_ns;
};
#define STEP_COST_LEAST 5 /* fewest steps on a side */
/* The difference of the medians. -ENODATA: too few steps on a side. */
int step_cost__difference(const struct step_runs *with, const struct step_runs *without,
			  struct step_difference *out);

/* The CPU times of up to cnt steps. The last of these steps ends at boundary `seq`. */
void step_cost__read(const struct pt_ctl *ctl, uint64_t seq, uint64_t cnt, struct step_runs *out);
/* Adds to the summary's "cost". */
void step_cost__describe(const struct step_cost *c, json_t *cost);

/* Mean CPU time of the latest `cnt` steps; 0: unknown. */
uint64_t step_cost__run_ns(const struct pt_ctl *ctl, uint64_t cnt);

#endif
