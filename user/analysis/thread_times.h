/* SPDX-License-Identifier: BSD-2-Clause */
/* What threads did in the recorded steps, by the scheduler. */
#ifndef PROFTRACE_THREAD_TIMES_H
#define PROFTRACE_THREAD_TIMES_H

#include "analysis/analysis.h"

/* What the threads of a track did in the recorded steps, by the scheduler, without the probes of the steps;
 * false: not recorded. */
struct thread_times {
	uint64_t run_ns, runnable_ns, blocked_ns;
};
bool thread_times__of(const struct analysis *a, uint32_t track, struct thread_times *out);

/* What the thread of a track is blocked for longest in the recorded steps, a name; 0: nothing known. */
uint32_t thread_wait__longest(const struct analysis *a, uint32_t track, uint64_t *ns);

#endif
