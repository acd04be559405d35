// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names of calls: a std::string in the called object, and one in an object of the caller. The file
 * keeps each text once, and records have its key. Any thread may add a text, without a lock.
 */
#include "cupti_shim/trampoline.h"
#include "cupti_shim/shim.h"

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

static uint64_t keep(struct shim_control *c, const char *text, size_t len)
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

/* The key of a std::string in GCC's old layout: a pointer to its text, with the length before the
 * text. 0: it is empty or too long. */
static uint64_t key_of(uint64_t string)
{
	enum { LENGTH_BEFORE = 24 };
	struct shim_control *c = calls__connected();
	uint64_t text = word_at(string, 0);
	uint64_t len = text ? word_at(text, -(uint64_t)LENGTH_BEFORE) : 0;

	if (!c || !len || len > SHIM_SEEN_NAME_MAX)
		return 0;
	return keep(c, (const char *)(uintptr_t)text, len);
}

uint64_t names__own(uint64_t string)
{
	const uint64_t key = key_of(string);

	return key ? key : SHIM_NO_NODE;
}

/* ---- what callers have ---- */

/* Values from the file. A late thread may read them while the next file is taken over. So use
 * READ() and WRITE() for each field. */
static struct {
	uint64_t at; /* offset of the string; the caller's register points to a pointer to its
			object */
	struct {
		uint64_t return_address; /* 0: end of the list */
		uint64_t word;		 /* index in registers */
	} calls[SHIM_NAMED_CALLS];
} named;

/* Index of a register in `registers`. 0: its value is not available. */
static uint64_t word_of(uint32_t reg)
{
	if (reg == 3 || reg == 5)
		return KEPT_WORDS + (reg - 3) / 2;
	return reg >= 12 && reg < 16 ? KEPT_WORDS + 2 + reg - 12 : 0;
}

void names__begin(const struct shim_control *c)
{
	size_t cnt = 0;

	WRITE(named.calls[0].return_address, 0);
	WRITE(named.at, c->named_at);
	for (size_t i = 0; i < SHIM_NAMED_CALLS && c->named_calls[i].return_address; i++) {
		const uint64_t word = word_of(c->named_calls[i].reg);

		if (!word)
			continue;
		WRITE(named.calls[cnt].word, word);
		__atomic_store_n(&named.calls[cnt++].return_address,
				 c->named_calls[i].return_address, __ATOMIC_RELEASE);
	}
	if (cnt < SHIM_NAMED_CALLS)
		WRITE(named.calls[cnt].return_address, 0);
}

static uint64_t caller_of(const uint64_t *registers, uintptr_t sp)
{
	const uint64_t return_address = word_at(sp, 0);

	for (size_t i = 0; i < SHIM_NAMED_CALLS; i++) {
		const uint64_t at = READ(named.calls[i].return_address);

		if (!at)
			break;
		if (at == return_address)
			return word_at(registers[READ(named.calls[i].word)], 0);
	}
	return 0;
}

uint64_t names__callers(const uint64_t *registers, uintptr_t sp)
{
	const uint64_t caller = caller_of(registers, sp);

	return caller ? key_of(caller + READ(named.at)) : 0;
}
