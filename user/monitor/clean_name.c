// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/clean_name.h"
#include <ctype.h>
#include <string.h>
#include "common/text_char.h"
#include "common/utf8.h"

void clean_name__copy(char *to, size_t size, const char *from)
{
	size_t at = 0;

	while (*from) {
		size_t len = utf8__len(from);

		if (at + (len ? len : 1) >= size)
			break;
		if (!len || text__is_hostile(from)) {
			to[at++] = '?';
		} else {
			memcpy(to + at, from, len);
			at += len;
		}
		from += len ? len : 1;
	}
	to[at] = '\0';
}

void clean_name__for_file(char *to, size_t size, const char *from)
{
	size_t at = 0;

	for (; *from && at + 1 < size; from++, at++)
		to[at] = isalnum((unsigned char)*from) || strchr(".-_", *from) ? *from : '_';
	if (at && to[0] == '.')
		to[0] = '_';
	to[at] = '\0';
}
