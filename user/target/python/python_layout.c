// SPDX-License-Identifier: BSD-2-Clause
#include "target/python/python_layout.h"
#include "common/util.h"
#include <errno.h>
#include <string.h>

#define NO_OWNER 256 /* no frame has this owner */

#define WHOLE_WORD UINT64_MAX
/* Since 3.14 some bits are flags: the lowest two of references in frames, and the highest 16 of an
 * object's reference count. */
#define UNTAGGED  (~UINT64_C(3))
#define UNFLAGGED (UINT64_MAX >> 16)

/* Made with offsetof() on the headers of 3.10.13, Debian's 3.11.2, 3.11.7, 3.12.1, 3.13.0, Debian's
 * 3.14.10 and 3.15.2. */
static const struct python_layout layouts[] = {
	{
		.minor = 10,
		.main_interpreter = 40,
		.first_thread = 8,
		.file = 104,
		.function = 112,
		.first_line = 40,
		.lines = 120,
		.references = WHOLE_WORD,
		.code_bytes = 176,
		.compact_bytes = 72,
		.thread = {.next = 8, .id = 176, .handled = 144, .exception = 8, .frame = 24},
		.frames = {.frame_bytes = 104,
			   .code_word = 4,
			   .previous_word = 3,
			   .instr_word = 12,
			   .function_word = PT_FRAME_WORDS,
			   .other_owner = NO_OWNER,
			   .instr_mask = UINT32_MAX,
			   .object_mask = WHOLE_WORD},
		.has_objects = true,
		.modules = 856,
		.current_thread = 568,
		.type_dict = 264,
		.function_code = 48,
		.code_names = 64,
		.code_object = 48,
		.frame_locals = 352,
		.attributes = PT_ATTRIBUTES_DICT,
	},
	{
		.minor = 11,
		.main_interpreter = 48,
		.first_thread = 16,
		.file = 112,
		.function = 128,
		.first_line = 72,
		.lines = 136,
		.instructions = 184,
		.references = WHOLE_WORD,
		.code_bytes = 184,
		.compact_bytes = 72,
		.native_id = 160,
		.thread = {.next = 8,
			   .id = 152,
			   .handled = 120,
			   .frame = 56,
			   .cframe = 1,
			   .cframe_frame = 8},
		.frames = {.frame_bytes = 72,
			   .code_word = 4,
			   .previous_word = 6,
			   .instr_word = 7,
			   .function_word = 0,
			   .other_owner = NO_OWNER,
			   .instr_mask = UINT64_MAX,
			   .object_mask = WHOLE_WORD},
		.frame_locals = 72,
		.has_objects = true,
		.modules = 888,
		.current_thread = 576,
		.attributes = PT_ATTRIBUTES_BEFORE,
		.type_dict = 264,
		.type_keys = 872,
		.function_code = 48,
		.code_names = 32,
	},
	{
		.minor = 12,
		.main_interpreter = 48,
		.first_thread = 72,
		.file = 112,
		.function = 128,
		.first_line = 68,
		.lines = 136,
		.instructions = 192,
		.references = WHOLE_WORD,
		.code_bytes = 192,
		.compact_bytes = 56,
		.native_id = 144,
		.thread = {.next = 8, .id = 136, .handled = 104, .frame = 56, .cframe = 1},
		.frames = {.frame_bytes = 72,
			   .code_word = 0,
			   .previous_word = 1,
			   .instr_word = 7,
			   .function_word = 2,
			   .owner_word = 8,
			   .owner_shift = 48,
			   .other_owner = 3, /* FRAME_OWNED_BY_CSTACK */
			   .instr_mask = UINT64_MAX,
			   .object_mask = WHOLE_WORD},
		.frame_locals = 72,
		.has_objects = true,
		.modules = 944,
		.lock = 384,
		.current_thread = 8,
		.attributes = PT_ATTRIBUTES_TAGGED,
		.type_dict = 264,
		.type_keys = 880,
		.function_code = 48,
		.code_names = 32,
	},
	{
		.minor = 13,
		.main_interpreter = 640,
		.first_thread = 7344,
		.file = 112,
		.function = 128,
		.first_line = 68,
		.lines = 136,
		.instructions = 200,
		.references = WHOLE_WORD,
		.code_bytes = 200,
		.compact_bytes = 56,
		.native_id = 160,
		.thread = {.next = 8, .id = 152, .handled = 120, .frame = 72},
		.frames = {.frame_bytes = 72,
			   .code_word = 0,
			   .previous_word = 1,
			   .instr_word = 7,
			   .function_word = 2,
			   .owner_word = 8,
			   .owner_shift = 48,
			   .other_owner = 3,
			   .instr_mask = UINT64_MAX,
			   .object_mask = WHOLE_WORD},
		.frame_locals = 72,
		.has_objects = true,
		.modules = 7656,
		.lock = 16,
		.current_thread = 8,
		.attributes = PT_ATTRIBUTES_BEHIND,
		.type_dict = 264,
		.type_keys = 880,
		.function_code = 48,
		.code_names = 32,
	},
	{
		.minor = 14,
		.main_interpreter = 816,
		.first_thread = 7344,
		.file = 112,
		.function = 128,
		.first_line = 68,
		.lines = 136,
		.instructions = 208,
		.references = UNFLAGGED,
		.code_bytes = 208,
		.compact_bytes = 56,
		.native_id = 160,
		.thread = {.next = 8, .id = 152, .handled = 120, .frame = 72},
		.frames = {.frame_bytes = 80,
			   .code_word = 0,
			   .previous_word = 1,
			   .instr_word = 7,
			   .function_word = 2,
			   .owner_word = 9,
			   .owner_shift = 16,
			   .other_owner = 3, /* FRAME_OWNED_BY_INTERPRETER */
			   .instr_mask = UINT64_MAX,
			   .object_mask = UNTAGGED},
		.lock = 16,
		.current_thread = 8,
	},
	{
		.minor = 15,
		.main_interpreter = 944,
		.first_thread = 7336,
		.file = 112,
		.function = 128,
		.first_line = 68,
		.lines = 136,
		.instructions = 208,
		.references = UNFLAGGED,
		.code_bytes = 208,
		.compact_bytes = 56,
		.native_id = 184,
		.thread = {.next = 8, .id = 176, .handled = 144, .frame = 72},
		.frames = {.frame_bytes = 80,
			   .code_word = 0,
			   .previous_word = 1,
			   .instr_word = 7,
			   .function_word = 2,
			   .owner_word = 9,
			   .owner_shift = 16,
			   .other_owner = 3, /* FRAME_OWNED_BY_INTERPRETER */
			   .instr_mask = UINT64_MAX,
			   .object_mask = UNTAGGED},
		.lock = 16,
		.current_thread = 8,
	},
};

/* Since 3.13 the interpreter publishes offsets itself (pycore_runtime.h, _Py_DebugOffsets, with
 * which it begins), because patch releases may differ. Other offsets were measured. */
#define OFFSETS_COOKIE "xdebugpy"

#define OFFSETS_WORDS 40
#define FREE_THREADED 2 /* index of a word in it */
/* index of a word in it; the pointer to the main interpreter comes after that field */
#define INTERPRETERS 5

/* Which words of it give which offset. */
static const struct own_offsets {
	unsigned int minor, first_thread, next, frame, id, native_id;
} own_offsets[] = {
	{13, 9, 21, 23, 24, 25},
	{14, 9, 24, 26, 27, 28},
	{15, 9, 24, 26, 30, 31},
};

static const struct own_offsets *own_offsets_of(unsigned int minor)
{
	for (size_t i = 0; i < ARRAY_SIZE(own_offsets); i++)
		if (own_offsets[i].minor == minor)
			return &own_offsets[i];
	return NULL;
}

static int ask_interpreter(struct target *t, struct python_layout *l)
{
	const struct own_offsets *own = own_offsets_of(l->minor);
	uint64_t words[OFFSETS_WORDS];

	if (!own)
		return 0;
	if (target__read(t, l->runtime, words, sizeof(words)) ||
	    memcmp(words, OFFSETS_COOKIE, strlen(OFFSETS_COOKIE)) != 0 || words[FREE_THREADED])
		return -ENOTSUP;
	l->main_interpreter = (uint32_t)words[INTERPRETERS] + 8;
	l->first_thread = (uint32_t)words[own->first_thread];
	l->thread.next = (uint32_t)words[own->next];
	l->thread.frame = (uint32_t)words[own->frame];
	l->thread.id = (uint32_t)words[own->id];
	l->native_id = (uint32_t)words[own->native_id];
	return 0;
}

/* 0: unknown. */
static uint64_t stop_iteration(struct target *t)
{
	uint64_t at = target__python_symbol(t, "PyExc_StopIteration"), type = 0;

	return at && !target__read(t, at, &type, sizeof(type)) ? type : 0;
}

static const struct python_layout *row_of(unsigned int minor)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].minor == minor)
			return &layouts[i];
	return NULL;
}

int python_layout__of(struct target *t, struct python_layout *layout)
{
	const struct python_layout *row;
	struct python_layout l;

	if (!target__python_minor(t))
		return -ENOENT;
	row = row_of(target__python_minor(t));
	if (!row)
		return -ENOTSUP;
	l = *row;
	l.ascii_bytes = target__python_str_head(t);
	l.lib = target__python_lib(t);
	l.runtime = target__python_symbol(t, "_PyRuntime");
	if (!l.runtime)
		return -ENOENT;
	if (ask_interpreter(t, &l))
		return -ENOTSUP;
	if (target__read(t, l.runtime + l.main_interpreter, &l.interpreter,
			 sizeof(l.interpreter)) ||
	    !l.interpreter)
		return -ENOENT;
	l.thread.threads_at = l.interpreter + l.first_thread;
	l.thread.stop_iteration = stop_iteration(t);
	*layout = l;
	return 0;
}
