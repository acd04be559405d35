// SPDX-License-Identifier: BSD-2-Clause
/*
 * Objects of an interpreter in hostile memory, read by their addresses. The fuzzer's input is that
 * memory: a word whose highest byte is 0xa5 becomes the address of another place in it.
 */
#include <string.h>
#include "common/util.h"
#include "target/python/python_code.h"
#include "target/python/python_lines.h"
#include "target/python/python_loop.h"
#include "target/python/python_objects.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY 8192
#define WORDS  (MEMORY / 8)

static uint64_t memory[WORDS];
static volatile size_t weight;

/* Offsets of the types, in words. */
enum { DICT = 0, STR = 2, MODULE = 4, FUNCTION = 6, CODE = 8, FIRST = 16 };

static uint64_t address(size_t word)
{
	return (uint64_t)(uintptr_t)&memory[word];
}

static void fill(const uint8_t *data, size_t size)
{
	memset(memory, 0, sizeof(memory));
	memcpy(memory, data, size < MEMORY ? size : MEMORY);
	for (size_t i = 0; i < WORDS; i++)
		if (memory[i] >> 56 == 0xa5)
			memory[i] = address(memory[i] % WORDS);
}

static void see_objects(const struct python_objects *o)
{
	uint8_t code[512];
	struct python_loop loop;
	uint64_t key = 0, at = address(FIRST), dict, function;
	size_t len;

	weight += python_objects__module(o, "torch.utils.data");
	dict = python_objects__class_dict(o, at);
	function = python_objects__item(o, dict ? dict : at, "step", &key);
	at = python_objects__code(o, function ? function : at);
	at = at ? at : address(FIRST);
	weight += python_objects__name(o, at, "forward") + python_objects__first_instruction(o, at);
	len = python_objects__instructions(o, at, code, sizeof(code));
	if (len && !python_loop__find(o->layout.minor, code, len, &loop))
		weight += loop.first + loop.again + loop.yield;
}

/* Offsets of a version, about; the kinds of all that have them. */
static struct python_layout layout_of(uint8_t choice)
{
	static const unsigned int minors[] = {10, 11, 12, 13, 14};

	return (struct python_layout){
		.minor = minors[choice % ARRAY_SIZE(minors)],
		.interpreter = address(FIRST),
		.runtime = address(FIRST),
		.modules = 24,
		.lock = choice & 64 ? 8 : 0,
		.current_thread = 8,
		.type_dict = 264,
		.function_code = 48,
		.code_names = 32,
		.code_object = choice & 128 ? 24 : 0,
		.instructions = 192,
		.code_bytes = 200,
		.ascii_bytes = 40,
		.compact_bytes = 56,
		.has_objects = true,
	};
}

static void see_tables(const uint8_t *data, size_t size)
{
	struct python_loop loop;

	for (uint64_t unit = 0; unit < 64; unit += 7) {
		weight += python_lines__at(data, size, 100, unit);
		weight += python_lines__at_310(data, size, 100, unit);
	}
	for (unsigned int minor = 9; minor < 16; minor++)
		weight += python_loop__find(minor, data, size, &loop) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct target t = {.pid = getpid()};
	struct python_objects o = {
		.t = &t,
		.dict = address(DICT),
		.str = address(STR),
		.module = address(MODULE),
		.function = address(FUNCTION),
		.code = address(CODE),
	};

	if (size < 2)
		return 0;
	o.layout = layout_of(data[0]);
	fill(data + 1, size - 1);
	see_objects(&o);
	see_tables(data + 1, size - 1);
	return 0;
}
