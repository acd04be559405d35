/* SPDX-License-Identifier: BSD-2-Clause */
/* The directory of the recordings, with a limit of bytes. The oldest are removed first, baselines and
 * alarms last. */
#ifndef PROFTRACE_WINDOW_STORE_H
#define PROFTRACE_WINDOW_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include "monitor/messages.h"

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
/* The name of a recording that is kept as a baseline or an alarm: JOB_PID_TIME.N.alarm.ptrec. out has RECORDING_NAME
 * bytes. */
void window_store__kept_name(const char *file, enum keep_as as, char *out);
/* Gives a recording that name as a second one (a hard link). 0, or a negative errno. */
int window_store__keep_as(int dir, const char *file, enum keep_as as, char *name);
/* Removes recordings of the monitor until the rest has at most so many bytes. They are recognised
 * by name (JOB_PID_TIME.ptrec, see watch.c) and owner. Those of the last two minutes stay, because
 * one may be open. Returns how many were removed, or a negative errno. */
int window_store__keep(int dir, uint64_t bytes);

#endif
