/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When windows open. Time is divided into strata, each of length window / duty. In each stratum a
 * window begins at a uniformly drawn moment. So periodic work of a job is seen sometimes, neither
 * always nor never. The duty is the budget divided by the measured overhead of windows.
 */
#ifndef PROFTRACE_SCHEDULE_H
#define PROFTRACE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#define SCHEDULE_OVERHEADS 5

struct schedule {
	double budget;	 /* share of the job's run time that windows may cost */
	double duty;	 /* share of time that windows are open */
	double overheads[SCHEDULE_OVERHEADS]; /* of the latest windows; 1: a step takes twice as
						 long */
	size_t overhead_cnt;
	uint64_t stratum_end_ns;
	uint64_t paid_ns; /* the windows so far have used up the budget until then */
	uint64_t random;
};

/* max_duty: the duty before any measurement, and its upper limit. */
void schedule__init(struct schedule *s, double budget, double max_duty, uint64_t seed);
/* Sets other budgets. Earlier measurements still count. */
void schedule__set_budget(struct schedule *s, double budget, double max_duty);
/* Adds a window's overhead. Never raises the duty, because a busy host sometimes measures too
 * little. */
void schedule__measured(struct schedule *s, double overhead);
/* A window was open for so long: the next one waits for the time that it, and those before it, have used up. */
void schedule__used(struct schedule *s, uint64_t open_ns, uint64_t now_ns);
/* When the next window of that length opens. */
uint64_t schedule__next(struct schedule *s, uint64_t now_ns, uint64_t window_ns);
/* When the next window of that length of all of them opens, in place of one of each: none pays more for it than its
 * own duty allows. */
uint64_t schedule__next_of_all(struct schedule *const *all, size_t cnt, uint64_t now_ns,
			       uint64_t window_ns);

#endif
