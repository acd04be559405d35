/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the steps of one rank launched on its device, whenever it ran there. A host that does not
 * synchronise may be many steps ahead of its device.
 */
#ifndef PROFTRACE_LAUNCHED_H
#define PROFTRACE_LAUNCHED_H

#include "analysis/analysis.h"

/* The collectives of one step. Times are of the recording's clock. */
struct step_collectives {
	uint64_t step;	   /* index of the step */
	uint64_t ns;	   /* length of the union of its collectives */
	uint64_t begin_ns; /* begin of the first one */
	uint64_t first_end_ns, last_end_ns;
};

struct launched {
	struct launched_collective {
		uint64_t step, begin_ns, end_ns;
	} *collectives;
	size_t cnt, cap;
	struct interval_union compute; /* kernels of steps that are no collectives ... */
	uint64_t compute_ns;	       /* ... and their total time */
	uint64_t ns, outside_ns; /* collectives, and their part that ran outside of the launching
				    step */
	struct step_collectives *steps; /* steps that have collectives, in order */
	size_t step_cnt, step_cap;
};

/* Adds a kernel that the step launched. 0 or -ENOMEM. */
int launched__add(struct launched *l, const struct step *step, const struct event *kernel,
		  bool is_collective);
/* After the last kernel: fills steps and compute_ns. 0 or -ENOMEM. */
int launched__end(struct launched *l);
void launched__free(struct launched *l);

#endif
