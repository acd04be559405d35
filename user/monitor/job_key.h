/* SPDX-License-Identifier: BSD-2-Clause */
/* Which job a process belongs to: as its launcher told it, else by the process that started it. */
#ifndef PROFTRACE_JOB_KEY_H
#define PROFTRACE_JOB_KEY_H

#include <stddef.h>
#include <sys/types.h>

struct job_key {
	char name[96];	    /* the same of all ranks of a job on this host */
	char container[65]; /* "": it is in none that the cgroup names */
	char pod[37];	    /* uid of the Kubernetes pod, "" */
};

/*
 * SLURM_JOB_ID (and SLURM_STEP_ID), TORCHELASTIC_RUN_ID, MASTER_ADDR with MASTER_PORT, in this order,
 * of an environment's text with a NUL byte behind it. Else command and pid of the launcher: the
 * topmost process of the job. cgroup: text of /proc/PID/cgroup.
 */
void job_key__make(const char *env, size_t len, const char *cgroup, const char *command,
		   pid_t launcher, struct job_key *out);

#endif
