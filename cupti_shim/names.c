// SPDX-License-Identifier: BSD-2-Clause
/* Names as functions of the program's find them, kept once each in the file. Any thread may add
 * one, without a lock. */
#include "cupti_shim/noting.h"

#define SEED  0xcbf29ce484222325ull
#define PRIME 0x9e3779b97f4a7c15ull

static uint64_t hash(const char *text, size_t len)
{
	uint64_t h = SEED ^ len, word;

	for (; len >= sizeof(word); text += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		h = (h ^ word) * PRIME;
		h ^= h >> 32;
	}
	for (word = 0; len; len--)
		word = word << 8 | (uint8_t)*text++;
	h = (h ^ word) * PRIME;
	return h ^ h >> 32;
}

static void write_text(struct shim_control *c, struct shim_seen_name *name, const char *text,
		       size_t len)
{
	const uint64_t at = __atomic_fetch_add(&c->seen_bytes, len, __ATOMIC_RELAXED);

	if (at + len > SHIM_SEEN_TEXT_BYTES)
		return;
	memcpy(shim_seen_texts(c) + at, text, len);
	name->at = (uint32_t)at;
	__atomic_store_n(&name->len, (uint32_t)len, __ATOMIC_RELEASE);
}

uint64_t names__key(struct shim_control *c, const char *text, size_t len)
{
	const uint64_t key = hash(text, len) | 1;
	struct shim_seen_name *names = shim_seen_names(c);

	for (size_t i = 0; i < SHIM_SEEN_NAME_TRIES; i++) {
		struct shim_seen_name *name = &names[shim_seen_name_place(key, i)];
		uint64_t found = __atomic_load_n(&name->key, __ATOMIC_RELAXED);

		if (!found && __atomic_compare_exchange_n(&name->key, &found, key, false,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			write_text(c, name, text, len);
			return key;
		}
		if (found == key)
			return key;
	}
	return key;
}
