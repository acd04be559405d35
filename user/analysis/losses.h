/* SPDX-License-Identifier: BSD-2-Clause */
/* Events that are missing in the recording, whoever lost them. */
#ifndef PROFTRACE_LOSSES_H
#define PROFTRACE_LOSSES_H

#include "analysis/analysis.h"

/* How many; into buf how many where, "ring 12, depth 3", empty if none. */
uint64_t losses__count(const struct analysis *a, char *buf, size_t size);
/* Said before the tables, for they look as if nothing were missing; NULL: nothing is. */
const char *losses__sentence(const struct analysis *a, char *buf, size_t size);
/* A sentence that says why too much is missing to conclude from the rest. NULL: enough is there.
 * Call after the pass. */
const char *losses__why_unsure(const struct analysis *a);

#endif
