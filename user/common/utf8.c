// SPDX-License-Identifier: BSD-2-Clause
#include "common/utf8.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHAR_TEXT_MAX 10 /* "\u0000d800" */
#define ESCAPE_LEN    4	 /* "\xff" */

size_t utf8__len(const char *text)
{
	const unsigned char *s = (const unsigned char *)text, lead = s[0];
	const size_t len = lead < 0x80	 ? 1
			   : lead < 0xc2 ? 0
			   : lead < 0xe0 ? 2
			   : lead < 0xf0 ? 3
					 : 4;

	if (lead > 0xf4)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((lead == 0xe0 && s[1] < 0xa0) || (lead == 0xed && s[1] > 0x9f) ||
	    (lead == 0xf0 && s[1] < 0x90) || (lead == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

static size_t strays(const char *s)
{
	size_t cnt = 0;

	for (size_t len; *s; s += len ? len : 1) {
		len = utf8__len(s);
		cnt += !len;
	}
	return cnt;
}

/* Frees text and returns a copy with each stray byte escaped. */
static char *mended(char *text, size_t stray_cnt)
{
	char *out = malloc(strlen(text) + stray_cnt * ESCAPE_LEN + 1), *p = out;

	for (const char *s = text; out && *s;) {
		const size_t len = utf8__len(s);

		if (len)
			p = mempcpy(p, s, len);
		else
			p += sprintf(p, "\\x%02x", (unsigned char)*s);
		s += len ? len : 1;
	}
	if (out)
		*p = '\0';
	free(text);
	return out;
}

char *utf8__copy(const void *bytes, size_t len)
{
	char *text = malloc(len + 1);
	size_t stray_cnt;

	if (!text)
		return NULL;
	memcpy(text, bytes, len);
	text[len] = '\0';
	stray_cnt = strays(text);
	return stray_cnt ? mended(text, stray_cnt) : text;
}

static size_t put_char(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) /* for example, of bytes that are no
							    text */
		return (size_t)sprintf(out, "\\u%08x", c);
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 63));
		out[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 63));
	out[2] = (char)(0x80 | (c >> 6 & 63));
	out[3] = (char)(0x80 | (c & 63));
	return 4;
}

char *utf8__of_wide(const void *chars, size_t cnt, unsigned int kind)
{
	char *out = malloc(cnt * CHAR_TEXT_MAX + 1), *p = out;

	for (size_t i = 0; out && i < cnt; i++) {
		uint32_t c = 0;

		memcpy(&c, (const char *)chars + i * kind, kind);
		p += put_char(p, c ? c : ' ');
	}
	if (out)
		*p = '\0';
	return out;
}
