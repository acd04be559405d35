/* SPDX-License-Identifier: BSD-2-Clause */
/* A table that is being printed as text. */
#ifndef PROFTRACE_TABLE_TEXT_H
#define PROFTRACE_TABLE_TEXT_H

#include "analysis/render/cut_names.h"
#include "analysis/render/table_internal.h"

#define CELL_SIZE  256
#define TITLE_SIZE 96

/* A printed column. */
struct view {
	size_t column;
	int width, need; /* need: without the padding of a minimum width */
	bool name;	 /* has texts: may be cut, stands on the left */
	/* Of its times; those are not 0. */
	enum time_unit unit;
	int digits;
	uint64_t longest, shortest;
};

struct text {
	const struct table *t;
	const struct table_style *style;
	FILE *out;
	struct view *views;
	size_t view_cnt; /* less those that did not fit */
	bool *left_out;	 /* by column */
	int width;
	bool units_below; /* in a line of their own, not in the titles */
	bool brief;	  /* titles are shortened */
	size_t row_limit;
	size_t section;
	struct cut_names names; /* of the rows, in the order of printing; those of the first view */
	size_t name;		/* the next */
};

/* Below the table: rows and columns that were left out, and its notes. */
void text__put_notes(const struct text *x, long rows_left_out);
/* Whole tables of these shapes: 0 or -ENOMEM. */
int text__put_list(struct text *x);
int text__put_paragraphs(struct text *x);

#endif
