/* SPDX-License-Identifier: BSD-2-Clause */
/* The rank of a process, from the variables in its environment. */
#ifndef PROFTRACE_RANK_VARIABLES_H
#define PROFTRACE_RANK_VARIABLES_H

#include "target/target.h"

/* Reads RANK, LOCAL_RANK, WORLD_SIZE or the launchers' variables in the environment at the
 * process's start. -1 for those that are not set. */
void rank__read(pid_t pid, int *rank, int *local_rank, int *world_size);

/* The same for the variables that the process has now, because it may have set them itself. */
void rank__read_own(struct target *t, int *rank, int *local_rank, int *world_size);

/* The same for an environment's text, followed by a NUL byte. */
void rank__parse(const char *env, size_t len, int *rank, int *local_rank, int *world_size);

struct rank_role {
	bool works;  /* it is a worker of MXNet, which only the tracker numbers */
	bool serves; /* it is a server or scheduler of MXNet or MindSpore */
};

/* The rank, or -1. *which: the variable that gave it. The first function reads the environment at
 * the start, the second the present one. */
int rank_variables__given(pid_t pid, int *local_rank, int *world_size, size_t *which,
			  struct rank_role *role);
int rank_variables__now(struct target *t, int *local_rank, int *world_size, size_t *which,
			struct rank_role *role);

#endif
