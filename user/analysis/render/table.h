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
	CELL_DECIMAL, /* text: a number with two decimals */
	CELL_LARGE,   /* a count; text: with a decimal prefix: "5.49 M" */
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
	const char *group;   /* name of a group of columns, printed before their titles */
	enum cell_type type; /* unit of the JSON and CSV key; CELL_NONE: that of the first known
				cell */
	int rank;	   /* text that is too wide: the highest rank is left out first, rank 0
			      last */
	int max_width;	   /* text: longer cells are cut; 0: none is */
	const char *brief; /* title of text that is too wide; NULL: the same */
	const char *text;  /* its whole title in text; NULL: its group's and its own */
	int keep;	   /* of names: columns are left out before names are cut below this
			      width; 0: two fifths of the table's width, at most 40 */
	bool grouped; /* rows are grouped by it. Text that is too wide loses other columns first,
			 except the one that sorts the rows */
	bool stack;   /* a call stack, the innermost call first, joined by " < " */
	bool is_name; /* a row can be found by this column's text, too; the first column always
			 counts */
	bool aside;   /* prose: printed in brackets after the first cell */
	bool same_unit; /* text: its times have the unit of the column before it */
	const char *frame; /* with aside: text around the value, as "at most % of a step"; NULL:
			      the value alone */
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
/* Text that is too wide: the column of this key, by which rows are sorted, is left out last, except
 * for the first column. NULL, or an unknown key: only ranks count. */
void table__set_sorted(struct table *t, const char *key);
int table__add_section(struct table *t, const char *title); /* a line with a title between rows */
/* JSON only: adds an object beside the table's rows. Takes the reference to value, also on
 * failure. */
int table__set_json(struct table *t, const char *key, json_t *value);
int table__add_note(struct table *t, const char *text); /* printed under the table */
/* The names of backward nodes begin with this prefix. A pattern also finds them by the name after
 * it. A literal. */
void table__set_node_prefix(struct table *t, const char *prefix);
/* Text: removes the prefix from all texts. Rows that had it in their first cell get a mark in a new
 * column. 0 or -ENOMEM. */
int table__mark_nodes(struct table *t);
/* Makes the last note a legend, which the short form leaves out. Returns err. */
int table__as_legend(struct table *t, int err);
/* Text: prints no legends, at most so many rows (0: all), and with one_section no section title if
 * there is just one. */
void table__set_short(struct table *t, size_t rows, bool one_section);
/* Empties the table but for its columns, and adds this note. */
int table__set_empty(struct table *t, const char *note);
size_t table__row_cnt(const struct table *t);
/* The last row, such as an average, is printed whatever the row limit. */
void table__keep_last(struct table *t);
/* "3.06 KiB", as the text of a cell. */
void table__format_bytes(int64_t bytes, char *buf, size_t size);
/* Counts the rows without indent whose name (column.is_name) matches the pattern (fnmatch(3)).
 * Offers the names of the others to near. These are strings of the table. */
struct suggestion;
size_t table__match(const struct table *t, const char *pattern, struct suggestion *near);
/* Removes the rows that do not match, with their details. */
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
	bool unit_chosen; /* the user chose the unit; otherwise each time in prose gets the unit
			     that suits it */
	bool suits_unit;  /* text: each column gets the unit that suits it */
	int width;	  /* terminal columns, 0: unlimited */
	bool colours;
	int name_width;	  /* longest text in the first column; 0: as the table says */
	size_t row_limit; /* 0: all; the number of rows left out is printed */
	bool alone;	  /* CSV: prints only the rows of the one table; all else goes to stderr */
	bool shown;   /* CSV goes to a terminal, so control characters are replaced; set by
			 tables__print */
	bool raw_csv; /* CSV: texts stay as they are, even those that a spreadsheet would run as
			 formulas */
};

/* "12.345 ms", for prose: in the unit of --time-unit, or in the unit that suits the time. */
struct time_text {
	char s[32];
};
struct time_text time_text__of(const struct table_style *style, uint64_t ns);

/* Prints a line between the tables of CSV, such as a title. */
void csv__put_comment(const char *text, const struct table_style *style, FILE *out);

#endif
