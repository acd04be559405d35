/* SPDX-License-Identifier: BSD-2-Clause */
/* Landlock (Documentation/userspace-api/landlock.rst), by system calls: the C library has none. */
#ifndef PROFTRACE_LANDLOCK_H
#define PROFTRACE_LANDLOCK_H

#include <stdbool.h>

/* Version of the kernel's interface, from 1 (Linux 5.13) on; 0: the kernel has none. */
int landlock__version(void);

/*
 * This process then changes no file system and executes nothing. It binds no TCP port, connects to none unless
 * may_connect, and signals no other process. A version forbids what it knows. Open descriptors stay. Needs no_new_privs. 0, or a negative errno: -ENOSYS, -EOPNOTSUPP: none there.
 */
int landlock__forbid_changes(bool may_connect);

#endif
