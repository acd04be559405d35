/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that we have started is frozen while its probes go in, so that they see its first operator. */
#ifndef PROFTRACE_FREEZE_H
#define PROFTRACE_FREEZE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct freeze;

/* Stops the process's first thread, or all of them, at once. NULL: it runs on, and what it does meanwhile is
 * not seen. Should we die it runs on, and so it does after some seconds. */
struct freeze *freeze__begin(pid_t pid, bool all);
/* Lets it go. Returns for how long it stood still, in ns. NULL: 0. */
uint64_t freeze__thaw(struct freeze *h);

#endif
