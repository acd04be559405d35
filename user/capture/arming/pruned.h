/* SPDX-License-Identifier: BSD-2-Clause */
/* What has no probe, and what was measured of it before. */
#ifndef PROFTRACE_PRUNED_H
#define PROFTRACE_PRUNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pruned_kind {
	PRUNED_OPERATOR,
	PRUNED_NODE, /* of the backward pass */
	PRUNED_CALL, /* of a device's interface */
};

/* What was measured before a function was left out. */
struct pruned_probe {
	const char *name;
	uint64_t steps; /* that were measured */
	double per_step, avg_ns; /* of a step of any thread, or see struct pruned_by_time */
	double inner_per_step, inner_avg_ns; /* of these, the calls within other operators */
	enum pruned_kind kind;
};

/* Without steps functions are measured for a time, and per_step is of a second that the process runs. */
struct pruned_by_time {
	uint64_t ns; /* 0: by steps */
	double run_share; /* of that time; more than 1 of several threads */
};

struct pruned {
	bool *rows; /* by row: it has no probe */
	struct pruned_probe *list;
	size_t cnt, cap;
	struct pruned_by_time timed;
	uint64_t steps, beside; /* that were measured before the first window: this thread's, others' */
	/* What is written in Python and not watched, as there was none in so many steps; NULL: nothing. */
	const char *unwatched;
	uint64_t unwatched_after;
};

#endif
