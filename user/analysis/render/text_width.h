/* SPDX-License-Identifier: BSD-2-Clause */
/* Text of the target cut to the columns of a terminal. */
#ifndef PROFTRACE_TEXT_WIDTH_H
#define PROFTRACE_TEXT_WIDTH_H

#include "common/text_char.h"
#include <stdio.h>

/* A copy of text; if that is a C++ function wider than width, without its return type, then its
 * arguments, then the namespaces, until it fits. NULL: out of memory; the caller frees. */
char *text__shorten(const char *text, int width);
/* At most width columns of text; returns how many. It is shortened first. Then a template loses its
 * last arguments, and a copy its kinds of memory. Other names are cut nearer their begin, because
 * they differ at their ends. */
int text__put_cut(FILE *out, const char *text, int width);
/* The same of calls, the innermost first and " < " between them: that one stays, cut on the left,
 * where paths are alike. */
int text__put_stack(FILE *out, const char *text, int width);
/* The same of a text that was shortened already, but such that the column `from` of it shows. */
int text__put_cut_from(FILE *out, const char *text, int width, int from);

#endif
