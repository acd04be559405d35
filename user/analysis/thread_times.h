/* SPDX-License-Identifier: BSD-2-Clause */
/* How threads spent the recorded steps, as the scheduler saw it. */
#ifndef PROFTRACE_THREAD_TIMES_H
#define PROFTRACE_THREAD_TIMES_H

#include "analysis/analysis.h"

/* Times of the threads of a track in the recorded steps, without the cost of the steps' probes.
 * False: not recorded. */
struct thread_times {
	uint64_t run_ns, runnable_ns, blocked_ns;
};
bool thread_times__of(const struct analysis *a, uint32_t track, struct thread_times *out);

/* The name of what a track's thread waits for longest in the recorded steps. 0: unknown. */
uint32_t thread_wait__longest(const struct analysis *a, uint32_t track, uint64_t *ns);

#endif
