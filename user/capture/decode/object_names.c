// SPDX-License-Identifier: BSD-2-Clause
#include "capture/decode/object_names.h"
#include "bpf/events.h"
#include "common/util.h"
#include "target/target.h"
#include <ctype.h>
#include <string.h>
#include <uthash.h>

#define LENGTH_BEFORE 24 /* of a reference-counted string: length, capacity, count */

/* The program may have given an object back, and made another one in its place. */
#define AGAIN_NS 100000000ull

struct object_key {
	uint64_t pid, address;
};

struct object_name {
	struct object_key key;
	char *text;	  /* NULL: none could be read */
	uint64_t read_ns; /* 0: not yet */
	uint64_t looked_ns;
	char *full; /* NULL: none */
	uint64_t full_at;
	char *of;  /* text of the object that is called so; NULL: not known yet */
	bool told; /* whether there is one */
	UT_hash_handle hh;
};

struct object_names {
	struct object_name *by_key;
	bool told; /* of any object that it has a full name */
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
		free(item->full);
		free(item->of);
		free(item);
	}
	free(n);
}

/* std::string in its two layouts: where its text lies, and how long it is. */
static bool place_of(pid_t pid, uint64_t address, enum pt_name_source source, uint64_t *text,
		     uint64_t *len)
{
	if (target__read_of(pid, address, text, sizeof(*text)))
		return false;
	address = source == PT_NAME_COW ? *text - LENGTH_BEFORE : address + sizeof(*text);
	return !target__read_of(pid, address, len, sizeof(*len)) && *len && *len < PT_NAME_MAX;
}

static char *read_text(pid_t pid, uint64_t address, enum pt_name_source source)
{
	char text[PT_NAME_MAX];
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

/* New ones are made; NULL: no memory. */
static struct object_name *get(struct object_names *n, pid_t pid, uint64_t address)
{
	const struct object_key key = {(uint64_t)pid, address};
	struct object_name *item = find(n, &key);

	if (item)
		return item;
	item = calloc(1, sizeof(*item));
	if (!item)
		return NULL;
	item->key = key;
	HASH_ADD(hh, n->by_key, key, sizeof(item->key), item);
	return item;
}

/* Another text lies there; what cannot be read may be of a process that has ended. */
static bool was_replaced(pid_t pid, uint64_t at, const char *text)
{
	char now[PT_FULL_NAME_MAX];
	const size_t len = strlen(text);

	return !target__read_of(pid, at, now, len) && memcmp(now, text, len) != 0;
}

static bool is_name(const char *text)
{
	for (const char *p = text; *p; p++)
		if (!isprint((unsigned char)*p))
			return false;
	return *text;
}

static void read_again(struct object_name *item, pid_t pid, uint64_t address,
		       enum pt_name_source source)
{
	char *text = read_text(pid, address, source);

	if (text && (is_name(text) || !item->text)) {
		free(item->text);
		item->text = text;
	} else {
		free(text);
	}
}

static void forget_full(struct object_name *item)
{
	free(item->full);
	free(item->of);
	item->full = item->of = NULL;
	item->told = false;
}

static void look(struct object_name *item, pid_t pid, uint64_t now_ns)
{
	if (now_ns - item->looked_ns < AGAIN_NS)
		return;
	item->looked_ns = now_ns;
	if (item->full && was_replaced(pid, item->full_at, item->full))
		forget_full(item);
}

void object_names__look(struct object_names *n, pid_t pid, uint64_t address)
{
	const struct object_key key = {(uint64_t)pid, address};
	struct object_name *item = find(n, &key);

	if (item)
		look(item, pid, clock__monotonic_ns());
}

const char *object_names__text(struct object_names *n, pid_t pid, uint64_t address,
			       enum pt_name_source source)
{
	struct object_name *item = get(n, pid, address);
	const uint64_t now_ns = clock__monotonic_ns();

	if (!item || (item->read_ns && now_ns - item->read_ns < AGAIN_NS))
		return item ? item->text : NULL;
	read_again(item, pid, address, source);
	item->read_ns = now_ns;
	look(item, pid, now_ns);
	return item->text;
}

int object_names__note_full(struct object_names *n, pid_t pid, uint64_t address, const char *text,
			    size_t len, uint64_t text_at)
{
	struct object_name *item = get(n, pid, address);

	if (!item)
		return -ENOMEM;
	if (item->told && (!len || (item->full && item->full_at == text_at)))
		return 0;
	forget_full(item);
	if (len) {
		item->full = strndup(text, len);
		if (!item->full)
			return -ENOMEM;
	}
	item->full_at = text_at;
	item->told = true;
	n->told |= len > 0;
	return 0;
}

/* An object of another text is another one. */
static void compare(struct object_name *item, const char *text)
{
	if (!item->told)
		return;
	if (!item->of)
		item->of = strdup(text);
	else if (strcmp(item->of, text) != 0)
		forget_full(item);
}

const char *object_names__full(struct object_names *n, pid_t pid, uint64_t address,
			       const char *text, bool *known)
{
	const struct object_key key = {(uint64_t)pid, address};
	struct object_name *item = find(n, &key);

	if (item)
		compare(item, text);
	*known = !n->told || (item && item->told);
	return item ? item->full : NULL;
}
