/* SPDX-License-Identifier: BSD-2-Clause */
/* What the thread of the steps does longer on a straggler than on the other ranks, as the scheduler
 * saw it. */
#ifndef PROFTRACE_STRAGGLER_CAUSE_H
#define PROFTRACE_STRAGGLER_CAUSE_H

#include "analysis/job/straggler.h"

struct straggler_cause {
	const char *reason;	    /* "clock_nanosleep": it is blocked there; NULL: in none */
	bool is_ready;		    /* it waits for a processor */
	uint64_t own_ns, others_ns; /* of a step; the others' median */
};

/* The one thing that it does most longer, if it explains the wait; false: there is none. */
bool straggler_cause__find(const struct job *j, const struct straggler *s,
			   struct straggler_cause *out);
/* Is that a sleep? */
bool straggler_cause__is_sleep(const struct straggler_cause *c);

#endif
