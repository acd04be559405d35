/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time for which the steps' thread was ready to run and had no processor. finding_cpu_wait reports
 * it; other rules subtract it. The recording has sums per step, not the time of each wait. So all
 * of it may lie in what another rule measures.
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
	} *items; /* sorted by track, then step */
	size_t cnt, cap;
};

/* 0 or -ENOMEM. */
int ready_times__load(struct analysis *a);
void ready_times__free(struct ready_times *r);
/* ns for which the step's thread was ready; 0 also if it was not recorded. */
uint64_t ready_time__of(const struct analysis *a, const struct step *step);
/* The sum over all recorded steps; after the pass. */
uint64_t ready_time__all(const struct analysis *a);
/* What is left of ns after all ready time is subtracted. */
uint64_t ready_time__off(const struct analysis *a, uint64_t ns);

#endif
