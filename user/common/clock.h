/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The machine's monotonic clock. A time namespace shifts the CLOCK_MONOTONIC of its processes
 * (time_namespaces(7)). The kernel's probes read the clock of the initial namespace, and so does
 * proftrace.
 */
#ifndef PROFTRACE_CLOCK_H
#define PROFTRACE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* CLOCK_MONOTONIC of the initial time namespace. */
uint64_t clock__monotonic_ns(void);
/* The same moment on our own CLOCK_MONOTONIC, for calls that wait until then. */
struct timespec clock__own_monotonic(uint64_t ns);
/* False: proftrace is in a time namespace of unknown offset, so its clock is not the machine's. */
bool clock__is_known(void);

/* Sets *ahead_ns: how far the process's CLOCK_MONOTONIC is ahead of the machine's. pid 0: this
 * process. 0; -ENODATA: /proc shows only the offset for its children; or another negative errno. */
int clock__ahead_ns(pid_t pid, int64_t *ahead_ns);

#endif
