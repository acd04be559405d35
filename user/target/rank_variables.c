// SPDX-License-Identifier: BSD-2-Clause
#include "target/rank_variables.h"
#include "common/util.h"
#include "target/environment.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define WORKER_RANK "DMLC_TASK_ID"

/* The first variable of the list that has a number. *which: its index in the list. */
static int env_int(const char *env, size_t len, const char *const *list, size_t *which)
{
	for (const char *const *names = list; *names; names++) {
		size_t name_len = strlen(*names);

		for (size_t at = 0; at < len; at += strlen(env + at) + 1) {
			const char *value = env + at + name_len + 1;
			char *end;
			long n;

			if (strncmp(env + at, *names, name_len) != 0 || env[at + name_len] != '=')
				continue;
			n = strtol(value, &end, 10);
			if (end == value || *end || n < 0 || n > INT_MAX)
				continue;
			*which = (size_t)(names - list);
			return (int)n;
		}
	}
	return -1;
}

static bool env_has(const char *env, size_t len, const char *variable)
{
	for (size_t at = 0; at < len; at += strlen(env + at) + 1)
		if (!strcmp(env + at, variable))
			return true;
	return false;
}

/* First the names of torchrun and horovod, then those of launchers: Open MPI, MPICH, Slurm, MXNet's
 * tracker (which numbers servers, too) and MindSpore's msrun (whose scheduler is 0). */
static int parse_variables(const char *env, size_t len, int *local_rank, int *world_size,
			   size_t *which, struct rank_role *role)
{
	static const char *const ranks[] = {"RANK",
					    "PADDLE_TRAINER_ID",
					    "OMPI_COMM_WORLD_RANK",
					    "PMI_RANK",
					    "SLURM_PROCID",
					    WORKER_RANK,
					    "RANK_ID",
					    NULL};
	static const char *const local_ranks[] = {
		"LOCAL_RANK",	   "PADDLE_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
		"MPI_LOCALRANKID", "SLURM_LOCALID",	NULL};
	static const char *const world_sizes[] = {"WORLD_SIZE",
						  "PADDLE_TRAINERS_NUM",
						  "OMPI_COMM_WORLD_SIZE",
						  "PMI_SIZE",
						  "SLURM_NTASKS",
						  "DMLC_NUM_WORKER",
						  "RANK_SIZE",
						  NULL};
	size_t other;
	int rank;

	*local_rank = env_int(env, len, local_ranks, &other);
	*world_size = env_int(env, len, world_sizes, &other);
	rank = env_int(env, len, ranks, which);
	role->works = env_has(env, len, "DMLC_ROLE=worker");
	role->serves = env_has(env, len, "DMLC_ROLE=server") ||
		       env_has(env, len, "DMLC_ROLE=scheduler") ||
		       env_has(env, len, "MS_ROLE=MS_SCHED");
	if (rank >= 0 && !strcmp(ranks[*which], WORKER_RANK) && !role->works)
		return -1;
	return env_has(env, len, "MS_ROLE=MS_SCHED") ? -1 : rank;
}

int rank_variables__given(pid_t pid, int *local_rank, int *world_size, size_t *which,
			  struct rank_role *role)
{
	size_t len = 0;
	auto_free char *env = proc__text(pid, "environ", &len);

	return parse_variables(env, len, local_rank, world_size, which, role);
}

void rank__parse(const char *env, size_t len, int *rank, int *local_rank, int *world_size)
{
	struct rank_role role;
	size_t which;

	*rank = parse_variables(env, len, local_rank, world_size, &which, &role);
}

void rank__read(pid_t pid, int *rank, int *local_rank, int *world_size)
{
	struct rank_role role;
	size_t which;

	*rank = rank_variables__given(pid, local_rank, world_size, &which, &role);
}

int rank_variables__now(struct target *t, int *local_rank, int *world_size, size_t *which,
			struct rank_role *role)
{
	size_t len = 0;
	auto_free char *env = environment__now(t, &len);

	return env ? parse_variables(env, len, local_rank, world_size, which, role) : -1;
}

void rank__read_own(struct target *t, int *rank, int *local_rank, int *world_size)
{
	struct rank_role role;
	size_t which;

	*rank = rank_variables__now(t, local_rank, world_size, &which, &role);
}
