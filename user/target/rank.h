/* SPDX-License-Identifier: BSD-2-Clause */
/* The ranks of a distributed job, as their launcher told them. */
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

/* The rank, as a process was given it or has set it itself; -1: none, or the process may not be read. */
int rank__find(pid_t pid);

struct ranks {
	struct rank *items; /* by rank */
	size_t cnt;
	/* Processes that may become ranks. They were given a rank, or are to be workers, and do not
	 * fit so far. Or they fit, beside ranks or if there are none, but have no process group. */
	pid_t *missing;
	size_t missing_cnt;
	/* Servers and schedulers of a job of MXNet's tracker, which are none of its ranks. */
	pid_t *serving;
	size_t serving_cnt;
};
void ranks__clear(struct ranks *r);

#define RANKS_NAMED 8 /* at most, then how many more */
#define RANKS_NAMES (RANKS_NAMED * 12 + 32)
/* "4711, 4712"; size: RANKS_NAMES at least. */
void ranks__name_missing(const struct ranks *r, char *text, size_t size);
void ranks__name_serving(const struct ranks *r, char *text, size_t size);

/*
 * The ranks among a launcher and its descendants; caller clears *out, also on error. Of the processes
 * of one rank (a shell, the program, its data-loader workers) it is the topmost that fits. If
 * nobody was given a rank that way, the ranks are the processes that fit and set the variables
 * themselves. Else they are those that are to be workers (DMLC_ROLE). Else they are those that fit
 * and have threads of a process group, or a connection to its store, with rank -1. 0, or a negative
 * errno with err__set: -ESRCH if there is no such process, -ENOENT if none is a rank.
 */
int ranks__of_launcher(pid_t launcher, bool (*fits)(pid_t pid), struct ranks *out);

#endif
