/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time that the thread of the steps was ready to run and had no processor. finding_cpu_wait tells it;
 * other rules take it off. The recording has sums of a step, not when each wait was: so much of what
 * they tell may be that.
 */
#ifndef PROFTRACE_READY_TIME_H
#define PROFTRACE_READY_TIME_H

#include <stddef.h>
#include <stdint.h>

struct analysis;
struct step;

struct ready_times {
	struct ready_time {
		uint32_t track;
		uint64_t step, ns;
	} *items; /* by track, then step */
	size_t cnt, cap;
};

/* 0 or -ENOMEM. */
int ready_times__load(struct analysis *a);
void ready_times__free(struct ready_times *r);
/* ns of the step's thread; 0 also if it was not recorded. */
uint64_t ready_time__of(const struct analysis *a, const struct step *step);
/* In all recorded steps; after the pass. */
uint64_t ready_time__all(const struct analysis *a);
/* The rest of such a time after all of it is taken off. */
uint64_t ready_time__off(const struct analysis *a, uint64_t ns);

#endif
