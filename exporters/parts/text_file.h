/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text on its way to a file, plain or gzip. The file appears under its name only when it is whole
 * (out_file.h). Errors are sticky and come out of text_file__finish.
 */
#ifndef PROFTRACE_TEXT_FILE_H
#define PROFTRACE_TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text_file;

/* gzip_level 0: plain text. What is not a regular file (a pipe, a terminal) is written directly,
 * "-" to standard output. path NULL: the text is counted and goes nowhere. */
#define TEXT_FILE_STDOUT "-"
int text_file__open(const char *path, int gzip_level, struct text_file **out);
/* Writes what is left, renames, frees; 0 or the first error, with err__set. */
int text_file__finish(struct text_file *f, uint64_t *bytes);
/* Removes what was written and frees. */
void text_file__abandon(struct text_file *f);
/* Finishes, or abandons if err is set (but not by the file itself, which explains it best). f may
 * be NULL if err is set. */
int text_file__end(struct text_file *f, int err, uint64_t *bytes);
/* A terminal, where no text of a cell may begin a line. */
bool text_file__is_shown(const struct text_file *f);
int text_file__error(const struct text_file *f);
/* Bytes of text taken so far, before they are compressed. */
uint64_t text_file__taken(const struct text_file *f);

/* Room for `len` bytes (at most TEXT_ROOM_MAX) to format into; never NULL. */
#define TEXT_ROOM_MAX (64u << 10)
char *text_file__room(struct text_file *f, size_t len);
/* Takes what was formatted since the last room, up to `end`. */
void text_file__take(struct text_file *f, const char *end);

void text_file__put(struct text_file *f, const char *text, size_t len);
/* The same for csv_cell__write(): f is the file; control characters, line breaks among them, become blanks. */
void text_file__put_on_line(void *f, const char *text, size_t len);
void text_file__print(struct text_file *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* `text` as a JSON string with its quotes: control characters, quotes and backslashes escaped, what
 * is not UTF-8 replaced by U+FFFD. Caller frees; NULL if out of memory. */
char *json__quote(const char *text);

/* Decimal digits at p; returns the end. */
char *text__u64_long(char *p, uint64_t v);
static inline char *text__u64(char *p, uint64_t v)
{
	if (v >= 10)
		return text__u64_long(p, v);
	*p = (char)('0' + v);
	return p + 1;
}
char *text__i64(char *p, int64_t v);
static inline char *text__str(char *p, const char *s, size_t len)
{
	memcpy(p, s, len);
	return p + len;
}
#define TEXT_LIT(p, s) text__str((p), (s), sizeof(s) - 1)

#endif
