/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of args that repeat, because kernels and operators are called alike in each step. Its size
 * is bounded. Texts that do not repeat are overwritten. */
#ifndef PROFTRACE_TEXT_CACHE_H
#define PROFTRACE_TEXT_CACHE_H

#include <stddef.h>
#include <stdint.h>

struct text_cache {
	struct text_cache_entry *entries;
};

int text_cache__init(struct text_cache *c); /* 0 or -ENOMEM */
void text_cache__free(struct text_cache *c);

/* Copies the text for these args of that thing to p, and returns its end. NULL: unknown. */
char *text_cache__copy(const struct text_cache *c, char *p, uint64_t thing, const void *args,
		       size_t args_len);
/* Keeps a text, if it is not too long. */
void text_cache__keep(struct text_cache *c, uint64_t thing, const void *args, size_t args_len,
		      const char *text, const char *end);

#endif
