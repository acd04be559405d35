/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process may do: its capability sets (capabilities(7)). */
#ifndef PROFTRACE_CAPABILITY_SET_H
#define PROFTRACE_CAPABILITY_SET_H

#include <stdbool.h>
#include <stdint.h>

/* Masks of CAPABILITY() bits. */
uint64_t capability_set__permitted(void);

/*
 * Cuts the calling thread's permitted and effective sets to `wanted`. From then on an exec gains
 * nothing: the bounding, inheritable and ambient sets are emptied, and no_new_privs is set. Threads
 * and processes that the thread starts later have no more. 0 or a negative errno.
 */
int capability_set__keep(uint64_t wanted);

#endif
