/* SPDX-License-Identifier: BSD-2-Clause */
/* A table of one row that reads as a list. */
#ifndef PROFTRACE_FACTS_H
#define PROFTRACE_FACTS_H

#include "analysis/analysis.h"

#define FACTS_MAX 16

/* One column and its only cell; key NULL: left out. */
struct fact {
	const char *key, *title;
	struct cell cell;
	enum cell_type type; /* of a cell that may not be known; CELL_NONE: the cell's own */
};

/* cnt: FACTS_MAX at most, those left out apart. 0 or -ENOMEM. */
int facts__add(struct table *t, const struct fact *facts, size_t cnt);

#endif
