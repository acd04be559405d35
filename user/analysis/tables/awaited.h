/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wait for queued operators, outside of the phases. Some frameworks run operators on threads of
 * their own (MXNet, MindSpore's PyNative mode). The step waits for them where it reads a result.
 * Such a wait belongs to the step and is no gap.
 */
#ifndef PROFTRACE_AWAITED_H
#define PROFTRACE_AWAITED_H

#include "analysis/analysis.h"

struct awaited {
	struct interval_union phases, busy; /* of one step; busy: phases, and operators on other
					       threads */
	/* Sums over all steps, outside of the phases: */
	uint64_t others_ns;
	uint64_t calls_ns;     /* in calls of the framework that wait for operators */
	uint64_t elsewhere_ns; /* while other threads ran operators */
	uint32_t track;
};
/* Is it a call of the framework that waits for operators, such as MXNDArrayWaitToRead or
 * MXNDArraySyncCopyToCPU? */
bool awaited__is_call(const struct analysis *a, const struct span *s);
/* Adds a batch. Does nothing outside of steps. 0 or -ENOMEM. */
int awaited__add(const struct analysis *a, struct awaited *w, const struct batch *b);
/* The part of others_ns that is such a wait: the time in waiting calls, or the most that the
 * scheduler's times allow. */
uint64_t awaited__ns(const struct analysis *a, const struct awaited *w);
void awaited__free(struct awaited *w);

#endif
