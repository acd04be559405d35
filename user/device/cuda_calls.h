/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of CUDA's runtime and driver, seen by probes on their libraries. The table says which
 * functions, and which arguments are the bytes, the stream and the kernel. Nothing is loaded into
 * the process.
 */
#ifndef PROFTRACE_CUDA_CALLS_H
#define PROFTRACE_CUDA_CALLS_H

#include "frameworks/framework.h"

/* Adds probes for the target's libraries that the plan does not have yet. Returns how many
 * libraries were added, or a negative errno. */
int cuda_calls__plan(struct target *t, struct probe_plan *plan);
/* The same for GROUP_LAUNCH: probes that count the functions which launch work. */
int cuda_calls__plan_launches(struct target *t, struct probe_plan *plan);
/* Does the plan have runtime and driver? Then no more libraries will come. */
bool cuda_calls__complete(const struct probe_plan *plan);

/* What is recorded of one function. NULL: it gets no probe. */
struct cuda_call {
	const char *name; /* without version and stream suffixes */
	struct pt_call_cfg cfg;
};
const struct cuda_call *cuda_call__find(const char *symbol);

#endif
