// SPDX-License-Identifier: BSD-2-Clause
#include "common/utf8.h"
#include <stdlib.h>
#include <string.h>

static const char replacement[] = "\xef\xbf\xbd";
#define REPLACEMENT_LEN (sizeof(replacement) - 1)

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

/* Frees the text. */
static char *mended(char *text, size_t stray_cnt)
{
	char *out = malloc(strlen(text) + stray_cnt * REPLACEMENT_LEN + 1), *p = out;

	for (const char *s = text; out && *s;) {
		const size_t len = utf8__len(s);

		memcpy(p, len ? s : replacement, len ? len : REPLACEMENT_LEN);
		p += len ? len : REPLACEMENT_LEN;
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
