/* SPDX-License-Identifier: BSD-2-Clause */
/* The rank of a process, as the variables of its environment tell. */
#ifndef PROFTRACE_RANK_VARIABLES_H
#define PROFTRACE_RANK_VARIABLES_H

#include "target/target.h"

/* From RANK, LOCAL_RANK, WORLD_SIZE or the launchers' own variables in the environment that the
 * process was started with; -1 where none is set. */
void rank__read(pid_t pid, int *rank, int *local_rank, int *world_size);

/* The same of the variables that the process has now: it may have set them itself. */
void rank__read_own(struct target *t, int *rank, int *local_rank, int *world_size);

/* The same of an environment's text, with a NUL byte behind it. */
void rank__parse(const char *env, size_t len, int *rank, int *local_rank, int *world_size);

struct rank_role {
	bool works;  /* MXNet's workers, whose tracker alone numbers them */
	bool serves; /* its servers and schedulers, and MindSpore's */
};

/* The rank, or -1; *which: by which of the variables. As it was started; as it is now. */
int rank_variables__given(pid_t pid, int *local_rank, int *world_size, size_t *which,
			  struct rank_role *role);
int rank_variables__now(struct target *t, int *local_rank, int *world_size, size_t *which,
			struct rank_role *role);

#endif
