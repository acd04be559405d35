// SPDX-License-Identifier: BSD-2-Clause
#include "common/text_char.h"
#include "common/util.h"
#include <limits.h>
#include <locale.h>
#include <stdbool.h>
#include <string.h>
#include <wchar.h>

/* wcwidth() depends on the locale, which the user chooses, for example "C". This locale is part of
 * the C library. */
static locale_t utf8(void)
{
	static locale_t locale;

	if (!locale)
		locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	return locale;
}

/* Such characters reorder the text around them, break lines, or are invisible: Unicode's
 * Default_Ignorable_Code_Point, ends of lines and paragraphs, annotations. Characters that join
 * letters or emoji (U+200C, U+200D) or select their form (U+180B to U+180D, U+FE00 to U+FE0F) are
 * text. */
static bool is_format(wchar_t c)
{
	static const struct {
		wchar_t first, last;
	} ranges[] = {
		{0x00ad, 0x00ad},   {0x034f, 0x034f}, {0x061c, 0x061c},	  {0x115f, 0x1160},
		{0x17b4, 0x17b5},   {0x180e, 0x180f}, {0x200b, 0x200b},	  {0x200e, 0x200f},
		{0x2028, 0x202e},   {0x2060, 0x206f}, {0x3164, 0x3164},	  {0xfeff, 0xfeff},
		{0xffa0, 0xffa0},   {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
		{0xe0000, 0xe0fff},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

/* A character that is shown as '?' has one column. */
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

void text__drop_cut_char(char *s)
{
	const size_t len = strlen(s);
	size_t at = len, want;
	unsigned char lead;

	while (at && len - at < 3 && ((unsigned char)s[at - 1] & 0xc0) == 0x80)
		at--;
	if (!at)
		return;
	lead = (unsigned char)s[at - 1];
	want = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
	if (want > len - at + 1)
		s[at - 1] = '\0';
}

int text__columns_within(const char *s, size_t len)
{
	int sum = 0, cols;

	for (size_t i = 0; i < len; sum += cols)
		i += text__char(s + i, &cols);
	return sum;
}

int text__columns(const char *s)
{
	return text__columns_within(s, strlen(s));
}

bool text__is_hostile(const char *c)
{
	unsigned char byte = (unsigned char)*c, next = byte ? (unsigned char)c[1] : 0;
	bool format = false;
	int cols;

	if (byte >= 0x80 && wide_char(c, &cols, &format) < 2)
		return true;
	return byte < 0x20 || byte == 0x7f || (byte == 0xc2 && next >= 0x80 && next < 0xa0) ||
	       format;
}

void text__put_char(FILE *out, const char *c, size_t len)
{
	if (text__is_hostile(c))
		fputc('?', out);
	else
		fwrite(c, 1, len, out);
}

void text__put_line(FILE *out, const char *text)
{
	int cols;

	for (size_t len; *text; text += len) {
		len = text__char(text, &cols);
		text__put_char(out, text, len);
	}
}

bool text__is_shown(FILE *out)
{
	const int fd = fileno(out);

	return fd >= 0 && isatty(fd);
}

static bool ends_line(const char *c)
{
	return *c == '\n' || *c == '\t' || (c[0] == '\r' && c[1] == '\n');
}

size_t text__clean(char *text, size_t len)
{
	char *out = text;

	text[len] = '\0';
	for (size_t i = 0, bytes; i < len; i += bytes) {
		int cols;

		bytes = text__char(text + i, &cols);
		if (!ends_line(text + i) && text__is_hostile(text + i)) {
			*out++ = '?';
		} else {
			memmove(out, text + i, bytes);
			out += bytes;
		}
	}
	return (size_t)(out - text);
}

void text__put_lines(FILE *out, const char *text)
{
	int cols;

	for (size_t len; *text; text += len) {
		len = text__char(text, &cols);
		if (*text == '\n' || *text == '\t')
			fputc(*text, out);
		else
			text__put_char(out, text, len);
	}
}
