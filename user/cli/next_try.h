/* SPDX-License-Identifier: BSD-2-Clause */
/* A job that was started again while it was recorded: which processes it is now. */
#ifndef PROFTRACE_NEXT_TRY_H
#define PROFTRACE_NEXT_TRY_H

#include <stddef.h>
#include "target/successor.h"

/* Tells of those that ended, by whom their places were taken and how these are recorded. Waits up
 * to 3 seconds for a launcher that may start them again. */
void next_try__describe(const struct successor *places, size_t cnt);

#endif
