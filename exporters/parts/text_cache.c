// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/parts/text_cache.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY_CNT (1u << 13) /* in pairs: an entry may be in either place of its pair */
#define ARGS_MAX  256
#define TEXT_MAX  768

struct text_cache_entry {
	uint64_t thing;
	uint32_t args_len, text_len, cap;
	char *bytes; /* args, then the text; NULL: free */
};

int text_cache__init(struct text_cache *c)
{
	c->entries = calloc(ENTRY_CNT, sizeof(*c->entries));
	return c->entries ? 0 : -ENOMEM;
}

void text_cache__free(struct text_cache *c)
{
	for (size_t i = 0; c->entries && i < ENTRY_CNT; i++)
		free(c->entries[i].bytes);
	free(c->entries);
	c->entries = NULL;
}

static size_t hash(uint64_t thing, const void *args, size_t len)
{
	const uint64_t odd = 0x9e3779b97f4a7c15ull;
	uint64_t h = thing * odd, word;
	const char *p = args;

	for (; len >= sizeof(word); p += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = (h ^ (h >> 29) ^ word) * odd;
	}
	for (word = 0; len; len--)
		word = word << 8 | (unsigned char)*p++;
	h = (h ^ (h >> 29) ^ word) * odd;
	return (h >> 32) % ENTRY_CNT;
}

static bool is_of(const struct text_cache_entry *e, uint64_t thing, const void *args, size_t len)
{
	return e->bytes && e->thing == thing && e->args_len == len && !memcmp(e->bytes, args, len);
}

char *text_cache__copy(const struct text_cache *c, char *p, uint64_t thing, const void *args,
		       size_t args_len)
{
	const struct text_cache_entry *e;
	size_t at;

	if (!args_len || args_len > ARGS_MAX)
		return NULL;
	at = hash(thing, args, args_len);
	e = &c->entries[at];
	if (!is_of(e, thing, args, args_len))
		e = &c->entries[at ^ 1];
	if (!is_of(e, thing, args, args_len))
		return NULL;
	memcpy(p, e->bytes + e->args_len, e->text_len);
	return p + e->text_len;
}

void text_cache__keep(struct text_cache *c, uint64_t thing, const void *args, size_t args_len,
		      const char *text, const char *end)
{
	const size_t text_len = (size_t)(end - text), len = args_len + text_len;
	struct text_cache_entry *e;
	size_t at;

	if (!args_len || args_len > ARGS_MAX || text_len > TEXT_MAX)
		return;
	at = hash(thing, args, args_len);
	e = &c->entries[c->entries[at].bytes && !c->entries[at ^ 1].bytes ? at ^ 1 : at];
	if (len > e->cap) {
		char *grown = realloc(e->bytes, len);

		if (!grown)
			return; /* the text is written anew each time */
		e->bytes = grown;
		e->cap = (uint32_t)len;
	}
	e->thing = thing;
	e->args_len = (uint32_t)args_len;
	e->text_len = (uint32_t)text_len;
	memcpy(e->bytes, args, args_len);
	memcpy(e->bytes + args_len, text, text_len);
}
