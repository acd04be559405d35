/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process may do: its capability sets (capabilities(7)). */
#ifndef PROFTRACE_CAPABILITY_SET_H
#define PROFTRACE_CAPABILITY_SET_H

#include <stdbool.h>
#include <stdint.h>

/* Masks of CAPABILITY() bits. */
uint64_t capability_set__permitted(void);

/*
 * Cuts the calling thread's permitted and effective sets to `wanted`. An exec gains nothing any
 * more: the bounding, inheritable and ambient sets are emptied, no_new_privs is set. A thread or
 * process that it starts later has no more. 0 or a negative errno.
 */
int capability_set__keep(uint64_t wanted);

#endif
