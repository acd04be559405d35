// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/render/text_width.h"
#include "common/util.h"
#include <ctype.h>
#include <string.h>

#define LEAST	8  /* columns; narrower texts are cut at their end */
#define ROOM	12 /* columns that must remain after a cut */
#define CONTEXT 3  /* columns shown before the place where texts differ */

/* How many bytes the first `cols` columns take. */
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

/* Prints the columns from `from` up to `to`. Half of a wide character becomes a blank. */
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

/* Columns of a C++ function's name without its arguments. 0: it has no arguments. */
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

/* Prints the first `cols` columns of text in `width`. Long names differ at their ends, so the cut
 * is nearer the begin: autograd::...ConvolutionBackward0 */
static void put_middle_cut(FILE *out, const char *text, int cols, int width)
{
	int head = (width - 3) / 3;

	put_part(out, text, 0, head);
	fputs("...", out);
	put_part(out, text, cols - (width - 3 - head), cols);
}

/* Removes the namespaces from a C++ name, in place. */
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

/* Columns of the part that names the thing: without a template's arguments, and without the kinds
 * of memory in "Memcpy HtoD (Pageable -> Device)". */
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
	/* What follows the name is cut at its end. */
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
