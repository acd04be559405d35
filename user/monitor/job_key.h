/* SPDX-License-Identifier: BSD-2-Clause */
/* The job of a process: what its launcher's variables say, else the process that started it. */
#ifndef PROFTRACE_JOB_KEY_H
#define PROFTRACE_JOB_KEY_H

#include <stddef.h>
#include <sys/types.h>

struct job_key {
	char name[96];	    /* all ranks of a job on this host have the same */
	char container[65]; /* "": the cgroup names no container */
	char pod[37];	    /* uid of the Kubernetes pod, or "" */
};

/*
 * env has a NUL byte after its text. Uses the first of these in it: SLURM_JOB_ID (and SLURM_STEP_ID),
 * TORCHELASTIC_RUN_ID, MASTER_ADDR with MASTER_PORT. Without one it uses command and pid of the
 * launcher, the job's topmost process. cgroup: text of /proc/PID/cgroup.
 */
void job_key__make(const char *env, size_t len, const char *cgroup, const char *command,
		   pid_t launcher, struct job_key *out);

#endif
