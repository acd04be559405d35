/* SPDX-License-Identifier: BSD-2-Clause */
/* The directory in which running proftraces of one user meet: /run/proftrace, or for other users
 * than root $XDG_RUNTIME_DIR/proftrace. */
#ifndef PROFTRACE_RUN_DIRECTORY_H
#define PROFTRACE_RUN_DIRECTORY_H

#include <stddef.h>
#include <sys/types.h>

/* 0 or -ENAMETOOLONG. */
int run_directory__path(uid_t owner, char *path, size_t size);
/* Makes it if it is missing. Others must not list it, because they could lock it then. A descriptor
 * that the caller closes, or a negative errno: -EPERM: another user could change it. */
int run_directory__open(void);
/* Opens a file in it whose bytes serve as locks. Only its owner can open it. A descriptor or a
 * negative errno. */
int run_directory__open_lock(const char *name);

#endif
