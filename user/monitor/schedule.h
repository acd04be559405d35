/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When windows open. Time is divided into strata of length window / duty. In each stratum a window begins at a
 * uniformly drawn time. So periodic work of a job is seen in some windows, neither in all nor in none. The duty is the
 * budget divided by the measured overhead of windows.
 */
#ifndef PROFTRACE_SCHEDULE_H
#define PROFTRACE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#define SCHEDULE_OVERHEADS 5
#define SCHEDULE_COMPARED  8

struct schedule {
	double budget;	 /* share of the job's run time that windows may cost */
	double duty;	 /* share of time that windows are open */
	double overheads[SCHEDULE_OVERHEADS]; /* of the latest windows; 1: a step takes twice as long */
	size_t overhead_cnt;
	/* By how much the steps of the latest windows took longer than those outside; 1: twice as long. */
	double growths[SCHEDULE_COMPARED];
	size_t growth_cnt;
	uint64_t stratum_end_ns;
	uint64_t paid_ns; /* until then the windows so far have used up the budget */
	uint64_t random;
};

/* max_duty: the duty before the first measurement, and its upper limit. */
void schedule__init(struct schedule *s, double budget, double max_duty, uint64_t seed);
/* Changes the budget. Earlier measurements still count. */
void schedule__set_budget(struct schedule *s, double budget, double max_duty);
/* Adds a window's overhead. This never raises the duty, since a busy host sometimes measures too little. */
void schedule__measured(struct schedule *s, double overhead);
/* Compares a window's mean step with the steps outside of windows; both in seconds, 0: unknown. The estimate leaves
 * out what CUPTI costs; this does not, and lowers the duty, too. */
void schedule__compared(struct schedule *s, double inside_s, double outside_s);
/* The lower quartile of the latest comparisons: noise has no share in it. 0: too few windows, or no growth. */
double schedule__growth(const struct schedule *s);
/* A window was open from open_ns to now_ns. The next window waits until the budget allows for this window and those
 * before. */
void schedule__used(struct schedule *s, uint64_t open_ns, uint64_t now_ns);
/* The time at which the next window of length window_ns opens. */
uint64_t schedule__next(struct schedule *s, uint64_t now_ns, uint64_t window_ns);
/* The time at which one window opens for all of these schedules, instead of one window of each. No schedule pays more
 * for it than its own duty allows. */
uint64_t schedule__next_of_all(struct schedule *const *all, size_t cnt, uint64_t now_ns,
			       uint64_t window_ns);

#endif
