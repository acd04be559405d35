/* SPDX-License-Identifier: BSD-2-Clause */
/* The descendant process of a shell or launcher that does the work. */
#ifndef PROFTRACE_DESCENDANT_H
#define PROFTRACE_DESCENDANT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct descendant {
	pid_t pid;
	bool is_rank;	       /* a rank of a distributed job */
	const char *framework; /* its title */
	char command[96];      /* the beginning of its command line */
};

/* The topmost descendant process that has loaded a framework. Returns false if there is none. */
bool descendant__find(pid_t pid, struct descendant *out);

/* As descendant__find(). Also prints a message that names the descendant and the command to profile it. */
bool descendant__describe(pid_t pid);

/* Has the process itself loaded a framework? */
bool descendant__has_framework(pid_t pid);

/* Threads of the process and of its descendants. */
size_t descendant__threads(pid_t pid);

#endif
