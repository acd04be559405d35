/* SPDX-License-Identifier: BSD-2-Clause */
/* A process without rights: it computes, and writes to the descriptors that it has. */
#ifndef PROFTRACE_SANDBOX_H
#define PROFTRACE_SANDBOX_H

#include <stdint.h>
#include "privilege/syscall_filter.h"

/* Protections; also a mask of those that the kernel lacks. */
enum protection {
	PROTECTION_USER = 1 << 0,     /* another user than root */
	PROTECTION_LANDLOCK = 1 << 1, /* no changes of file systems (Linux 5.13) */
	PROTECTION_SECCOMP = 1 << 2,  /* no other system calls */
};

/* Those that this kernel lacks, asked without entering any; PROTECTION_USER is not asked. */
unsigned int sandbox__lacks(void);

/* "Landlock (Linux 5.13) and seccomp"; "" for none. Kept until the thread's next call. */
const char *sandbox__name(unsigned int protections);

/* Gives up root, all capabilities and what else the protections forbid, for good. Each that cannot
 * be had is in *lacks. 0, or a negative errno: capabilities are left. */
int sandbox__enter(unsigned int *lacks);

/* Gives up root, but for capabilities to `keep`: who looks into processes of others then cannot write
 * what root or others own. A session's filter keeps him from files to write to and from the memory of
 * others. No Landlock: it would forbid to look. With err__set. */
int sandbox__look_on(uint64_t keep);

/* The same as sandbox__enter for a command that writes no file and needs no other process. `keep`: capabilities that
 * stay, for a kernel that wants them for what the filter allows. With err__set; says what lacks. */
int sandbox__go_on(enum filter_for use, uint64_t keep);

#endif
