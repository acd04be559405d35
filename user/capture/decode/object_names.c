// SPDX-License-Identifier: BSD-2-Clause
#include "capture/decode/object_names.h"
#include "bpf/long_names.h"
#include "common/util.h"
#include "target/target.h"
#include <string.h>
#include <uthash.h>

/* length, capacity and count before the text of a reference-counted string */
#define LENGTH_BEFORE 24

struct object_key {
	uint64_t pid, address;
};

struct object_name {
	struct object_key key;
	char *text; /* NULL: it could not be read */
	UT_hash_handle hh;
};

struct object_names {
	struct object_name *by_key;
};

struct object_names *object_names__new(void)
{
	return calloc(1, sizeof(struct object_names));
}

void object_names__free(struct object_names *n)
{
	struct object_name *item, *next;

	if (!n)
		return;
	HASH_ITER(hh, n->by_key, item, next)
	{
		HASH_DEL(n->by_key, item);
		free(item->text);
		free(item);
	}
	free(n);
}

/* Finds the text and its length in the two layouts of std::string. */
static bool place_of(pid_t pid, uint64_t address, enum pt_name_source source, uint64_t *text,
		     uint64_t *len)
{
	if (target__read_of(pid, address, text, sizeof(*text)))
		return false;
	address = source == PT_NAME_COW ? *text - LENGTH_BEFORE : address + sizeof(*text);
	return !target__read_of(pid, address, len, sizeof(*len)) && *len && *len <= PT_WHOLE_NAME;
}

static char *read_text(pid_t pid, uint64_t address, enum pt_name_source source)
{
	char text[PT_WHOLE_NAME];
	uint64_t at, len;

	if (!place_of(pid, address, source, &at, &len) || target__read_of(pid, at, text, len))
		return NULL;
	return strndup(text, len);
}

static struct object_name *find(const struct object_names *n, const struct object_key *key)
{
	struct object_name *item;

	// NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): all bytes are set
	HASH_FIND(hh, n->by_key, key, sizeof(*key), item);
	return item;
}

const char *object_names__text(struct object_names *n, pid_t pid, uint64_t address,
			       enum pt_name_source source)
{
	const struct object_key key = {(uint64_t)pid, address};
	struct object_name *item = find(n, &key);

	if (item)
		return item->text;
	item = calloc(1, sizeof(*item));
	if (!item)
		return NULL;
	item->key = key;
	item->text = read_text(pid, address, source);
	HASH_ADD(hh, n->by_key, key, sizeof(item->key), item);
	return item->text;
}
