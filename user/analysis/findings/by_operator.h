/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums by operator, and by the line of Python that called it. Shows which operator and line have
 * most. */
#ifndef PROFTRACE_BY_OPERATOR_H
#define PROFTRACE_BY_OPERATOR_H

#include "analysis/analysis.h"

struct by_operator {
	struct stat_map map;
};
/* The outermost operator or range around a span. 0: none. */
uint32_t operator__enclosing(const struct span *s);
/* Adds to the operator around a span, or to one given by name and stack. 0 or -ENOMEM. */
int by_operator__add(const struct analysis *a, struct by_operator *m, const struct span *s,
		     uint64_t amount);
int by_operator__add_to(struct by_operator *m, uint32_t name, uint32_t stack, uint64_t amount);

struct top_operator {
	uint32_t name; /* 0: no operator */
	uint64_t total, calls;
	char text[280]; /* "aten::item at train.py:41": the line with most */
};
/* The operator with the largest total. False: nothing was added, or out of memory. */
bool by_operator__top(const struct analysis *a, const struct by_operator *m,
		      struct top_operator *out);
/* The same for a given operator. */
bool by_operator__of(const struct analysis *a, const struct by_operator *m, uint32_t name,
		     struct top_operator *out);

#endif
