/* SPDX-License-Identifier: BSD-2-Clause */
/* A core dump is a file that the kernel writes for a process, or pipes to a program, whatever that
 * process may write. */
#ifndef PROFTRACE_CORE_DUMPS_H
#define PROFTRACE_CORE_DUMPS_H

/* This process, and what it starts, leaves none. A change of user can take back a part, so call it
 * after one. */
void core_dumps__forbid(void);

#endif
