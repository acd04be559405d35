/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wait for operators that the step's thread has queued, outside of the phases. Some frameworks
 * run operators on threads of their own (MXNet, MindSpore's PyNative mode). The step waits for them
 * where it reads a result. Such a wait is the step's work and no gap.
 */
#ifndef PROFTRACE_AWAITED_H
#define PROFTRACE_AWAITED_H

#include "analysis/analysis.h"

struct awaited {
	struct interval_union phases, busy; /* of one step; busy: phases, and operators elsewhere */
	/* Of all steps, outside of the phases: */
	uint64_t others_ns;
	uint64_t calls_ns;     /* in calls of the framework that wait */
	uint64_t elsewhere_ns; /* while other threads ran operators */
	uint32_t track;
};
/* A call of the framework that waits for operators: MXNDArrayWaitToRead, MXNDArraySyncCopyToCPU. */
bool awaited__is_call(const struct analysis *a, const struct span *s);
/* Adds a batch; nothing if it is of no step. 0 or -ENOMEM. */
int awaited__add(const struct analysis *a, struct awaited *w, const struct batch *b);
/* Of others_ns what is waited for: what calls tell, or at most what the scheduler allows. */
uint64_t awaited__ns(const struct analysis *a, const struct awaited *w);
void awaited__free(struct awaited *w);

#endif
