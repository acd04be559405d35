// SPDX-License-Identifier: BSD-2-Clause
#include "target/python_objects.h"
#include "../../bpf/events.h"
#include "common/err.h"
#include "common/util.h"
#include <string.h>

/* By offsetof() on the headers of Debian's 3.11.2 and of 3.11.7, 3.12.1 and 3.13.0. */
static const struct python_layout layouts[] = {
	{
		.minor = 11,
		.interpreter = 40,
		.modules = 888,
		.current_thread = 576,
		.thread_frame = 56,
		.cframe = 1,
		.cframe_frame = 8,
		.frame_code = 32,
		.frame_locals = 72,
		.attributes = PT_ATTRIBUTES_BEFORE,
		.str_ascii = 48,
		.str_text = 72,
		.type_dict = 264,
		.type_keys = 872,
		.function_code = 48,
		.code_names = 32,
		.code_bytes = 184,
	},
	{
		.minor = 12,
		.interpreter = 40,
		.modules = 944,
		.current_thread = 8,
		.lock = 384,
		.thread_frame = 56,
		.cframe = 1,
		.frame_locals = 72,
		.attributes = PT_ATTRIBUTES_TAGGED,
		.str_ascii = 40,
		.str_text = 56,
		.type_dict = 264,
		.type_keys = 880,
		.function_code = 48,
		.code_names = 32,
		.code_bytes = 192,
	},
	{
		.minor = 13,
		.interpreter = 632,
		.modules = 7656,
		.current_thread = 8,
		.lock = 16,
		.thread_frame = 72,
		.frame_locals = 72,
		.attributes = PT_ATTRIBUTES_BEHIND,
		.str_ascii = 40,
		.str_text = 56,
		.type_dict = 264,
		.type_keys = 880,
		.function_code = 48,
		.code_names = 32,
		.code_bytes = 200,
	},
};

/* The same in all versions that have a layout. */
#define OBJECT_TYPE 8
#define MODULE_DICT 16
#define DICT_KEYS   32
#define TUPLE_SIZE  16
#define TUPLE_ITEMS 24

#define MAX_ITEMS (1 << 20) /* of a dict; more is no dict */
#define MAX_NAME  256

/* PyDictKeysObject; the index and the entries follow. */
struct dict_keys {
	uint64_t references;
	uint8_t log2_size, log2_index_bytes, kind, pad;
	uint32_t version;
	uint64_t usable, entry_cnt;
};
#define KEYS_GENERAL 0 /* entries are hash, key, value; else key, value */

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

static uint64_t address_of(struct target *t, const struct target_lib *lib, const char *symbol)
{
	struct elf_file *elf = target__elf(t, lib);
	struct elf_symbol s;

	return elf && !elf_file__symbol(elf, symbol, &s) ? lib->base + s.vaddr : 0;
}

uint64_t python_objects__address(struct target *t, const char *symbol)
{
	const struct target_lib *lib = target__python_lib(t);

	return lib ? address_of(t, lib, symbol) : 0;
}

static uint64_t thread_address(const struct python_objects *o)
{
	const struct python_layout *l = o->layout;
	uint64_t interpreter = o->runtime ? read_word(o, o->runtime + l->interpreter) : 0;

	if (!l->lock)
		return o->runtime + l->current_thread;
	return interpreter ? read_word(o, interpreter + l->lock) + l->current_thread : 0;
}

int python_objects__open(struct target *t, struct python_objects *o)
{
	unsigned int minor;

	*o = (struct python_objects){.t = t, .lib = target__python_lib(t)};
	if (!o->lib || !t->python || sscanf(t->python, "3.%u", &minor) != 1)
		return -ENOENT;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].minor == minor)
			o->layout = &layouts[i];
	if (!o->layout)
		return -ENOTSUP;
	o->runtime = address_of(t, o->lib, "_PyRuntime");
	o->dict = address_of(t, o->lib, "PyDict_Type");
	o->str = address_of(t, o->lib, "PyUnicode_Type");
	o->module = address_of(t, o->lib, "PyModule_Type");
	o->function = address_of(t, o->lib, "PyFunction_Type");
	o->code = address_of(t, o->lib, "PyCode_Type");
	o->thread_at = thread_address(o);
	return o->runtime && o->dict && o->str && o->module && o->function && o->code ? 0 : -ENOENT;
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
	return !target__read(o->t, str + o->layout->str_ascii, s.text, len) &&
	       !memcmp(s.text, text, len);
}

uint64_t python_objects__item(const struct python_objects *o, uint64_t dict, const char *name,
			      uint64_t *key)
{
	const size_t len = strnlen(name, MAX_NAME);
	auto_free uint64_t *entries = NULL;
	uint64_t at = is_a(o, dict, o->dict) ? read_word(o, dict + DICT_KEYS) : 0;
	struct dict_keys keys;
	size_t words;

	if (len == MAX_NAME || !at || target__read(o->t, at, &keys, sizeof(keys)) ||
	    keys.entry_cnt > MAX_ITEMS || keys.log2_index_bytes > 31)
		return 0;
	words = keys.kind == KEYS_GENERAL ? 3 : 2;
	entries = calloc(keys.entry_cnt + 1, words * sizeof(*entries));
	at += sizeof(keys) + (1ull << keys.log2_index_bytes);
	if (!entries || target__read(o->t, at, entries, keys.entry_cnt * words * sizeof(*entries)))
		return 0;
	for (size_t i = 0; i < keys.entry_cnt; i++) {
		const uint64_t *value = &entries[(i + 1) * words - 1];

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
	uint64_t interpreter = read_word(o, o->runtime + o->layout->interpreter);
	uint64_t modules = interpreter ? read_word(o, interpreter + o->layout->modules) : 0;
	uint64_t module = python_objects__item(o, modules, name, NULL);

	return is_a(o, module, o->module) ? read_word(o, module + MODULE_DICT) : 0;
}

uint64_t python_objects__class_dict(const struct python_objects *o, uint64_t class)
{
	return class ? read_word(o, class + o->layout->type_dict) : 0;
}

uint64_t python_objects__code(const struct python_objects *o, uint64_t function)
{
	uint64_t code = is_a(o, function, o->function)
				? read_word(o, function + o->layout->function_code)
				: 0;

	return is_a(o, code, o->code) ? code : 0;
}

uint64_t python_objects__name(const struct python_objects *o, uint64_t code, const char *name)
{
	uint64_t names = code ? read_word(o, code + o->layout->code_names) : 0;
	uint64_t cnt = names ? read_word(o, names + TUPLE_SIZE) : 0;

	for (uint64_t i = 0; i < cnt && i < MAX_NAME; i++) {
		uint64_t str = read_word(o, names + TUPLE_ITEMS + 8 * i);

		if (is_text(o, str, name, strlen(name)))
			return str;
	}
	return 0;
}
