/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of a table, for its renderers. */
#ifndef PROFTRACE_TABLE_INTERNAL_H
#define PROFTRACE_TABLE_INTERNAL_H

#include <jansson.h>
#include "analysis/render/table.h"

struct row {
	struct cell *cells; /* one per column, texts owned */
	int indent;
	size_t section; /* 0: none, else index into sections, + 1 */
	bool kept;	/* printed whatever the row limit */
	bool estimated; /* the first cell begins with "~" */
};

struct note {
	char *text;
	bool legend; /* it says what columns mean, not what was found */
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

/* Calls row for each row within the row limit, in order (s is its section, or NULL). The limit
 * counts rows without indent, in each section on its own. Their details follow them. Returns how
 * many rows (without details) were left out, or a negative errno of row. */
long table__each_row(const struct table *t, size_t limit,
		     int (*row)(const struct row *r, void *ctx), void *ctx);

/* Text of the first cell for JSON and CSV: without the "~" of an estimated row. */
const char *row__plain_name(const struct row *r);

/* The type that gives a column its unit: the declared one, else that of its first known cell. */
enum cell_type table__column_type(const struct table *t, size_t column);
/* The column's key with its unit, such as "cpu_total_ns", in buf. */
const char *table__column_key(const struct table *t, size_t column, char *buf, size_t size);

int table__print_text(const struct table *t, const struct table_style *style, FILE *out);
int table__print_csv(const struct table *t, const struct table_style *style, FILE *out);
/* A name is bytes of the target. Bytes that are not UTF-8 are replaced. */
json_t *text_json(const char *text);
json_t *cell_json(const struct cell *c);
int tables__print_grid(struct table *const *tables, size_t cnt, const struct table_style *style,
		       FILE *out);
int tables__print_json(struct table *const *tables, size_t cnt, const struct table_style *style,
		       FILE *out);

#endif
