/* SPDX-License-Identifier: BSD-2-Clause */
/* The processor's counter, which gives times without a system call. */
#ifndef PROFTRACE_CYCLES_H
#define PROFTRACE_CYCLES_H

#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC per count, times 2^shift, measured once, for 20 ms (accurate to
 * about 1 in 100000). 0: the counter's rate is not constant, or the architecture has no known
 * counter. */
uint32_t cycles__ns_shifted(unsigned int shift);

#endif
