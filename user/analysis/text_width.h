/* SPDX-License-Identifier: BSD-2-Clause */
/* Text of the target in the columns of a terminal. */
#ifndef PROFTRACE_TEXT_WIDTH_H
#define PROFTRACE_TEXT_WIDTH_H

#include <stdbool.h>
#include <stdio.h>

/* The byte begins a character of UTF-8. */
bool text__starts_char(const char *c);
/* Terminal columns, taking each character as one. */
int text__columns(const char *s);
/* One byte; a control character, which could move the cursor, as '?'. */
void text__put_char(FILE *out, const char *c);
/* A copy of text; if that is a C++ function wider than width, without its return type, then its
 * arguments, then the namespaces, until it fits. NULL: out of memory; the caller frees. */
char *text__shorten(const char *text, int width);
/* At most width columns of text; returns how many. It is shortened first; then of a template the
 * last arguments go, other names are cut nearer their begin, because they differ at their ends. */
int text__put_cut(FILE *out, const char *text, int width);
/* The same of a text that was shortened already, but such that the column `from` of it shows. */
int text__put_cut_from(FILE *out, const char *text, int width, int from);

#endif
