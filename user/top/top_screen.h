/* SPDX-License-Identifier: BSD-2-Clause */
/* The jobs on a terminal, until a key or a signal ends it. */
#ifndef PROFTRACE_TOP_SCREEN_H
#define PROFTRACE_TOP_SCREEN_H

#include <stdbool.h>
#include "top/gatherer.h"

struct top_screen_opts {
	struct gather_opts gather;
	bool colours;
	int log;	      /* what the monitor says on stderr: a file; -1: it is not ours */
	const char *awaiting; /* shown until there are jobs; NULL: nothing */
};

/* 0, or a negative errno with err__set. The process waits for the monitor's end, if that is its
 * child: it has ended before when this returns -ECHILD. */
int top_screen__run(const struct top_screen_opts *o);

#endif
