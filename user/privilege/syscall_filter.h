/* SPDX-License-Identifier: BSD-2-Clause */
/* A seccomp filter for a process that only computes and writes to open descriptors. */
#ifndef PROFTRACE_SYSCALL_FILTER_H
#define PROFTRACE_SYSCALL_FILTER_H

#include <stdbool.h>

/* Does the kernel have filters (Linux 3.5 with CONFIG_SECCOMP_FILTER)? */
bool syscall_filter__is_there(void);

enum filter_for {
	FILTER_OUTPUT,
	FILTER_MAPS, /* also allows reading and changing elements of open BPF maps */
	FILTER_CLIENT, /* also allows connections by libcurl */
	FILTER_SERVER, /* also allows answering clients of an open socket, but opens no file */
};

/*
 * From now on only these are allowed: memory, threads, time, reading, and writing to open
 * descriptors. Files can be opened for reading only, or not at all. All else fails with ENOSYS, as
 * on a kernel that lacks it. Needs no_new_privs. 0 or a negative errno.
 */
int syscall_filter__enter(enum filter_for use);

#endif
