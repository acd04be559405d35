/* SPDX-License-Identifier: BSD-2-Clause */
/* The directory of the recordings, which may have so many bytes; the oldest go first. */
#ifndef PROFTRACE_WINDOW_STORE_H
#define PROFTRACE_WINDOW_STORE_H

#include <stdbool.h>
#include <stdint.h>

/* Makes it, mode 0700, if it is missing and the one above is not. A descriptor, or a negative errno
 * with err__set: it must be ours, and nobody else may write to it. */
int window_store__open(const char *path);
/* Of a window that ended: false, and it is removed, if it is larger than that. */
bool window_store__take(int dir, const char *name, uint64_t bytes_max);
/* Is that one of the monitor's recordings, and there? */
bool window_store__has(int dir, const char *name);
/* When it was written last, in seconds since 1970; 0: it is not there. */
double window_store__written_s(int dir, const char *name);
/* Has its file system so much room for us? True if it does not tell. */
bool window_store__has_room(int dir, uint64_t bytes);
/* Removes recordings of the monitor until the others have at most so many bytes. They are known by
 * name (JOB_PID_TIME.ptrec, as watch.c makes it) and owner. Those of the last two minutes stay: one
 * may be open. Returns how many were removed, or a negative errno. */
int window_store__keep(int dir, uint64_t bytes);

#endif
