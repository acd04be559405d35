// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/text_width.h"
#include <ctype.h>
#include <limits.h>
#include <locale.h>
#include <string.h>
#include <wchar.h>
#include "common/util.h"

#define LEAST	8  /* columns, to cut rather than to end */
#define ROOM	12 /* of what follows a cut, at least */
#define CONTEXT 3  /* shown before what differs */

/* wcwidth() goes by the locale, which a program has from its user: "C", say. This one is part of
 * the C library. */
static locale_t utf8(void)
{
	static locale_t locale;

	if (!locale)
		locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	return locale;
}

/* Format characters: they reorder what a terminal shows around them, break its lines, or hide.
 * Those that join letters of a script or emoji (U+200C, U+200D) are text. */
static bool is_format(wchar_t c)
{
	static const struct {
		wchar_t first, last;
	} ranges[] = {
		{0x061c, 0x061c}, {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},
		{0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0001, 0xe007f},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

/* What is shown as '?' has one column. */
static size_t wide_char(const char *c, int *cols, bool *format)
{
	locale_t locale = utf8(), before;
	size_t len = 1;
	wchar_t wide;
	mbstate_t state = {0};
	int width;

	*cols = 1;
	*format = false;
	if (!locale)
		return 1;
	before = uselocale(locale);
	len = mbrtowc(&wide, c, MB_LEN_MAX, &state);
	width = len && len < MB_LEN_MAX ? wcwidth(wide) : 1;
	uselocale(before);
	*format = len && len < MB_LEN_MAX && is_format(wide);
	*cols = width < 0 || *format ? 1 : width;
	return len && len < MB_LEN_MAX ? len : 1;
}

size_t text__char(const char *c, int *cols)
{
	bool format;

	*cols = 1;
	return (unsigned char)*c < 0x80 ? 1 : wide_char(c, cols, &format);
}

int text__columns_within(const char *s, size_t len)
{
	int sum = 0, cols;

	for (size_t i = 0; i < len; sum += cols)
		i += text__char(s + i, &cols);
	return sum;
}

/* Bytes of the first `cols` columns. */
static size_t bytes_within(const char *s, int cols)
{
	size_t i = 0;

	while (s[i]) {
		int own;
		const size_t len = text__char(s + i, &own);

		cols -= own;
		if (cols < 0)
			break;
		i += len;
	}
	return i;
}

int text__columns(const char *s)
{
	return text__columns_within(s, strlen(s));
}

/* C0, delete, and the second byte of a C1: each could move the cursor of a terminal. */
static bool is_control(const char *c)
{
	unsigned char byte = (unsigned char)*c, next = byte ? (unsigned char)c[1] : 0;
	bool format = false;
	int cols;

	if (byte >= 0x80)
		wide_char(c, &cols, &format);
	return byte < 0x20 || byte == 0x7f || (byte == 0xc2 && next >= 0x80 && next < 0xa0) ||
	       format;
}

void text__put_char(FILE *out, const char *c, size_t len)
{
	if (is_control(c))
		fputc('?', out);
	else
		fwrite(c, 1, len, out);
}

/* The columns of text from `from` up to `to`; a blank for half of a wide character. */
static void put_part(FILE *out, const char *text, int from, int to)
{
	int n = 0, cols;

	for (size_t len; *text && n <= to; text += len, n += cols) {
		len = text__char(text, &cols);
		if (!cols ? n > from || !from : n >= from && n + cols <= to)
			text__put_char(out, text, len);
		else if (n < to && n + cols > from)
			fputc(' ', out);
	}
}

/* Columns of a C++ function's name without its arguments; 0: it has none. */
static int without_arguments(const char *text)
{
	size_t len = strlen(text), at = len;
	int depth = 0;

	if (len < 3 || text[len - 1] != ')')
		return 0;
	while (at-- > 1) {
		depth += (text[at] == ')') - (text[at] == '(');
		if (!depth)
			break;
	}
	return depth || text[at - 1] == ' ' || text[at - 1] == ':' ? 0
								   : text__columns_within(text, at);
}

/* The first `cols` of text in `width`. Long names differ at their ends, so it is cut nearer the
 * begin: autograd::...ConvolutionBackward0 */
static void put_middle_cut(FILE *out, const char *text, int cols, int width)
{
	int head = (width - 3) / 3;

	put_part(out, text, 0, head);
	fputs("...", out);
	put_part(out, text, cols - (width - 3 - head), cols);
}

/* Takes the namespaces out of a C++ name, in place. */
static void drop_namespaces(char *text)
{
	static const char anonymous[] = "(anonymous namespace)";
	const size_t len = sizeof(anonymous) - 1;
	char *out = text;

	for (const char *c = text; *c; c++) {
		char *begin = out;

		if (c[0] != ':' || c[1] != ':') {
			*out++ = *c;
			continue;
		}
		while (begin > text && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_'))
			begin--;
		if (begin == out && (size_t)(out - text) >= len &&
		    !memcmp(out - len, anonymous, len))
			begin = out - len;
		c++;
		if (begin < out) {
			out = begin;
		} else { /* in a class of a template */
			*out++ = ':';
			*out++ = ':';
		}
	}
	*out = '\0';
}

/* Columns of what is named: less the arguments of a template, and less the kinds of memory of
 * "Memcpy HtoD (Pageable -> Device)". */
static int own_columns(const char *text)
{
	const char *kinds = strncmp(text, "Memcpy ", 7) ? NULL : strstr(text, " (");

	return text__columns_within(text, kinds ? (size_t)(kinds - text) : strcspn(text, "<"));
}

char *text__shorten(const char *text, int width)
{
	const bool function = strchr(text, '<') && text__columns(text) > width && width >= LEAST;
	char *name;
	int cols;

	if (function && !strncmp(text, "void ", 5))
		text += 5;
	name = strdup(text);
	if (!name || !function)
		return name;
	cols = without_arguments(name);
	if (cols)
		name[bytes_within(name, cols)] = '\0';
	if (text__columns(name) > width)
		drop_namespaces(name);
	return name;
}

int text__put_cut(FILE *out, const char *text, int width)
{
	auto_free char *name = text__shorten(text, width);
	const char *s = name ? name : text;
	const int cols = text__columns(s), own_cols = own_columns(s);

	if (cols <= width || width < LEAST) {
		put_part(out, s, 0, width);
		return cols < width ? cols : width;
	}
	/* Of what follows, the last goes. */
	if (own_cols && own_cols < cols && own_cols + 4 <= width) {
		put_part(out, s, 0, width - 3);
		fputs("...", out);
	} else {
		put_middle_cut(out, s, own_cols > width ? own_cols : cols, width);
	}
	return width;
}

int text__put_stack(FILE *out, const char *text, int width)
{
	const char *callers = strstr(text, " < ");
	const int cols = text__columns(text);
	const int own = callers ? text__columns_within(text, (size_t)(callers - text)) : cols;

	if (cols <= width || width < LEAST)
		return text__put_cut(out, text, width);
	if (own > width) {
		fputs("...", out);
		put_part(out, text, own - (width - 3), own);
		return width;
	}
	if (own > width - 3) {
		put_part(out, text, 0, own);
		return own;
	}
	put_part(out, text, 0, width - 3);
	fputs("...", out);
	return width;
}

int text__put_cut_from(FILE *out, const char *text, int width, int from)
{
	const int cols = text__columns(text), own_cols = own_columns(text);
	int head = own_cols + ROOM + 4 <= width ? own_cols + 1 : width / 3, room;

	if (!from || cols <= width || width < 2 * ROOM)
		return text__put_cut(out, text, width);
	from -= CONTEXT;
	if (from <= head + 3) {
		put_part(out, text, 0, width - 3);
		fputs("...", out);
		return width;
	}
	room = width - head - 3;
	put_part(out, text, 0, head);
	fputs("...", out);
	if (cols - from <= room) {
		put_part(out, text, cols - room, cols);
	} else {
		put_part(out, text, from, from + room - 3);
		fputs("...", out);
	}
	return width;
}
