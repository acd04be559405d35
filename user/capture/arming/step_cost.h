/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What our probes add to a step, measured on the job itself. It compares the run time of the thread
 * that counts steps in two kinds of steps: the window's, and some after the last window that have
 * only the probes of steps. Run time is time on a processor, by the switches of threads.
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
	uint64_t run_ns; /* of the thread in the window, or of the process where there are no steps
			  */
	uint64_t process_ns; /* the process's run time as the window opened */
};

/* Added time of a step, in nanoseconds, with its 95 % interval. */
struct step_difference {
	double added_ns, low_ns, high_ns;
};
#define STEP_COST_LEAST 5 /* steps on a side */
/* Of the medians. -ENODATA: fewer steps on a side. */
int step_cost__difference(const struct step_runs *with, const struct step_runs *without,
			  struct step_difference *out);

/* The run time of up to cnt steps, of which the last ends at boundary `seq`. */
void step_cost__read(const struct pt_ctl *ctl, uint64_t seq, uint64_t cnt, struct step_runs *out);
/* For the summary's "cost". */
void step_cost__describe(const struct step_cost *c, json_t *cost);

/* Mean run time of the latest `cnt` steps; 0: not known. */
uint64_t step_cost__run_ns(const struct pt_ctl *ctl, uint64_t cnt);

#endif
