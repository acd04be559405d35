/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process's seccomp filters would answer. proftrace runs copies of them itself. */
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
	int mode, filter_cnt; /* from /proc/TID/status; the count exists since Linux 5.9 */
};

/*
 * Do the filters of a thread that nobody traces allow what loading needs? 0: yes, or it has none;
 * -EACCES with err__set (the forbidden system call, or that a filter cannot be read); -ESRCH,
 * -EAGAIN. inject/filter_reader.h reads filters and adds its stops to `cost`. That needs
 * CAP_SYS_ADMIN and CONFIG_CHECKPOINT_RESTORE.
 */
int seccomp__check(pid_t pid, pid_t tid, const struct inject_request *request,
		   struct seccomp_state *state, struct tracee *cost);
/* Has the thread added no filter since? */
bool seccomp__is_still(pid_t tid, const struct seccomp_state *state);

bool seccomp__is_filtered(pid_t tid);
/* The largest number of filters of a thread of the process. */
int seccomp__filter_cnt(pid_t pid);

/* Runs one classic BPF program on one call. Returns a SECCOMP_RET_* value; KILL for a malformed
 * program. */
unsigned int seccomp__run(const struct sock_filter *insns, size_t cnt,
			  const struct seccomp_data *call);

#endif
