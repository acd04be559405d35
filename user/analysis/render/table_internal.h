/* SPDX-License-Identifier: BSD-2-Clause */
/* A table's inside, for its renderers. */
#ifndef PROFTRACE_TABLE_INTERNAL_H
#define PROFTRACE_TABLE_INTERNAL_H

#include <jansson.h>
#include "analysis/render/table.h"

struct row {
	struct cell *cells; /* one per column, texts owned */
	int indent;
	size_t section; /* 0: none, else index into sections + 1 */
	bool kept;	/* however few rows are asked for */
	bool estimated; /* the first cell begins with "~" */
};

struct note {
	char *text;
	bool legend; /* says what columns mean, not what was found */
};

struct table {
	char *key, *title;
	const char *node_prefix; /* NULL: none */
	bool list, prose;
	bool is_short, one_section; /* text: see table__set_short() */
	size_t short_rows;
	bool has_estimates;	/* rows say in JSON and CSV whether they are estimated */
	struct column *columns; /* texts owned */
	size_t column_cnt, column_cap;
	size_t sorted; /* index of the column that rows are sorted by, + 1; 0: none */
	struct row *rows;
	size_t row_cnt, row_cap;
	char **sections;
	size_t section_cnt, section_cap;
	struct note *notes;
	size_t note_cnt, note_cap;
	json_t *more; /* members of its JSON object, NULL: none */
};

/* What a row limit leaves: calls row for each row that stays (s its section or NULL), in order.
 * Only rows without indent count, in each section on its own; their details follow them.
 * Returns how many rows were left out (details not counted), or a negative errno of row. */
long table__each_row(const struct table *t, size_t limit,
		     int (*row)(const struct row *r, void *ctx), void *ctx);

/* Text of the first cell as JSON and CSV have it: without the mark of an estimated row. */
const char *row__plain_name(const struct row *r);

/* Type that names a column's unit: the declared one, else that of its first known cell. */
enum cell_type table__column_type(const struct table *t, size_t column);
/* "cpu_total_ns": the column's key with its unit, in buf. */
const char *table__column_key(const struct table *t, size_t column, char *buf, size_t size);

int table__print_text(const struct table *t, const struct table_style *style, FILE *out);
int table__print_csv(const struct table *t, const struct table_style *style, FILE *out);
/* Names are bytes of the target; what is not UTF-8 is kept readable by replacing it. */
json_t *text_json(const char *text);
json_t *cell_json(const struct cell *c);
int tables__print_grid(struct table *const *tables, size_t cnt, const struct table_style *style,
		       FILE *out);
int tables__print_json(struct table *const *tables, size_t cnt, const struct table_style *style,
		       FILE *out);

#endif
