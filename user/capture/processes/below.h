/* SPDX-License-Identifier: BSD-2-Clause */
/* The process below a shell or launcher that does the work. */
#ifndef PROFTRACE_BELOW_H
#define PROFTRACE_BELOW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct below {
	pid_t pid;
	bool is_rank;	       /* of a distributed job */
	const char *framework; /* its title */
	char command[96];      /* the beginning of its command line */
};

/* The topmost process below this one that has a framework loaded; false if there is none. */
bool below__find(pid_t pid, struct below *out);

/* The same, and tells of it and how it is profiled. */
bool below__tell(pid_t pid);

/* Threads of the process and of its descendants. */
size_t below__threads(pid_t pid);

#endif
