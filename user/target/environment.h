/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process has set in its own environment since it was started: /proc/PID/environ does not tell. */
#ifndef PROFTRACE_ENVIRONMENT_H
#define PROFTRACE_ENVIRONMENT_H

#include "target/target.h"

/*
 * The variables that the process has now, from the `environ` of its C library: texts that each end with a NUL, and
 * a NUL behind the last. Longer ones than 255 bytes are left out, and all behind the 4,096th. The process may
 * change them meanwhile, or lie: check what is read. NULL: none, or not known. Caller frees.
 */
char *environment__now(struct target *t, size_t *len);

#endif
