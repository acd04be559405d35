/* SPDX-License-Identifier: BSD-2-Clause */
/* Temporary files that need a name. The kernel does not remove them if proftrace is killed, so the
 * next proftrace does. A living proftrace holds a lock on its own (flock). */
#ifndef PROFTRACE_STALE_FILE_H
#define PROFTRACE_STALE_FILE_H

#include <stdbool.h>

/* Locks a new file until the last copy of the descriptor is closed. Never waits. False: another
 * process holds it, or took it for a stale file and removed it; make a new one. */
bool stale_file__hold(int fd);

/* Removes files with such names that nobody holds from the directory (its descriptor may be of
 * O_PATH). Only files of root, of this user and of the user who called sudo, with a single name. */
void stale_file__sweep(int dir, bool (*is_temporary)(const char *name));

#endif
