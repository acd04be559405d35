/* SPDX-License-Identifier: BSD-2-Clause */
/* Temporary files that must have a name: the kernel does not remove them when proftrace is killed, so the
 * next one does. Who lives has his locked (flock). */
#ifndef PROFTRACE_STALE_FILE_H
#define PROFTRACE_STALE_FILE_H

#include <stdbool.h>

/* Locks a file that was just made, until the last copy of the descriptor is closed. Never waits.
 * False: another process has it, or took it for a stale one and removed it; make a new one. */
bool stale_file__hold(int fd);

/* Removes files with such names from the directory (its descriptor may be of O_PATH) that nobody
 * holds. Only those of root, of this user and of who called sudo, with one name. */
void stale_file__sweep(int dir, bool (*is_temporary)(const char *name));

#endif
