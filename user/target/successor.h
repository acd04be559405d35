/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the process that replaces one that ended: a launcher, a supervisor or a shell loop may
 * restart it. */
#ifndef PROFTRACE_SUCCESSOR_H
#define PROFTRACE_SUCCESSOR_H

#include <stddef.h>
#include <sys/types.h>

struct successor {
	pid_t pid, parent; /* pid: of the ended process; parent: who started it, 0: unknown, or
			      we did */
	int rank;	   /* -1: none */
	char *command;	   /* as in /proc, with NULs between arguments */
	size_t command_len;
	pid_t *siblings; /* children of the parent at that time */
	size_t sibling_cnt, sibling_cap;
};

/* Call it while the process exists. Free with successor__free(). */
void successor__prepare(struct successor *s, pid_t pid);
void successor__free(struct successor *s);

/* A process that the parent started since, with the same rank, or without a rank the same command
 * line. 0: none, or not yet. */
pid_t successor__find(const struct successor *s);

/* The launcher that may still restart it. 0: none. */
pid_t successor__launcher(const struct successor *s);

#endif
