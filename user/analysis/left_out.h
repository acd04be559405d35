/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that had no probe in the window because they were hot and short: what they would have
 * added to the tables of operators and of device calls, from what was measured in the steps before. */
#ifndef PROFTRACE_LEFT_OUT_H
#define PROFTRACE_LEFT_OUT_H

#include "analysis/analysis.h"

enum left_out_kind { LEFT_OUT_OPERATORS, LEFT_OUT_DEVICE_CALLS };

size_t left_out__cnt(const struct analysis *a, enum left_out_kind kind);
/* An operator among them was called in the steps that were measured: others were not called, or made no
 * span. */
bool left_out__has_operators(const struct analysis *a);
/* What is estimated of backward nodes among them; 0 also of a recording that does not tell. */
uint64_t left_out__nodes_ns(const struct analysis *a);
/* A section of that kind's table, which has a name, calls, times of the CPU, and more; nothing if no
 * function was left out. */
int left_out__add_section(const struct analysis *a, enum left_out_kind kind, struct table *t);

#endif
