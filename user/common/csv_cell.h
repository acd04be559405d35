/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text as one field of CSV (RFC 4180). A spreadsheet runs a cell that begins with = + - @, a tab or
 * a line break. So such a text gets an apostrophe in front. The same holds after a semicolon or
 * tab, because some spreadsheets divide lines there. Numbers stay as they are. `raw`: the text is
 * unchanged, for programs.
 */
#ifndef PROFTRACE_CSV_CELL_H
#define PROFTRACE_CSV_CELL_H

#include <stdbool.h>
#include <stddef.h>

typedef void csv_put_fn(void *ctx, const char *text, size_t len);

void csv_cell__write(const char *text, bool raw, csv_put_fn *put, void *ctx);
/* The same, always in quotation marks. */
void csv_cell__write_quoted(const char *text, bool raw, csv_put_fn *put, void *ctx);
/* Without quotation marks around the text; those inside are doubled. For a part of a comment
 * line. */
void csv_cell__write_comment(const char *text, bool raw, csv_put_fn *put, void *ctx);

#endif
