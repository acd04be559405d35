/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_COUNTED_H
#define PROFTRACE_COUNTED_H

#include <stdint.h>
#include <stdio.h>

struct counted {
	char s[96];
};

/* A number and the words that fit it, for prose: "1 step was", "2 steps were". */
static inline struct counted counted(uint64_t n, const char *one, const char *many)
{
	struct counted text;

	snprintf(text.s, sizeof(text.s), "%llu %s", (unsigned long long)n, n == 1 ? one : many);
	return text;
}

#endif
