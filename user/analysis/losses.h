/* SPDX-License-Identifier: BSD-2-Clause */
/* Events that the recording does not have, whoever lost them. */
#ifndef PROFTRACE_LOSSES_H
#define PROFTRACE_LOSSES_H

#include "analysis/analysis.h"

/* How many events were lost. Puts the counts by place into buf, as "ring 12, depth 3", or "" if
 * none. */
uint64_t losses__count(const struct analysis *a, char *buf, size_t size);
/* A warning for the begin of the report, because the tables do not show that events are missing.
 * NULL: none is missing. */
const char *losses__sentence(const struct analysis *a, char *buf, size_t size);
/* A sentence that says why too many events are missing for conclusions. NULL: enough are there.
 * Call it after the pass. */
const char *losses__why_unsure(const struct analysis *a);

#endif
