/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_HOLM_H
#define PROFTRACE_HOLM_H

#include <stddef.h>

/* Holm's correction of cnt p for their number, in place; negative ones are left as they are. 0 or
 * -ENOMEM. */
int holm__correct(double *p, size_t cnt);

#endif
