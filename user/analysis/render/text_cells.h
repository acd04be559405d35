/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a text table's lines: titles, cells, rules. */
#ifndef PROFTRACE_TEXT_CELLS_H
#define PROFTRACE_TEXT_CELLS_H

#include "analysis/render/table_text.h"

/* "GPU Max": the column's title with its group's, in buf. */
const char *text__title(const struct column *c, bool brief, char buf[TITLE_SIZE]);
/* For all cells but times. */
const char *text__format_cell(const struct cell *c, char *buf, size_t size);
void text__put_centred(const struct text *x, const char *title, char fill);
void text__put_repeated(FILE *out, char c, int cnt);
/* Prints an escape sequence if colours are on. */
void text__put_style(const struct text *x, const char *sequence);

#endif
