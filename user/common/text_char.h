/* SPDX-License-Identifier: BSD-2-Clause */
/* Characters of the target's text on a terminal. */
#ifndef PROFTRACE_TEXT_CHAR_H
#define PROFTRACE_TEXT_CHAR_H

#include <stdbool.h>
#include <stdio.h>

/* Length in bytes, at least 1, of the UTF-8 character that c begins with, and its terminal columns.
 * East Asian characters and emoji have 2 columns. A character that combines with the one before has
 * 0. A byte that is no UTF-8 has 1. */
size_t text__char(const char *c, int *cols);
int text__columns(const char *s);
int text__columns_within(const char *s, size_t len); /* columns of the first len bytes */
/* Removes an incomplete UTF-8 character from the end. */
void text__drop_cut_char(char *s);
/* Could the character move the cursor, reorder text or hide it? That holds for C0, delete, C1,
 * bytes that are no UTF-8 (C1 on an 8-bit terminal), and some of Unicode. */
bool text__is_hostile(const char *c);
/* Prints one character of len bytes. Hostile characters (see above) are printed as '?'. */
void text__put_char(FILE *out, const char *c, size_t len);
/* Prints all characters in this way, as one line. */
void text__put_line(FILE *out, const char *text);
/* The same, but keeps line ends and tabs. */
void text__put_lines(FILE *out, const char *text);
/* The same in place, for text of rows on a terminal. Returns the number of bytes left. Writes the
 * byte after the text, too. */
size_t text__clean(char *text, size_t len);
/* Does output to this file appear on a terminal? */
bool text__is_shown(FILE *out);

#endif
