/* SPDX-License-Identifier: BSD-2-Clause */
/* The steps' time that calls take. Calls of several threads at the same time count once. */
#ifndef PROFTRACE_CALL_TIME_H
#define PROFTRACE_CALL_TIME_H

#include "analysis/analysis.h"

#define SHORT_CALL_NS 100000 /* a longer call may have waited or lost its processor */

struct call_time {
	struct call_sum {
		struct interval_union time;
		uint64_t sum_ns; /* without the cost of the probes */
	} whole, capped;	 /* capped: at most SHORT_CALL_NS of each call */
};
/* 0 or -ENOMEM */
int call_time__add(const struct analysis *a, struct call_time *t, const struct span *s);
/* The larger of two lower bounds. The first leaves out all time in which the steps' thread was
 * ready and had no processor. The second leaves out the long part of each call, because that time
 * may lie there. */
uint64_t call_time__ns(const struct analysis *a, struct call_time *t);
void call_time__free(struct call_time *t);

#endif
