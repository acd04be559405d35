/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table as data: analysis fills it, the renderers print it as text, JSON or CSV. Times are in
 * nanoseconds inside and converted when printed. A cell that cannot be known is CELL_NONE with a
 * reason, printed as `-`.
 */
#ifndef PROFTRACE_TABLE_H
#define PROFTRACE_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum cell_type {
	CELL_NONE = 0,
	CELL_TEXT,
	CELL_COUNT,
	CELL_TIME,
	CELL_PERCENT,
	CELL_BYTES,
	CELL_FLOAT,
	CELL_DECIMAL, /* a number of two decimals in text */
	CELL_LARGE,   /* a count, in text with a decimal prefix: "5.49 M" */
};

struct cell {
	enum cell_type type;
	union {
		const char *text; /* CELL_TEXT, and the reason of a CELL_NONE; owned by the table */
		int64_t count;	  /* CELL_COUNT, CELL_BYTES, CELL_LARGE */
		uint64_t time_ns;
		double number; /* CELL_PERCENT (0..100), CELL_FLOAT, CELL_DECIMAL */
	};
};

struct column {
	const char *key;     /* JSON and CSV, snake_case with unit-free name: "cpu_total" */
	const char *title;   /* text header */
	int min_width;	     /* text, in columns; 0: as wide as its widest cell */
	const char *group;   /* of columns that belong together: precedes their titles */
	enum cell_type type; /* unit of the JSON and CSV key; CELL_NONE: as the first known cell */
	int rank;	   /* text that is too wide: the highest is left out first, 0 last of all */
	int max_width;	   /* text: longer cells are cut; 0: none is */
	const char *brief; /* title of text that is too wide; NULL: the same */
	const char *text;  /* its whole title in text; NULL: its group's and its own */
	int keep;	   /* of names: columns are left out before they are cut below this;
			      0: two fifths of the width, 40 at most */
	bool grouped; /* rows are grouped by it: text that is too wide loses the others first, but
			 for the one that they are sorted by */
	bool stack;   /* what calls what, the innermost first, with " < " between them */
	bool is_name; /* rows are called what it says, too; they always are what the first says */
	bool aside;   /* prose: in brackets behind the first cell */
	bool same_unit; /* text: its times have the unit of the column before it */
	const char *frame; /* of a value aside: "at most % of a step"; NULL: the value alone */
};

struct table; /* opaque, grows row by row */

struct table *table__new(const char *key, const char *title);
/* Text: one `title: value` line per cell instead of a row, the table's title is not printed. */
void table__set_list(struct table *t);
/* Text: rows are numbered paragraphs: the first cell, then a `title: value` line for each other
 * that is known. */
void table__set_prose(struct table *t);
void table__free(struct table *t);
/* All table__add_* copy what they are given and return 0 or -ENOMEM. */
int table__add_column(struct table *t, const struct column *c);
int table__add_columns(struct table *t, const struct column *columns, size_t cnt);
/* cells: one per column. indent: depth shown in the first column (2 spaces each) and as "depth". */
int table__add_row(struct table *t, int indent, const struct cell *cells);
/* For tables that may have estimated rows: JSON and CSV have a key, a column "estimated". */
void table__set_estimates(struct table *t);
/* An estimated row, whose first cell is text: text and the grid put "~" before it. */
int table__add_estimate(struct table *t, int indent, const struct cell *cells);
/* Text that is too wide: of all columns but the first, this one is left out last, being what the
 * rows are sorted by. NULL, or a key that no column has: as the ranks say. */
void table__set_sorted(struct table *t, const char *key);
int table__add_section(struct table *t, const char *title); /* a titled rule between rows */
/* JSON only: an object of the table's own beside its rows. Takes value, also if it fails. */
int table__set_json(struct table *t, const char *key, json_t *value);
int table__add_note(struct table *t, const char *text); /* below the table */
/* Backward nodes are called this and then their own name, by which they are found, too. A literal.
 */
void table__set_node_prefix(struct table *t, const char *prefix);
/* Text: takes the prefix out of all texts; rows that had it in their first cell have a mark in a
 * column of their own. 0 or -ENOMEM. */
int table__mark_nodes(struct table *t);
/* Makes the last note a legend, which the short form leaves out. Passes err through. */
int table__as_legend(struct table *t, int err);
/* Text: without legends, of so many rows (0: all), and, if it has one section, without its rule. */
void table__set_short(struct table *t, size_t rows, bool one_section);
/* Leaves its columns and this note alone. */
int table__set_empty(struct table *t, const char *note);
size_t table__row_cnt(const struct table *t);
/* The last row is printed however few were asked for, as an average of the others is. */
void table__keep_last(struct table *t);
/* "3.06 KiB", as the text of a cell. */
void table__format_bytes(int64_t bytes, char *buf, size_t size);
/* Rows without indent that have a name (column.is_name) that matches (fnmatch(3)): how many there
 * are; near is offered the names of the others. The table's own strings. */
struct suggestion;
size_t table__match(const struct table *t, const char *pattern, struct suggestion *near);
/* Takes out the others, and their details. */
void table__keep(struct table *t, const char *pattern);

enum table_format {
	TABLE_TEXT,
	TABLE_JSON,
	TABLE_CSV,
	TABLE_GRID, /* JSON that keeps columns and their order: what the page shows */
};
enum time_unit { UNIT_S, UNIT_MS, UNIT_US, UNIT_NS };

struct table_style {
	enum table_format format;
	enum time_unit unit;
	bool unit_chosen; /* by the user; else each time in prose has the unit that suits it */
	bool suits_unit;  /* text: so has each column */
	int width;	  /* terminal columns, 0: unlimited */
	bool colours;
	int name_width;	  /* longest text in the first column; 0: as the table says */
	size_t row_limit; /* 0: all; what is left out is said */
	bool alone;	  /* CSV: of the one table the rows, the rest to stderr */
	bool shown;   /* CSV: on a terminal, whose cursor no text may move; set by tables__print */
	bool raw_csv; /* CSV: texts as they are, those too that a spreadsheet would run */
};

/* "12.345 ms", for prose: --time-unit if it was given, else the unit that suits the time. */
struct time_text {
	char s[32];
};
struct time_text time_text__of(const struct table_style *style, uint64_t ns);

/* A line between the tables of CSV, as their titles. */
void csv__put_comment(const char *text, const struct table_style *style, FILE *out);

#endif
