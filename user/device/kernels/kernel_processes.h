/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of kernels in the target and in its recorded children. A forked child has handles of its
 * own. A spawned child has its libraries at other addresses.
 */
#ifndef PROFTRACE_KERNEL_PROCESSES_H
#define PROFTRACE_KERNEL_PROCESSES_H

#include "device/kernels/kernel_names.h"

struct kernel_processes;

/* Borrows the target. */
struct kernel_processes *kernel_processes__new(struct target *t);
void kernel_processes__free(struct kernel_processes *p);
/* Forgets the ids, because a new writer begins. Children are read again, because pids are
 * reused. */
void kernel_processes__forget(struct kernel_processes *p);
/* Reads the target's names in advance, as that takes a while. */
void kernel_processes__prepare(struct kernel_processes *p);
/* The names of a process. NULL: it ended before they were read. */
struct kernel_names *kernel_processes__of(struct kernel_processes *p, pid_t pid);

#endif
