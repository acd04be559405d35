/* SPDX-License-Identifier: BSD-2-Clause */
/* Characters of the target's text on a terminal. */
#ifndef PROFTRACE_TEXT_CHAR_H
#define PROFTRACE_TEXT_CHAR_H

#include <stdbool.h>
#include <stdio.h>

/* Bytes of the character of UTF-8 that c begins with, at least 1, and its terminal columns. East
 * Asian characters and emoji have 2. A character that combines with the one before has 0. A byte
 * that is no UTF-8 has 1. */
size_t text__char(const char *c, int *cols);
int text__columns(const char *s);
int text__columns_within(const char *s, size_t len); /* of the first so many bytes */
/* Takes from the end what is left of a character of UTF-8 that was cut. */
void text__drop_cut_char(char *s);
/* C0, delete, C1 and what is no UTF-8, a C1 on a terminal of 8 bits: each could move the cursor. Or a
 * character of Unicode's that reorders or hides text. */
bool text__is_hostile(const char *c);
/* One character of so many bytes; a control character, which could move the cursor, as '?', and so one
 * of Unicode's that reorder or hide text. */
void text__put_char(FILE *out, const char *c, size_t len);
/* All of them so: one line. */
void text__put_line(FILE *out, const char *text);
/* All of them so, but the ends of lines and tabs, which are the text's own. */
void text__put_lines(FILE *out, const char *text);
/* The same in place, for text of rows on a terminal: returns the bytes that are left. The byte behind
 * the text is written. */
size_t text__clean(char *text, size_t len);
/* Does what is written there appear on a terminal? */
bool text__is_shown(FILE *out);

#endif
