// SPDX-License-Identifier: BSD-2-Clause
#include "capture/decode/node_names.h"
#include "bpf/long_names.h"
#include "common/util.h"
#include <string.h>
#include <uthash.h>

struct node_key {
	uint64_t pid; /* a child that was not forked maps its libraries elsewhere */
	uint64_t vtable, type_obj;
};

struct node_name {
	struct node_key key;
	char *text;
	uint32_t id;
	UT_hash_handle hh;
};

struct node_names {
	const struct target *target;
	const struct framework *framework;
	struct node_name *by_key;
};

struct node_names *node_names__new(const struct target *t, const struct framework *framework)
{
	struct node_names *n = calloc(1, sizeof(*n));

	if (n) {
		n->target = t;
		n->framework = framework;
	}
	return n;
}

void node_names__free(struct node_names *n)
{
	struct node_name *item, *next;

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

void node_names__forget_ids(struct node_names *n)
{
	for (struct node_name *item = n->by_key; item; item = item->hh.next)
		item->id = 0;
}

/* Reads up to size - 1 characters. Stops at the end of a mapping. */
static bool read_text(pid_t pid, uint64_t addr, char *out, size_t size)
{
	size_t got = 0;

	while (got + 1 < size) {
		size_t page_left = 4096 - (addr + got) % 4096;
		size_t want = page_left < size - 1 - got ? page_left : size - 1 - got;

		if (target__read_of(pid, addr + got, out + got, want))
			break;
		if (memchr(out + got, '\0', want))
			return out[0] != '\0';
		got += want;
	}
	return false;
}

/* Itanium ABI: the word before the vtable's address point is the type_info, whose second word is
 * the mangled type name. */
static bool type_info_name(pid_t pid, uint64_t vtable, char *out, size_t size)
{
	uint64_t info, text;

	return !target__read_of(pid, vtable - 8, &info, sizeof(info)) &&
	       !target__read_of(pid, info + 8, &text, sizeof(text)) &&
	       read_text(pid, text, out, size);
}

/* PyTypeObject.tp_name lies at 24 in every CPython 3. */
static bool type_obj_name(pid_t pid, uint64_t type_obj, char *out, size_t size)
{
	uint64_t text;

	return type_obj && !target__read_of(pid, type_obj + 24, &text, sizeof(text)) &&
	       read_text(pid, text, out, size);
}

static char *resolve(const struct node_names *n, const struct node_key *key)
{
	char info[PT_WHOLE_NAME + 1], type[PT_WHOLE_NAME + 1], *text = NULL;
	pid_t pid = (pid_t)key->pid;
	bool has_info = type_info_name(pid, key->vtable, info, sizeof(info)), has_type;

	/* A forked child that has ended had the same types at the same addresses. */
	if (!has_info) {
		pid = n->target->pid;
		has_info = type_info_name(pid, key->vtable, info, sizeof(info));
	}
	has_type = type_obj_name(pid, key->type_obj, type, sizeof(type));

	if (has_info && n->framework && n->framework->node_name)
		text = n->framework->node_name(info, has_type ? type : NULL);
	if (!text && asprintf(&text, "node of type at 0x%llx", (unsigned long long)key->vtable) < 0)
		return NULL;
	return text;
}

static struct node_name *find(const struct node_names *n, const struct node_key *key)
{
	struct node_name *item;

	// NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): all bytes are set
	HASH_FIND(hh, n->by_key, key, sizeof(*key), item);
	return item;
}

static struct node_name *add(struct node_names *n, const struct node_key *key)
{
	struct node_name *item = calloc(1, sizeof(*item));

	if (!item)
		return NULL;
	item->key = *key;
	item->text = resolve(n, key);
	if (!item->text) {
		free(item);
		return NULL;
	}
	HASH_ADD(hh, n->by_key, key, sizeof(item->key), item);
	return item;
}

static struct node_name *find_or_add(struct node_names *n, uint32_t pid, uint64_t vtable,
				     uint64_t type_obj)
{
	const struct node_key key = {pid, vtable, type_obj};
	struct node_name *item = find(n, &key);

	return item ? item : add(n, &key);
}

const char *node_names__text(struct node_names *n, uint32_t pid, uint64_t vtable)
{
	const struct node_name *item = find_or_add(n, pid, vtable, 0);

	return item ? item->text : NULL;
}

uint32_t node_names__id(struct node_names *n, struct recording_writer *w,
			enum span_category category, uint32_t pid, uint64_t vtable,
			uint64_t type_obj)
{
	struct node_name *item = find_or_add(n, pid, vtable, type_obj);

	if (!item)
		return 0;
	if (!item->id)
		item->id = recording_writer__name(w, category, item->text, NULL);
	return item->id;
}
