/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work that SIGKILL must not stop half-way. The kernel cannot put in or take out a breakpoint for a
 * task that has SIGKILL pending. It gives up ("failed to unregister, leaking uprobe"), and the
 * target keeps breakpoints that nobody owns. So probes are attached and detached by a process that
 * shares our memory and descriptors, but not our signals.
 */
#ifndef PROFTRACE_ATTACH_SHIELD_H
#define PROFTRACE_ATTACH_SHIELD_H

#include <stdbool.h>
#include <stdint.h>

/* Runs work(arg), and returns what it returned. If we are killed meanwhile, it goes on to its end,
 * and then all descriptors are closed. Without a process to be had, and from
 * other threads than the first, which only lets go of processes of our own, it runs in ours. */
int shield__run(int (*work)(void *arg), void *arg);
/* In the work: those who wanted it are dead; stop where all is consistent. */
bool shield__orphaned(void);

/* CPU time that such work of this thread has taken so far; CLOCK_PROCESS_CPUTIME_ID leaves it out. */
uint64_t shield__cpu_ns(void);

#endif
