// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include "common/utf8.h"
#include "exporters/parts/text_file.h"

static const char digit_pairs[201] = "00010203040506070809101112131415161718192021222324"
				     "25262728293031323334353637383940414243444546474849"
				     "50515253545556575859606162636465666768697071727374"
				     "75767778798081828384858687888990919293949596979899";

static size_t digit_cnt(uint64_t v)
{
	static const uint64_t powers[20] = {0,
					    10,
					    100,
					    1000,
					    10000,
					    100000,
					    1000000,
					    10000000,
					    100000000,
					    1000000000,
					    10000000000u,
					    100000000000u,
					    1000000000000u,
					    10000000000000u,
					    100000000000000u,
					    1000000000000000u,
					    10000000000000000u,
					    100000000000000000u,
					    1000000000000000000u,
					    10000000000000000000u};
	/* 1233 / 4096 is log10(2), exact enough for 64 bits */
	const unsigned int about = (64 - (unsigned int)__builtin_clzll(v | 1)) * 1233 >> 12;

	return about + (v >= powers[about]);
}

char *text__u64_long(char *p, uint64_t v)
{
	char *const end = p + digit_cnt(v), *d = end;

	while (v >= 100) {
		d -= 2;
		memcpy(d, digit_pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10)
		memcpy(d - 2, digit_pairs + v * 2, 2);
	else
		d[-1] = (char)('0' + v);
	return end;
}

char *text__i64(char *p, int64_t v)
{
	if (v >= 0)
		return text__u64(p, (uint64_t)v);
	*p++ = '-';
	return text__u64(p, -(uint64_t)v);
}

static char *put_ascii(char *p, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";

	if (c == '"' || c == '\\') {
		*p++ = '\\';
		*p++ = (char)c;
	} else if (c == '\n') {
		p = TEXT_LIT(p, "\\n");
	} else if (c == '\t') {
		p = TEXT_LIT(p, "\\t");
	} else if (c < 0x20 || c == 0x7f) {
		p = TEXT_LIT(p, "\\u00");
		*p++ = hex[c >> 4];
		*p++ = hex[c & 15];
	} else {
		*p++ = (char)c;
	}
	return p;
}

char *json__quote(const char *text)
{
	const char *s = text;
	char *out = malloc(strlen(text) * 6 + 3); /* \u0000 is the longest form of a byte */
	char *p = out;

	if (!out)
		return NULL;
	*p++ = '"';
	while (*s) {
		const size_t len = utf8__len(s);

		if (len == 1) {
			p = put_ascii(p, (unsigned char)*s);
		} else if (len) {
			p = text__str(p, s, len);
		} else {
			p = TEXT_LIT(p, "\xef\xbf\xbd");
		}
		s += len ? len : 1;
	}
	*p++ = '"';
	*p = '\0';
	return out;
}
