/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the steps of one rank launched on its device, whenever it ran there. A host that does not
 * synchronise is many steps ahead of its device.
 */
#ifndef PROFTRACE_LAUNCHED_H
#define PROFTRACE_LAUNCHED_H

#include "analysis/analysis.h"

/* The collectives of one step. Times: the recording's clock. */
struct step_collectives {
	uint64_t step;	   /* its index */
	uint64_t ns;	   /* length of their union */
	uint64_t begin_ns; /* of the first of them */
	uint64_t first_end_ns, last_end_ns;
};

struct launched {
	struct launched_collective {
		uint64_t step, begin_ns, end_ns;
	} *collectives;
	size_t cnt, cap;
	struct interval_union compute; /* kernels of the steps that are no collectives ... */
	uint64_t compute_ns;	       /* ... and how long they are */
	uint64_t ns, outside_ns; /* collectives; their part outside the step that launched them */
	struct step_collectives *steps; /* in order, those with collectives */
	size_t step_cnt, step_cap;
};

/* A kernel that the step launched. 0 or -ENOMEM. */
int launched__add(struct launched *l, const struct step *step, const struct event *kernel,
		  bool is_collective);
/* After the last one: fills steps and compute_ns. 0 or -ENOMEM. */
int launched__end(struct launched *l);
void launched__free(struct launched *l);

#endif
