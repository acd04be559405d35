/* SPDX-License-Identifier: BSD-2-Clause */
/* Landlock (Documentation/userspace-api/landlock.rst) by system calls, because the C library has no
 * functions for it. */
#ifndef PROFTRACE_LANDLOCK_H
#define PROFTRACE_LANDLOCK_H

#include <stdbool.h>

/* Version of the kernel's interface, 1 or more (1 is Linux 5.13). 0: the kernel has none. */
int landlock__version(void);

/*
 * After this the process can change no file system and execute nothing. It can bind no TCP port,
 * connect to none unless may_connect, and signal no other process. The kernel's version decides
 * which of these it can forbid. Open descriptors stay. Needs no_new_privs. 0, or a negative errno;
 * -ENOSYS, -EOPNOTSUPP: the kernel has no Landlock.
 */
int landlock__forbid_changes(bool may_connect);

#endif
