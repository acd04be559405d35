/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory for a table of several megabytes that is used everywhere. It lies on huge pages if the
 * system grants them on request. Then it takes a few page faults instead of a thousand. */
#ifndef PROFTRACE_LARGE_H
#define PROFTRACE_LARGE_H

#include <stddef.h>

void *large__alloc(size_t cnt, size_t size); /* zeroed; NULL: out of memory */
void large__free(void *p, size_t cnt, size_t size); /* p may be NULL */

#endif
