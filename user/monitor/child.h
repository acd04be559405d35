/* SPDX-License-Identifier: BSD-2-Clause */
/* Our own program again, as another command: a session, a report. It ends when the monitor does. */
#ifndef PROFTRACE_MONITOR_CHILD_H
#define PROFTRACE_MONITOR_CHILD_H

#include <stddef.h>
#include <sys/types.h>

struct child {
	pid_t pid; /* 0: none, or it was waited for */
	int pidfd; /* readable: it has ended; the caller's to close */
};

struct child_limits {
	size_t file_bytes; /* that it may write to one file; 0: no limit */
	size_t data_bytes; /* of its memory; 0: no limit */
	int death_signal;  /* when the monitor ends */
	int out;	   /* its standard output; -1: none */
};

/* argv[0] is "proftrace". 0, or a negative errno with err__set. */
int child__start(char *const argv[], const struct child_limits *limits, struct child *out);
/* After it has ended: its wait status. */
int child__wait(struct child *c);

#endif
