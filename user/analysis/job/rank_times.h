/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the steps of one rank go. */
#ifndef PROFTRACE_RANK_TIMES_H
#define PROFTRACE_RANK_TIMES_H

#include "analysis/job/launched.h"

struct rank_times {
	int rank;     /* -1: not known */
	uint32_t pid; /* 0: not known */
	uint64_t steps, begin_ns, end_ns;
	uint64_t first_step, last_step; /* their indices */
	uint32_t track;			/* of the thread that counts them */
	/* Sums over the steps. Phases (OTHER: the rest of the step) are without the time in which a
	 * collective was under way. */
	uint64_t step_ns, collective_ns, phase_ns[KIND_CNT];
	double collective_sq; /* of the steps' times in collectives the sum of squares, ns^2 */
	uint64_t compute_ns;  /* device kernels that belong to no collective */
	uint64_t behind_ns;   /* collectives that ran behind the last step, which are in none */
	/* Of the phases the time for which no call of theirs was blocked by the device, and how
	 * long such calls took in all. */
	uint64_t host_ns[KIND_CNT], blocked_ns;
	struct launched launched;
	bool has_device;
	bool timer_only;	  /* recording__is_timer_only */
	bool waits; /* some collectives do the exchange or wait for it ... */
	bool asks;  /* ... and some only ask an engine for it */
	const char *why_unsure;	  /* losses__why_unsure(); NULL: sure enough */
	struct coverage coverage; /* of the kernels, collectives among them */
};

/* Mean over the steps. */
uint64_t rank_times__per_step(const struct rank_times *t, uint64_t ns);
/* 0 or a negative errno; rank_times__free() in any case. */
int rank_times__read(const struct recording *r, bool raw_times, struct rank_times *out);
void rank_times__free(struct rank_times *t);

#endif
