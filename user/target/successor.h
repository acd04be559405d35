/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is started in the place of a process that ended: by a launcher that restarts its ranks, a
 * supervisor, a loop of a shell. */
#ifndef PROFTRACE_SUCCESSOR_H
#define PROFTRACE_SUCCESSOR_H

#include <stddef.h>
#include <sys/types.h>

struct successor {
	pid_t pid, parent; /* whose place; who started it, 0: not known, or ourselves */
	int rank;	   /* -1: none was said */
	char *command;	   /* as in /proc, NUL between the arguments */
	size_t command_len;
	pid_t *siblings; /* that were there already */
	size_t sibling_cnt, sibling_cap;
};

/* While the process still is; free it with successor__free(). */
void successor__prepare(struct successor *s, pid_t pid);
void successor__free(struct successor *s);

/* The process that its parent started since, with its rank, or where it has none with its command
 * line; 0: none, or not yet. */
pid_t successor__find(const struct successor *s);

/* The launcher that may still start it again; 0: none. */
pid_t successor__launcher(const struct successor *s);

#endif
