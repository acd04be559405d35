/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs our own program as another command: a session or a report. It ends with the monitor. */
#ifndef PROFTRACE_MONITOR_CHILD_H
#define PROFTRACE_MONITOR_CHILD_H

#include <stddef.h>
#include <sys/types.h>

struct child {
	pid_t pid; /* 0: none, or it was collected */
	int pidfd; /* readable when the process has ended; the caller closes it */
};

struct child_limits {
	size_t file_bytes; /* size limit of a file that it writes; 0: no limit */
	size_t data_bytes; /* limit of its memory; 0: no limit */
	int death_signal;  /* sent to it when the monitor ends */
	int out;	   /* its standard output; -1: none */
};

/* argv[0] is "proftrace". 0, or a negative errno with err__set. */
int child__start(char *const argv[], const struct child_limits *limits, struct child *out);
/* Call it after the process has ended. Its wait status. */
int child__wait(struct child *c);

#endif
