/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A seccomp filter for a process that reads data of strangers. It may write to open descriptors. It
 * may not open, make, rename or remove anything. Other calls are not restricted.
 */
#ifndef PROFTRACE_SESSION_FILTER_H
#define PROFTRACE_SESSION_FILTER_H

#include <stdbool.h>

/*
 * Refuses system calls of all threads and their later children, with EPERM, or with ENOSYS if the
 * kernel may lack the call. It refuses to open files for writing, and to change names, owners,
 * modes, mounts and namespaces. It also refuses exec, new sockets, io_uring and BPF objects of
 * others. may_trace allows ptrace, for loading our library or freezing a program. A process that
 * traces another can write with that one's rights. A later call can only refuse more. Needs
 * no_new_privs. 0 or a negative errno: the kernel has no filters.
 */
int session_filter__enter(bool may_trace);
/* Forbids tracing if it was allowed. Reports if that is impossible. */
void session_filter__give_up_tracing(void);

#endif
