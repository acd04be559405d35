/* SPDX-License-Identifier: BSD-2-Clause */
/* A core dump is a file that the kernel writes for a process, whatever that process may write. */
#ifndef PROFTRACE_CORE_DUMPS_H
#define PROFTRACE_CORE_DUMPS_H

/* This process, and what it starts, leaves none. Who lacks CAP_SYS_RESOURCE cannot take it back. */
void core_dumps__forbid(void);

#endif
