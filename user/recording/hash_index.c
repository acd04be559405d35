// SPDX-License-Identifier: BSD-2-Clause
#include "recording/hash_index.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void insert(struct hash_slot *slots, size_t cap, uint64_t hash, uint32_t item)
{
	size_t i = hash & (cap - 1);

	while (slots[i].item)
		i = (i + 1) & (cap - 1);
	slots[i].hash = hash;
	slots[i].item = item + 1;
}

static int grow(struct hash_index *h)
{
	size_t cap = h->cap ? h->cap * 2 : 64;
	struct hash_slot *slots = calloc(cap, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < h->cap; i++)
		if (h->slots[i].item)
			insert(slots, cap, h->slots[i].hash, h->slots[i].item - 1);
	free(h->slots);
	h->slots = slots;
	h->cap = cap;
	return 0;
}

uint32_t hash_index__find(const struct hash_index *h, uint64_t hash,
			  bool (*same)(uint32_t item, const void *ctx), const void *ctx)
{
	if (!h->cap)
		return HASH_NONE;
	for (size_t i = hash & (h->cap - 1); h->slots[i].item; i = (i + 1) & (h->cap - 1))
		if (h->slots[i].hash == hash && same(h->slots[i].item - 1, ctx))
			return h->slots[i].item - 1;
	return HASH_NONE;
}

int hash_index__add(struct hash_index *h, uint64_t hash, uint32_t item)
{
	if (h->cnt * 2 >= h->cap) {
		int err = grow(h);

		if (err)
			return err;
	}
	insert(h->slots, h->cap, hash, item);
	h->cnt++;
	return 0;
}

void hash_index__clear(struct hash_index *h)
{
	if (h->cnt)
		memset(h->slots, 0, h->cap * sizeof(*h->slots));
	h->cnt = 0;
}

void hash_index__free(struct hash_index *h)
{
	free(h->slots);
	memset(h, 0, sizeof(*h));
}

uint64_t hash__bytes(const void *data, size_t len, uint64_t seed)
{
	const uint64_t odd = 0x9e3779b97f4a7c15ull;
	const unsigned char *p = data;
	uint64_t h = seed ^ (len * odd);

	while (len) {
		size_t n = len < 8 ? len : 8;
		uint64_t word = 0;

		memcpy(&word, p, n);
		h = (h ^ word) * odd;
		h ^= h >> 32;
		p += n;
		len -= n;
	}
	return h;
}
