/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_MEDIAN_H
#define PROFTRACE_MEDIAN_H

#include <stddef.h>
#include <stdint.h>

/* Median of a sample, which it sorts. 0 if the sample is empty. For an even number of values: the
 * mean of the middle two, rounded down. */
uint64_t median__of(uint64_t *values, size_t cnt);

#endif
