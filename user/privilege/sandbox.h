/* SPDX-License-Identifier: BSD-2-Clause */
/* A process without rights: it can compute, and write to its open descriptors. */
#ifndef PROFTRACE_SANDBOX_H
#define PROFTRACE_SANDBOX_H

#include <stdint.h>
#include "privilege/syscall_filter.h"

/* Protections. Also used as a mask of those that the kernel lacks. */
enum protection {
	PROTECTION_USER = 1 << 0,     /* a user other than root */
	PROTECTION_LANDLOCK = 1 << 1, /* no changes of file systems (Linux 5.13) */
	PROTECTION_SECCOMP = 1 << 2,  /* no other system calls */
};

/* Which protections this kernel lacks, found out without entering any. Does not check
 * PROTECTION_USER. */
unsigned int sandbox__lacks(void);

/* "Landlock (Linux 5.13) and seccomp"; "" for none. Kept until the thread's next call. */
const char *sandbox__name(unsigned int protections);

/* Gives up root, all capabilities, and what else the protections forbid, permanently. *lacks:
 * protections that are not available. 0, or a negative errno: capabilities remain. */
int sandbox__enter(unsigned int *lacks);

/* Gives up root, except for capabilities in `keep`. So a process that looks into others cannot
 * write files of root or others. A session filter forbids opening files for writing, and writing to
 * others' memory. It uses no Landlock, which would forbid looking. With err__set. */
int sandbox__look_on(uint64_t keep);

/* Like sandbox__enter, for a command that writes no file and needs no other process. `keep`:
 * capabilities that remain, because a kernel wants them for what the filter allows. With err__set.
 * Reports missing protections. */
int sandbox__go_on(enum filter_for use, uint64_t keep);

#endif
