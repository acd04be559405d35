/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known about the job's steps while proftrace looks for them. */
#ifndef PROFTRACE_LEARN_H
#define PROFTRACE_LEARN_H

#include <stdbool.h>
#include <stdint.h>
#include "bpf/events.h"

struct learning {
	uint64_t begin_ns, cpu_ns; /* begin of learning, and the CPU time of the process at that moment */
	uint64_t traced;	   /* ctl's count of traced models when the rule was found */
	char explain[512];	   /* explanation of the rule, if it names an operator */
	/* If no period was found: whether operators were called, and a suggested option. The option makes each call of
	 * the operator after the longest pauses a step. */
	bool called;
	char pausing[PT_NAME_MAX + 16];
};

#endif
