/* SPDX-License-Identifier: BSD-2-Clause */
/* The ranks of a distributed job, as their launcher told them. */
#ifndef PROFTRACE_RANK_H
#define PROFTRACE_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct rank {
	pid_t pid;
	int rank;
};

/* From RANK, LOCAL_RANK, WORLD_SIZE or the launchers' own variables in the environment that the
 * process was started with; -1 where none is set. */
void rank__read(pid_t pid, int *rank, int *local_rank, int *world_size);

/*
 * The ranks below a launcher, itself included, by rank; caller frees *out. Of the processes of one
 * rank (a shell, the program, its data-loader workers) it is the topmost that fits. Where nobody was
 * told a rank that way: those that fit and have threads of a process group, or a connection to its
 * store, with rank -1. 0, or a negative errno with err__set: -ESRCH if there is no such process,
 * -ENOENT if no rank is below it.
 */
int ranks__below(pid_t launcher, bool (*fits)(pid_t pid), struct rank **out, size_t *cnt);

#endif
