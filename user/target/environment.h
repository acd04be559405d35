/* SPDX-License-Identifier: BSD-2-Clause */
/* Variables that a process set in its own environment after its start. /proc/PID/environ does not
 * show them. */
#ifndef PROFTRACE_ENVIRONMENT_H
#define PROFTRACE_ENVIRONMENT_H

#include "target/target.h"

/*
 * The variables that the process has now, from its C library's `environ`: texts that each end with
 * a NUL, and a NUL after the last. Leaves out texts longer than 255 bytes, and all after the
 * 4,096th. The process may change them at any time, or lie, so check them. NULL: none, or unknown.
 * Caller frees.
 */
char *environment__now(struct target *t, size_t *len);

#endif
