/* SPDX-License-Identifier: BSD-2-Clause */
/* The directory of the recordings, with a limit of bytes. The oldest are removed first. */
#ifndef PROFTRACE_WINDOW_STORE_H
#define PROFTRACE_WINDOW_STORE_H

#include <stdbool.h>
#include <stdint.h>

/* Opens the directory. Makes it, with mode 0700, if only it is missing. A descriptor, or a negative
 * errno with err__set: it must be ours, and nobody else may be able to write to it. */
int window_store__open(const char *path);
/* Checks the recording of a window that ended. False: it was larger than bytes_max and was
 * removed. */
bool window_store__take(int dir, const char *name, uint64_t bytes_max);
/* Is this an existing recording of the monitor? */
bool window_store__has(int dir, const char *name);
/* When it was last written, in seconds since 1970. 0: it does not exist. */
double window_store__written_s(int dir, const char *name);
/* Does its file system have so much room? True if unknown. */
bool window_store__has_room(int dir, uint64_t bytes);
/* Removes recordings of the monitor until the rest has at most so many bytes. They are recognised
 * by name (JOB_PID_TIME.ptrec, see watch.c) and owner. Those of the last two minutes stay, because
 * one may be open. Returns how many were removed, or a negative errno. */
int window_store__keep(int dir, uint64_t bytes);

#endif
