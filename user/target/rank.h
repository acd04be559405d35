/* SPDX-License-Identifier: BSD-2-Clause */
/* The ranks of a distributed job, by what their launcher told them. */
#ifndef PROFTRACE_RANK_H
#define PROFTRACE_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "target/rank_variables.h"

struct rank {
	pid_t pid;
	int rank;
};

/* The rank in a process's variables, given at its start or set by itself. -1: there is none, or the
 * process may not be read. */
int rank__find(pid_t pid);

struct ranks {
	struct rank *items; /* sorted by rank */
	size_t cnt;
	/* Processes that may become ranks. Either they have a rank, or variables of a worker, but
	 * do not fit yet. Or they fit, but have no process group, while others are ranks or nobody
	 * is. */
	pid_t *missing;
	size_t missing_cnt;
	/* Servers and schedulers of a job of MXNet's tracker. They are no ranks. */
	pid_t *serving;
	size_t serving_cnt;
};
void ranks__clear(struct ranks *r);

#define RANKS_NAMED 8 /* most processes that are named; the rest is counted */
#define RANKS_NAMES (RANKS_NAMED * 12 + 32)
/* A text such as "4711, 4712". size: at least RANKS_NAMES. */
void ranks__name_missing(const struct ranks *r, char *text, size_t size);
void ranks__name_serving(const struct ranks *r, char *text, size_t size);

/*
 * Finds the ranks among a launcher and its descendants. The caller clears *out, also on error. Of
 * several processes with one rank (a shell, the program, its data-loader workers) the topmost that
 * fits is the rank. If no process was given a rank, the ranks are those that fit and set the
 * variables themselves. Else they are those with variables of a worker (DMLC_ROLE). Else they are
 * those that fit and have threads of a process group, or a connection to its store, with rank -1.
 * 0, or a negative errno with err__set: -ESRCH if there is no such process, -ENOENT if there are no
 * ranks.
 */
int ranks__of_launcher(pid_t launcher, bool (*fits)(pid_t pid), struct ranks *out);

#endif
