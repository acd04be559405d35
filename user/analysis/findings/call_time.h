/* SPDX-License-Identifier: BSD-2-Clause */
/* What calls take of the steps: those of several threads at once count once. */
#ifndef PROFTRACE_CALL_TIME_H
#define PROFTRACE_CALL_TIME_H

#include "analysis/analysis.h"

struct call_time {
	struct interval_union time;
	uint64_t sum_ns; /* less the cost of the probes */
};
/* 0 or -ENOMEM */
int call_time__add(const struct analysis *a, struct call_time *t, const struct span *s);
/* The same of a call that takes no longer than `most_ns` itself; what is longer is a wait. */
int call_time__add_short(const struct analysis *a, struct call_time *t, const struct span *s,
			 uint64_t most_ns);
/* Less all the time that the thread of the steps was ready. */
uint64_t call_time__ns(const struct analysis *a, struct call_time *t);
/* With it, where only short calls were added: the thread lost its processor in few of them. */
uint64_t call_time__short_ns(const struct analysis *a, struct call_time *t);
void call_time__free(struct call_time *t);

#endif
