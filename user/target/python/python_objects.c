// SPDX-License-Identifier: BSD-2-Clause
#include "target/python/python_objects.h"
#include "common/err.h"
#include "common/util.h"
#include <string.h>

/* The same in all versions that have a layout. */
#define OBJECT_TYPE 8
/* number of items; of a code object the number of instructions, two bytes each */
#define OBJECT_SIZE 16
#define MODULE_DICT 16
#define DICT_KEYS   32
#define TUPLE_ITEMS 24
#define BYTES_ITEMS 32

#define MAX_ITEMS (1 << 20) /* most items of a dict; more is no dict */
#define MAX_NAME  256

/* PyDictKeysObject; the index and the entries follow it. */
struct dict_keys {
	uint64_t references;
	uint8_t log2_size, log2_index_bytes, kind, pad;
	uint32_t version;
	uint64_t usable, entry_cnt;
};
#define KEYS_GENERAL 0 /* entries are hash, key, value; else key, value */

struct dict_keys_3_10 {
	uint64_t references, size, lookup, usable, entry_cnt;
};

/* Of a str. */
struct str_head {
	uint64_t references, type, length, hash;
	uint32_t state, pad;
};
#define STR_COMPACT_ASCII 0x60 /* of state */

static uint64_t read_word(const struct python_objects *o, uint64_t address)
{
	uint64_t word = 0;

	return address && !target__read(o->t, address, &word, sizeof(word)) ? word : 0;
}

static bool is_a(const struct python_objects *o, uint64_t object, uint64_t type)
{
	return object && read_word(o, object + OBJECT_TYPE) == type;
}

static uint64_t thread_address(const struct python_objects *o)
{
	const struct python_layout *l = &o->layout;

	return (l->lock ? read_word(o, l->interpreter + l->lock) : l->runtime) + l->current_thread;
}

int python_objects__open(struct target *t, struct python_objects *o)
{
	int err;

	*o = (struct python_objects){.t = t};
	err = python_layout__of(t, &o->layout);
	if (err)
		return err;
	if (!o->layout.has_objects)
		return -ENOTSUP;
	o->dict = target__python_symbol(t, "PyDict_Type");
	o->str = target__python_symbol(t, "PyUnicode_Type");
	o->module = target__python_symbol(t, "PyModule_Type");
	o->function = target__python_symbol(t, "PyFunction_Type");
	o->code = target__python_symbol(t, "PyCode_Type");
	o->thread_at = thread_address(o);
	return o->dict && o->str && o->module && o->function && o->code ? 0 : -ENOENT;
}

static bool is_text(const struct python_objects *o, uint64_t str, const char *text, size_t len)
{
	struct {
		struct str_head head;
		char text[MAX_NAME];
	} s;

	if (!str || target__read(o->t, str, &s.head, sizeof(s.head)) || s.head.type != o->str ||
	    s.head.length != len || (s.head.state & STR_COMPACT_ASCII) != STR_COMPACT_ASCII)
		return false;
	return !target__read(o->t, str + o->layout.ascii_bytes, s.text, len) &&
	       !memcmp(s.text, text, len);
}

/* The entries of a dict; the last word of each is its value. */
struct entries {
	uint64_t at, cnt;
	size_t words; /* words of each entry */
};

static bool find_entries_3_10(const struct python_objects *o, uint64_t at, struct entries *e)
{
	struct dict_keys_3_10 keys;
	uint64_t index_bytes = 1;

	if (target__read(o->t, at, &keys, sizeof(keys)) || keys.size > MAX_ITEMS)
		return false;
	while (index_bytes < 4 && keys.size >> (8 * index_bytes))
		index_bytes *= 2;
	*e = (struct entries){at + sizeof(keys) + keys.size * index_bytes, keys.entry_cnt, 3};
	return true;
}

static bool find_entries(const struct python_objects *o, uint64_t dict, struct entries *e)
{
	uint64_t at = is_a(o, dict, o->dict) ? read_word(o, dict + DICT_KEYS) : 0;
	struct dict_keys keys;

	if (!at)
		return false;
	if (o->layout.minor < 11)
		return find_entries_3_10(o, at, e);
	if (target__read(o->t, at, &keys, sizeof(keys)) || keys.log2_index_bytes > 31)
		return false;
	*e = (struct entries){at + sizeof(keys) + (1ull << keys.log2_index_bytes), keys.entry_cnt,
			      keys.kind == KEYS_GENERAL ? 3 : 2};
	return true;
}

uint64_t python_objects__item(const struct python_objects *o, uint64_t dict, const char *name,
			      uint64_t *key)
{
	const size_t len = strnlen(name, MAX_NAME);
	auto_free uint64_t *entries = NULL;
	struct entries e;

	if (len == MAX_NAME || !find_entries(o, dict, &e) || e.cnt > MAX_ITEMS)
		return 0;
	entries = calloc(e.cnt + 1, e.words * sizeof(*entries));
	if (!entries || target__read(o->t, e.at, entries, e.cnt * e.words * sizeof(*entries)))
		return 0;
	for (size_t i = 0; i < e.cnt; i++) {
		const uint64_t *value = &entries[(i + 1) * e.words - 1];

		if (!is_text(o, value[-1], name, len))
			continue;
		if (key)
			*key = value[-1];
		return *value;
	}
	return 0;
}

uint64_t python_objects__module(const struct python_objects *o, const char *name)
{
	uint64_t modules = read_word(o, o->layout.interpreter + o->layout.modules);
	uint64_t module = python_objects__item(o, modules, name, NULL);

	return is_a(o, module, o->module) ? read_word(o, module + MODULE_DICT) : 0;
}

uint64_t python_objects__class_dict(const struct python_objects *o, uint64_t class)
{
	return class ? read_word(o, class + o->layout.type_dict) : 0;
}

uint64_t python_objects__code(const struct python_objects *o, uint64_t function)
{
	uint64_t code = is_a(o, function, o->function)
				? read_word(o, function + o->layout.function_code)
				: 0;

	return is_a(o, code, o->code) ? code : 0;
}

uint64_t python_objects__name(const struct python_objects *o, uint64_t code, const char *name)
{
	uint64_t names = code ? read_word(o, code + o->layout.code_names) : 0;
	uint64_t cnt = names ? read_word(o, names + OBJECT_SIZE) : 0;

	for (uint64_t i = 0; i < cnt && i < MAX_NAME; i++) {
		uint64_t str = read_word(o, names + TUPLE_ITEMS + 8 * i);

		if (is_text(o, str, name, strlen(name)))
			return str;
	}
	return 0;
}

uint64_t python_objects__first_instruction(const struct python_objects *o, uint64_t code)
{
	const struct python_layout *l = &o->layout;
	uint64_t bytes;

	if (!l->code_object)
		return code + l->instructions;
	bytes = read_word(o, code + l->code_object);
	return bytes ? bytes + BYTES_ITEMS : 0;
}

size_t python_objects__instructions(const struct python_objects *o, uint64_t code, uint8_t *buf,
				    size_t size)
{
	uint64_t at = code ? python_objects__first_instruction(o, code) : 0, len;

	if (!at)
		return 0;
	len = o->layout.code_object ? read_word(o, at - BYTES_ITEMS + OBJECT_SIZE)
				    : 2 * read_word(o, code + OBJECT_SIZE);
	return len > size || target__read(o->t, at, buf, len) ? 0 : len;
}
