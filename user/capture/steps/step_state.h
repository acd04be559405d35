/* SPDX-License-Identifier: BSD-2-Clause */
/* What a session knows of steps. */
#ifndef PROFTRACE_STEP_STATE_H
#define PROFTRACE_STEP_STATE_H

#include "capture/learn.h"
#include "capture/steps/optimizer_step.h"
#include "capture/steps/steps.h"

/* The latest step boundary. */
struct boundary {
	uint64_t ns, step;	/* 0 ns: not known */
	uint64_t recovered_cnt; /* whose records were lost, and which are known all the same */
};

/* Of a step before the window. 0: unknown. */
struct step_length {
	uint64_t ns, run_ns; /* run_ns: of it its thread ran */
};

/* Of which --max-overhead is a share: what a step's thread runs in it, else its length. */
static inline uint64_t step_length__paid_ns(const struct step_length *l)
{
	return l->run_ns ? l->run_ns : l->ns;
}

#endif
