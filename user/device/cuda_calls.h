/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of CUDA's runtime and driver, seen by probes on their libraries. Which functions these are,
 * and where in their arguments the bytes, the stream and the kernel are. Nothing is loaded into the
 * process.
 */
#ifndef PROFTRACE_CUDA_CALLS_H
#define PROFTRACE_CUDA_CALLS_H

#include "frameworks/framework.h"

/* Adds the probes of the libraries that the target has loaded and the plan has not. Returns how
 * many libraries were added, or a negative errno. */
int cuda_calls__plan(struct target *t, struct probe_plan *plan);
/* The same for GROUP_LAUNCH: entries of what gives the device work, to be counted. */
int cuda_calls__plan_launches(struct target *t, struct probe_plan *plan);
/* Runtime and driver are there: nothing more is to come. */
bool cuda_calls__complete(const struct probe_plan *plan);

/* What is asked of one function; NULL: it is not followed. */
struct cuda_call {
	const char *name; /* without version and stream variant */
	struct pt_call_cfg cfg;
};
const struct cuda_call *cuda_call__find(const char *symbol);

#endif
