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
	int width, need; /* need: width without the padding to a minimum */
	bool name;	 /* it has texts: may be cut, is aligned left */
	/* For its times. longest and shortest ignore 0. */
	enum time_unit unit;
	int digits;
	uint64_t longest, shortest;
};

struct text {
	const struct table *t;
	const struct table_style *style;
	FILE *out;
	struct view *views;
	size_t view_cnt; /* without the columns that did not fit */
	bool *left_out;	 /* by column */
	int width;
	bool units_below; /* units have a line of their own, under the titles */
	bool brief;	  /* titles are shortened */
	size_t row_limit;
	size_t section;
	struct cut_names names; /* names of the rows, in printing order, from the first view */
	size_t name;		/* index of the next row's name */
};

/* Printed under the table: how many rows and columns were left out, and its notes. */
void text__put_notes(const struct text *x, long rows_left_out);
/* Print whole tables as a list, or as paragraphs. 0 or -ENOMEM. */
int text__put_list(struct text *x);
int text__put_paragraphs(struct text *x);

#endif
