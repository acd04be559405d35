/* SPDX-License-Identifier: BSD-2-Clause */
/* What the steps' thread of a straggler does longer than that of other ranks, as seen by the
 * scheduler. */
#ifndef PROFTRACE_STRAGGLER_CAUSE_H
#define PROFTRACE_STRAGGLER_CAUSE_H

#include "analysis/job/straggler.h"

struct straggler_cause {
	const char *reason;	    /* for example "clock_nanosleep": the call in which it is
				       blocked; NULL: it is not blocked */
	bool is_ready;		    /* it waits for a processor */
	uint64_t own_ns, others_ns; /* per step; others_ns: the median of the other ranks */
};

/* Finds the state or reason that is longest above the others, if that explains the wait. False:
 * there is none. */
bool straggler_cause__find(const struct job *j, const struct straggler *s,
			   struct straggler_cause *out);
/* Is the cause a sleep? */
bool straggler_cause__is_sleep(const struct straggler_cause *c);

#endif
