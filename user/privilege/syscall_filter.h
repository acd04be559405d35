/* SPDX-License-Identifier: BSD-2-Clause */
/* A seccomp filter for a process that only computes and writes to open descriptors. */
#ifndef PROFTRACE_SYSCALL_FILTER_H
#define PROFTRACE_SYSCALL_FILTER_H

#include <stdbool.h>

/* The kernel has filters (Linux 3.5 with CONFIG_SECCOMP_FILTER). */
bool syscall_filter__is_there(void);

enum filter_for {
	FILTER_OUTPUT,
	FILTER_MAPS, /* and elements of open BPF maps are read and changed */
	FILTER_CLIENT, /* and connections are made by libcurl */
	FILTER_SERVER, /* and who connects to an open socket is answered; no file is opened */
};

/*
 * From now on memory, threads, time, reading, and writing to what is open are allowed; files are
 * opened for reading only, or not at all. All else fails with ENOSYS, as on a kernel that lacks it. Needs
 * no_new_privs. 0 or a negative errno.
 */
int syscall_filter__enter(enum filter_for use);

#endif
