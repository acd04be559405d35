/* SPDX-License-Identifier: BSD-2-Clause */
/* What calls take of the steps: those of several threads at once count once. */
#ifndef PROFTRACE_CALL_TIME_H
#define PROFTRACE_CALL_TIME_H

#include "analysis/analysis.h"

#define SHORT_CALL_NS 100000 /* a call that neither waits nor lost its processor */

struct call_time {
	struct call_sum {
		struct interval_union time;
		uint64_t sum_ns; /* less the cost of the probes */
	} whole, capped;	 /* capped: of each call SHORT_CALL_NS at most */
};
/* 0 or -ENOMEM */
int call_time__add(const struct analysis *a, struct call_time *t, const struct span *s);
/* The larger of two lower bounds. One leaves out all time that the thread of the steps was ready
 * and had no processor. The other leaves out what is long in calls: that time may lie there. */
uint64_t call_time__ns(const struct analysis *a, struct call_time *t);
void call_time__free(struct call_time *t);

#endif
