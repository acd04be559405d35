/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known of a job's steps while they are looked for. */
#ifndef PROFTRACE_LEARN_H
#define PROFTRACE_LEARN_H

#include <stdbool.h>
#include <stdint.h>
#include "bpf/events.h"

struct learning {
	uint64_t begin_ns, cpu_ns; /* when it began, and the processor time of the process then */
	uint64_t traced;	   /* the programs' count when the rule was found */
	char explain[512];	   /* of the rule, where it names an operator */
	/* Where no period was found: whether there were operators, and the option that makes a step of
	 * each call of what comes after the longest pauses. */
	bool called;
	char pausing[PT_NAME_MAX + 16];
};

#endif
