/* SPDX-License-Identifier: BSD-2-Clause */
/* A job that was restarted during a recording: which processes replace its old ones. */
#ifndef PROFTRACE_NEXT_TRY_H
#define PROFTRACE_NEXT_TRY_H

#include <stddef.h>
#include "target/successor.h"

/* Lists the ranks that ended, the processes that replace them, and how to record these. Waits up to
 * 3 seconds for a launcher that may restart them. */
void next_try__describe(const struct successor *places, size_t cnt);

#endif
