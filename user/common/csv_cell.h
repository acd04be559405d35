/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text as one field of CSV (RFC 4180). A spreadsheet runs a cell that begins with = + - @, a tab or
 * a line break. Such a text gets an apostrophe before it. So does such a text behind a semicolon or
 * tab, at which some spreadsheets divide lines. Numbers stay as they are. `raw`: the text as it is,
 * for programs.
 */
#ifndef PROFTRACE_CSV_CELL_H
#define PROFTRACE_CSV_CELL_H

#include <stdbool.h>
#include <stddef.h>

typedef void csv_put_fn(void *ctx, const char *text, size_t len);

void csv_cell__write(const char *text, bool raw, csv_put_fn *put, void *ctx);
/* The same in quotation marks, whether it needs them or not. */
void csv_cell__write_quoted(const char *text, bool raw, csv_put_fn *put, void *ctx);
/* Without quotation marks around it, each within doubled: part of a line of comment. */
void csv_cell__write_comment(const char *text, bool raw, csv_put_fn *put, void *ctx);

#endif
