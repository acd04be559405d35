/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text on its way to a file, plain or gzip. The file appears under its name only when complete
 * (out_file.h). The first error stays; text_file__finish returns it.
 */
#ifndef PROFTRACE_TEXT_FILE_H
#define PROFTRACE_TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text_file;

/* gzip_level 0: plain text. A pipe or terminal is written directly; "-" is standard output. path
 * NULL: the text is only counted. */
#define TEXT_FILE_STDOUT "-"
int text_file__open(const char *path, int gzip_level, struct text_file **out);
/* Writes the rest, renames the file, and frees. 0 or the first error, with err__set. */
int text_file__finish(struct text_file *f, uint64_t *bytes);
/* Removes the file, and frees. */
void text_file__abandon(struct text_file *f);
/* Finishes, or abandons if err is set. An error of the file itself is explained by finishing. f may
 * be NULL if err is set. */
int text_file__end(struct text_file *f, int err, uint64_t *bytes);
/* Does it go to a terminal? Then no text of a cell may begin a line. */
bool text_file__is_shown(const struct text_file *f);
int text_file__error(const struct text_file *f);
/* Bytes of uncompressed text so far. */
uint64_t text_file__taken(const struct text_file *f);

/* Room for `len` bytes (at most TEXT_ROOM_MAX) to format into. Never NULL. */
#define TEXT_ROOM_MAX (64u << 10)
char *text_file__room(struct text_file *f, size_t len);
/* Takes the text formatted since the last room, up to `end`. */
void text_file__take(struct text_file *f, const char *end);

void text_file__put(struct text_file *f, const char *text, size_t len);
/* The same, as csv_cell_put: f is the file. Control characters, including line breaks, become
 * blanks. */
void text_file__put_on_line(void *f, const char *text, size_t len);
void text_file__print(struct text_file *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* `text` as a JSON string with quotes: control characters, quotes and backslashes are escaped,
 * invalid UTF-8 becomes U+FFFD. Caller frees; NULL if out of memory. */
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
