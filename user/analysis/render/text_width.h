/* SPDX-License-Identifier: BSD-2-Clause */
/* Cuts text of the target to the columns of a terminal. */
#ifndef PROFTRACE_TEXT_WIDTH_H
#define PROFTRACE_TEXT_WIDTH_H

#include "common/text_char.h"
#include <stdio.h>

/* A copy of text. A C++ function that is wider than width loses its return type, then its
 * arguments, then its namespaces, until it fits. NULL: out of memory; the caller frees. */
char *text__shorten(const char *text, int width);
/* Prints at most width columns of text and returns how many. It shortens the text first. Then a
 * template loses its last arguments, and a copy its kinds of memory. Other names are cut nearer
 * their begin, because they differ at their ends. */
int text__put_cut(FILE *out, const char *text, int width);
/* The same for a stack of calls, the innermost first, joined by " < ". The innermost call stays. It
 * is cut on the left, where paths are alike. */
int text__put_stack(FILE *out, const char *text, int width);
/* The same for a text that is already shortened. The column `from` of it stays visible. */
int text__put_cut_from(FILE *out, const char *text, int width, int from);

#endif
