/* SPDX-License-Identifier: BSD-2-Clause */
/* A table with one row, printed as a list. */
#ifndef PROFTRACE_FACTS_H
#define PROFTRACE_FACTS_H

#include "analysis/analysis.h"

#define FACTS_MAX 16

/* One column and its only cell; key NULL: left out. */
struct fact {
	const char *key, *title;
	struct cell cell;
	enum cell_type type; /* of a cell that may be unknown; CELL_NONE: the cell's own type */
};

/* cnt: at most FACTS_MAX, not counting those left out. 0 or -ENOMEM. */
int facts__add(struct table *t, const struct fact *facts, size_t cnt);

#endif
