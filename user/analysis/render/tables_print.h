/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints tables in the chosen form: text, JSON, CSV or the grid. */
#ifndef PROFTRACE_TABLES_PRINT_H
#define PROFTRACE_TABLES_PRINT_H

#include "analysis/render/table.h"

/*
 * Several tables of one report. Returns 0 or a negative errno.
 *
 * Text is made to fit `width` in this order: padding goes; names are cut to two fifths of the
 * width; units go below the titles; titles become brief; columns are left out by rank (and a note
 * says so); names are cut further; columns are left out from the right. The columns that rows are
 * grouped and sorted by go last. Lines never wrap. JSON is one object, {key: {"title", "rows",
 * "notes", "left_out"}}; CSV (RFC 4180) has a blank line between tables, a line `# title` before
 * the head of each, and notes as `# ` lines behind its rows. A single table has only head and rows.
 * In both, keys carry the unit: times are integers `_ns`, sizes `_bytes`, shares `_percent`.
 * `depth` is the row's indent, `section` the rule that it stands under. An unknown value is null
 * (empty), with the reason in "why". style->unit is for text only.
 *
 * The grid is a JSON array of {"key", "title", "shape": "table", "list" or "prose", "columns":
 * [{"key", "title", "group", "type"}], "sections", "rows", "notes", "left_out"}. A row is [indent,
 * section or -1, cells ...]; a cell as in JSON, but {"why"} where the reason of an unknown is
 * known.
 */
int tables__print(struct table *const *tables, size_t cnt, const struct table_style *style,
		  FILE *out);

#endif
