/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that had no probe in the window because they were hot and short: what they would have
 * added to the operator table, from what was measured in the steps before. */
#ifndef PROFTRACE_LEFT_OUT_H
#define PROFTRACE_LEFT_OUT_H

#include "analysis/analysis.h"

/* An array as doc/recording.md describes `dropped_probes`; NULL: none. */
const json_t *left_out__list(const struct analysis *a);
/* One of them was called in the steps that were measured: others were not called, or made no span.
 */
bool left_out__has_calls(const struct analysis *a);
/* What is estimated of backward nodes among them; 0 also of a recording that does not tell. */
uint64_t left_out__nodes_ns(const struct analysis *a);
/* A section of a table with name columns; nothing if no function was left out. */
int left_out__add_section(const struct analysis *a, struct table *t);

#endif
