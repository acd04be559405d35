/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process's seccomp filters would answer, found by running them here. */
#ifndef PROFTRACE_INJECT_SECCOMP_H
#define PROFTRACE_INJECT_SECCOMP_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct inject_request;
struct tracee;

struct seccomp_state {
	int mode, filter_cnt; /* of /proc/TID/status; filters are counted since Linux 5.9 */
};

/*
 * Of a thread that nobody traces: 0 if it has no filter or those that let through what loading needs;
 * -EACCES with err__set (the system call, or that a filter cannot be read); -ESRCH, -EAGAIN. Filters
 * are read by inject/filter_reader.h, whose stops are added to `cost`. That needs CAP_SYS_ADMIN and
 * CONFIG_CHECKPOINT_RESTORE.
 */
int seccomp__check(pid_t pid, pid_t tid, const struct inject_request *request,
		   struct seccomp_state *state, struct tracee *cost);
/* It has put on no filter since. */
bool seccomp__is_still(pid_t tid, const struct seccomp_state *state);

bool seccomp__is_filtered(pid_t tid);
/* How many filters the thread of the process has that has the most. */
int seccomp__filter_cnt(pid_t pid);

/* One classic BPF program on one call: a SECCOMP_RET_* value; KILL for a program that is not
 * well-formed. */
unsigned int seccomp__run(const struct sock_filter *insns, size_t cnt,
			  const struct seccomp_data *call);

#endif
