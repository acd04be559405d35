/* SPDX-License-Identifier: BSD-2-Clause */
/* Cuts names that are too wide for their column, such that different names look different. */
#ifndef PROFTRACE_CUT_NAMES_H
#define PROFTRACE_CUT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct cut_names {
	struct cut_name {
		const char *text; /* the whole name; not owned */
		int width;
		char *base;  /* the text to cut: a shortened name, or the whole if only that
				differs */
		char *shown; /* at most width columns; NULL until cut_names__cut() */
		int from;    /* column of base that must be visible; 0: any */
	} *items;
	size_t cnt, cap;
};

/* Both return 0 or -ENOMEM. */
int cut_names__add(struct cut_names *n, const char *text, int width);
/* Fills `shown`. Names that differ in several places of their middle may still get the same
 * text. */
int cut_names__cut(struct cut_names *n);
void cut_names__free(struct cut_names *n);

#endif
