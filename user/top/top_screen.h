/* SPDX-License-Identifier: BSD-2-Clause */
/* Shows the jobs on a terminal until a key or a signal ends it. */
#ifndef PROFTRACE_TOP_SCREEN_H
#define PROFTRACE_TOP_SCREEN_H

#include <stdbool.h>
#include "top/gatherer.h"

struct top_screen_opts {
	struct gather_opts gather;
	bool colours;
	int log;	      /* file with the monitor's stderr; -1: the monitor is not ours */
	const char *awaiting; /* of a monitor that is ours: shown until jobs come */
};

/* 0, or a negative errno with err__set. -ECHILD: the monitor was a child and has ended. The process
 * that started it collects its exit status. */
int top_screen__run(const struct top_screen_opts *o);

#endif
