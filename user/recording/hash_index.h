/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the index of an item that its owner keeps in an array, by the item's hash. */
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

/* Index of the item for which same(item, ctx) holds, HASH_NONE if there is none. */
uint32_t hash_index__find(const struct hash_index *h, uint64_t hash,
			  bool (*same)(uint32_t item, const void *ctx), const void *ctx);
/* Adds an item that is not in there. 0 or -ENOMEM. */
int hash_index__add(struct hash_index *h, uint64_t hash, uint32_t item);
/* Forgets the items, keeps the memory. */
void hash_index__clear(struct hash_index *h);
void hash_index__free(struct hash_index *h);

/* For tables in memory only: differs by byte order, not fit for files. */
uint64_t hash__bytes(const void *data, size_t len, uint64_t seed);

#endif
