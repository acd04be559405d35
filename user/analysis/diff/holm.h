/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_HOLM_H
#define PROFTRACE_HOLM_H

#include <stddef.h>

/* Corrects cnt values of p for their number by Holm's method, in place. Negative values stay. 0 or
 * -ENOMEM. */
int holm__correct(double *p, size_t cnt);

#endif
