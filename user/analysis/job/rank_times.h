/* SPDX-License-Identifier: BSD-2-Clause */
/* How one rank spends its steps. */
#ifndef PROFTRACE_RANK_TIMES_H
#define PROFTRACE_RANK_TIMES_H

#include "analysis/job/clock_offset.h"
#include "analysis/job/launched.h"

struct rank_times {
	int rank;     /* -1: not known */
	uint32_t pid; /* 0: not known */
	uint64_t steps, begin_ns, end_ns;
	uint64_t first_step, last_step; /* indices of steps */
	uint32_t track;			/* of the thread that counts steps */
	/* Sums over the steps. Phases (OTHER: the rest of the step) exclude times in which a
	 * collective was under way. */
	uint64_t step_ns, collective_ns, phase_ns[KIND_CNT];
	double collective_sq; /* sum of the squares of each step's time in collectives, ns^2 */
	uint64_t compute_ns;  /* kernels that belong to no collective */
	uint64_t behind_ns;   /* collectives that ran after the last step */
	/* host_ns: time of each phase in which no call was blocked by the device. blocked_ns: time
	 * of blocked calls. */
	uint64_t host_ns[KIND_CNT], blocked_ns;
	struct launched launched;
	struct collective_ends ends;
	bool has_device;
	bool timer_only;	  /* recording__is_timer_only */
	bool waits; /* some collectives do the exchange, or wait for it ... */
	bool asks;  /* ... and some only ask an engine to do it */
	const char *why_unsure;	  /* from losses__why_unsure(); NULL: complete enough */
	struct coverage coverage; /* of kernels, and so of collectives */
};

/* Mean per step. */
uint64_t rank_times__per_step(const struct rank_times *t, uint64_t ns);
/* 0 or a negative errno. Call rank_times__free() after either. */
int rank_times__read(const struct recording *r, bool raw_times, struct rank_times *out);
void rank_times__free(struct rank_times *t);

#endif
