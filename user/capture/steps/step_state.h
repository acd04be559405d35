/* SPDX-License-Identifier: BSD-2-Clause */
/* What a session knows about steps. */
#ifndef PROFTRACE_STEP_STATE_H
#define PROFTRACE_STEP_STATE_H

#include "capture/learn.h"
#include "capture/steps/optimizer_step.h"
#include "capture/steps/steps.h"

/* The latest step boundary. */
struct boundary {
	uint64_t ns, step;	/* 0 ns: not known */
	uint64_t recovered_cnt; /* steps that are known although their records were lost */
};

/* Length of a step before the window; 0: unknown. */
struct step_length {
	uint64_t ns, run_ns; /* run_ns: CPU time of the step's thread */
};

/* The base of --max-overhead: the run time of the step's thread, else the step's length. */
static inline uint64_t step_length__paid_ns(const struct step_length *l)
{
	return l->run_ns ? l->run_ns : l->ns;
}

#endif
