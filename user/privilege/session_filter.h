/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A seccomp filter for a process that reads what strangers wrote. It may write to what is open. It
 * may not open, make, rename or remove anything to write to. Other calls are as without it.
 */
#ifndef PROFTRACE_SESSION_FILTER_H
#define PROFTRACE_SESSION_FILTER_H

#include <stdbool.h>

/*
 * Refuses calls of all threads from now on, and of what they start: by EPERM, or ENOSYS where the
 * kernel may lack the call. Refused are files opened to be written, and changes of names, owners,
 * modes, mounts and name spaces. So are exec, new sockets, io_uring and BPF objects of others.
 * may_trace leaves ptrace: our library may go into a process, or a program is held. Who traces a
 * process can write as it would. A later call can only refuse more. Needs no_new_privs. 0 or a
 * negative errno: the kernel has no filters.
 */
int session_filter__enter(bool may_trace);
/* The same without tracing, where it has been entered with it; says so if that cannot be. */
void session_filter__give_up_tracing(void);

#endif
