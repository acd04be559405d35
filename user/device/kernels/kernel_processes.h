/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of kernels in the target and in the children that are followed. A forked child has
 * its own handles. A spawned child has its libraries at other addresses.
 */
#ifndef PROFTRACE_KERNEL_PROCESSES_H
#define PROFTRACE_KERNEL_PROCESSES_H

#include "device/kernels/kernel_names.h"

struct kernel_processes;

/* Borrows the target. */
struct kernel_processes *kernel_processes__new(struct target *t);
void kernel_processes__free(struct kernel_processes *p);
/* Ids belong to a writer: a new one begins. Children are looked at anew, since pids come again. */
void kernel_processes__forget(struct kernel_processes *p);
/* Reads the target's names now, since that takes a moment. */
void kernel_processes__prepare(struct kernel_processes *p);
/* The process's names; NULL if it ended before they were read. */
struct kernel_names *kernel_processes__of(struct kernel_processes *p, pid_t pid);

#endif
