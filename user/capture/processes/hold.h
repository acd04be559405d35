/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that we have started stands still while its probes go in, so that they see its first operator. */
#ifndef PROFTRACE_HOLD_H
#define PROFTRACE_HOLD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct hold;

/* Stops the process's first thread, or all of them, at once. NULL: it runs on, and what it does meanwhile is
 * not seen. Should we die it runs on, and so it does after some seconds. */
struct hold *hold__begin(pid_t pid, bool all);
/* Lets it go. Returns for how long it stood still, in ns. NULL: 0. */
uint64_t hold__end(struct hold *h);

#endif
