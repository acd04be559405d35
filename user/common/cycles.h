/* SPDX-License-Identifier: BSD-2-Clause */
/* The processor's own counter, which programs read for times without a system call. */
#ifndef PROFTRACE_CYCLES_H
#define PROFTRACE_CYCLES_H

#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC per count, times 2^shift, measured once in 20 ms (to about a
 * part in 100000). 0: the counter's rate is not constant, or no counter of this architecture is
 * known. */
uint32_t cycles__ns_shifted(unsigned int shift);

#endif
