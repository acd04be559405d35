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

/* Runs work(arg) and returns its result. If this process is killed meanwhile, the work still ends,
 * and then all descriptors are closed. The work runs in this process if no shield can be started,
 * or on another thread than the first. Such a thread only detaches from processes of our own. */
int shield__run(int (*work)(void *arg), void *arg);
/* Called by the work. True: the process that wanted the work is dead. Stop as soon as all is
 * consistent. */
bool shield__orphaned(void);

/* CPU time that shields took for this thread. CLOCK_PROCESS_CPUTIME_ID does not include it. */
uint64_t shield__cpu_ns(void);

#endif
