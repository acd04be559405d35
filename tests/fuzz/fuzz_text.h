/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_FUZZ_TEXT_H
#define PROFTRACE_FUZZ_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A copy with a NUL byte at its end, as from proc__text(). The caller frees it. */
static inline char *text_of(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

#endif
