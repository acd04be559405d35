/* SPDX-License-Identifier: BSD-2-Clause */
/* Freezes a program that we have started while its probes are attached. So the probes see its first operator. */
#ifndef PROFTRACE_FREEZE_H
#define PROFTRACE_FREEZE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct freeze;

/* Stops the first thread of the process, or all threads. NULL: the process runs on, and its work until the attach is
 * not seen. The process continues after some seconds, or if proftrace dies. */
struct freeze *freeze__begin(pid_t pid, bool all);
/* Continues the process. Returns how long it was stopped, ns. NULL: returns 0. */
uint64_t freeze__thaw(struct freeze *h);

#endif
