/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a window's figures from the JSON of `proftrace report`. */
#ifndef PROFTRACE_FIGURES_H
#define PROFTRACE_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIGURES_TABLES "summary,findings,model,operator,steps,cost,device,sched"

#define FIGURES_STEPS	  2048
#define FIGURES_PHASES	  12
#define FIGURES_OPERATORS 200
#define FIGURES_FINDINGS  8
#define FIGURES_DEVICES	  16
#define FIGURES_THREADS	  16

struct named_figure {
	char name[128];
	double value;
};

/* Shares of the window's steps. */
struct thread_figure {
	char name[48];
	double run;	 /* on a processor */
	double runnable; /* waiting for one */
};

/* The threads that ran most, and the sum of all others. */
struct thread_figures {
	struct thread_figure list[FIGURES_THREADS], others;
	size_t cnt, other_cnt; /* cnt 0: no scheduling was recorded */
	bool is_cut; /* there were more others than the report lists */
};

struct figures {
	char framework[32], version[32], detail[16], step_rule[64];
	uint64_t *step_ns;
	size_t step_cnt;
	uint64_t median_ns;
	struct named_figure phases[FIGURES_PHASES]; /* in seconds, over all steps */
	size_t phase_cnt;
	struct named_figure *operators; /* in seconds, the largest first */
	size_t operator_cnt;
	double other_s; /* of all other operators */
	struct named_figure findings[FIGURES_FINDINGS]; /* share of the step by rule, 0..1; 0:
							   not reported */
	size_t finding_cnt;
	struct named_figure devices[FIGURES_DEVICES]; /* by GPU: share of the steps' time in which a kernel
							 ran, 0..1 */
	size_t device_cnt; /* 0: the window has no device times */
	struct thread_figures threads;
	double overhead; /* estimated share of a step's elapsed time that probes took; 0: unknown */
	uint64_t lost;	 /* number of lost events */
	bool is_cut; /* rows are missing, so no sum is over all steps */
};

/* text: from a process that may be under attack, so each value is checked. 0, or a negative errno.
 * Call figures__free after either. */
int figures__parse(const char *text, size_t len, struct figures *out);
/* Mean step in seconds. 0: no step. */
double figures__mean_s(const struct figures *f);
void figures__free(struct figures *f);

#endif
