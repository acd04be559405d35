/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the index of an item in an array of its owner, by the item's hash. */
#ifndef PROFTRACE_RECORDING_HASH_INDEX_H
#define PROFTRACE_RECORDING_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_index {
	struct hash_slot {
		uint64_t hash;
		uint32_t item; /* index + 1, 0: free */
	} *slots;
	size_t cap; /* a power of two, or 0 */
	size_t cnt;
};

#define HASH_NONE UINT32_MAX

/* Index of the item for which same(item, ctx) is true, or HASH_NONE. */
uint32_t hash_index__find(const struct hash_index *h, uint64_t hash,
			  bool (*same)(uint32_t item, const void *ctx), const void *ctx);
/* Adds an item that is not in it yet. 0 or -ENOMEM. */
int hash_index__add(struct hash_index *h, uint64_t hash, uint32_t item);
/* Forgets the items, keeps the memory. */
void hash_index__clear(struct hash_index *h);
void hash_index__free(struct hash_index *h);

/* Only for tables in memory: the result depends on the byte order. */
uint64_t hash__bytes(const void *data, size_t len, uint64_t seed);

#endif
