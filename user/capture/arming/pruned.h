/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions without a probe, with their measured statistics. */
#ifndef PROFTRACE_PRUNED_H
#define PROFTRACE_PRUNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pruned_kind {
	PRUNED_OPERATOR,
	PRUNED_NODE, /* a backward node */
	PRUNED_CALL, /* a call of CUDA */
};

/* The statistics of a function before it was pruned. */
struct pruned_probe {
	const char *name;
	uint64_t steps; /* number of measured steps */
	double per_step, avg_ns; /* calls a step of any thread, or see struct pruned_by_time */
	double inner_per_step, inner_avg_ns; /* of these calls, those inside other operators */
	enum pruned_kind kind;
};

/* Without steps functions are measured for a time. Then per_step counts calls in a second of CPU time. */
struct pruned_by_time {
	uint64_t ns; /* time measured; 0: steps were measured */
	double run_share; /* CPU time of the process divided by this time; above 1 with several threads */
};

struct pruned {
	bool *rows; /* by row: the row is pruned */
	struct pruned_probe *list;
	size_t cnt, cap;
	struct pruned_by_time timed;
	uint64_t steps, beside; /* measured steps before the first window: of this thread, of other threads */
	/* What data breakpoints would show but do not watch, since no call came in `unwatched_after` steps; NULL:
	 * nothing. */
	const char *unwatched;
	uint64_t unwatched_after;
};

#endif
