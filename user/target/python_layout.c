// SPDX-License-Identifier: BSD-2-Clause
#include "target/python_layout.h"
#include "common/util.h"
#include <errno.h>
#include <string.h>

#define NO_OWNER 256 /* no frame is of it */

/* By offsetof() on the headers of 3.10.13, Debian's 3.11.2, 3.11.7, 3.12.1 and 3.13.0. */
static const struct python_layout layouts[] = {
	{
		.minor = 10,
		.main_interpreter = 40,
		.first_thread = 8,
		.file = 104,
		.function = 112,
		.first_line = 40,
		.lines = 120,
		.code_bytes = 176,
		.ascii_bytes = 48,
		.compact_bytes = 72,
		.thread = {.next = 8, .id = 176, .handled = 144, .exception = 8, .frame = 24},
		.frames = {.frame_bytes = 104,
			   .code_word = 4,
			   .previous_word = 3,
			   .instr_word = 12,
			   .function_word = PT_FRAME_WORDS,
			   .other_owner = NO_OWNER,
			   .instr_mask = UINT32_MAX},
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
		.code_bytes = 184,
		.ascii_bytes = 48,
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
			   .instr_mask = UINT64_MAX},
		.frame_locals = 72,
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
		.code_bytes = 192,
		.ascii_bytes = 40,
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
			   .instr_mask = UINT64_MAX},
		.frame_locals = 72,
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
		.code_bytes = 200,
		.ascii_bytes = 40,
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
			   .instr_mask = UINT64_MAX},
		.frame_locals = 72,
		.modules = 7656,
		.lock = 16,
		.current_thread = 8,
		.attributes = PT_ATTRIBUTES_BEHIND,
		.type_dict = 264,
		.type_keys = 880,
		.function_code = 48,
		.code_names = 32,
	},
};

/* Since 3.13 the interpreter says itself where things lie (pycore_runtime.h, _Py_DebugOffsets,
 * which is what it begins with): patch releases may differ. The rest is measured. */
#define OFFSETS_COOKIE "xdebugpy"

struct own_offsets {
	char cookie[8];
	uint64_t version, free_threaded;
	uint64_t runtime_size, finalizing, interpreters; /* the main one's pointer is behind it */
	uint64_t interpreter[13];
	uint64_t thread[9];
	uint64_t frame[6];
	uint64_t code[10];
};
enum { INTERPRETER_THREADS = 3, THREAD_NEXT = 2, THREAD_FRAME = 4, THREAD_ID = 5, NATIVE_ID };

static int ask_interpreter(struct target *t, struct python_layout *l)
{
	struct own_offsets o;

	if (l->minor < 13)
		return 0;
	if (target__read(t, l->runtime, &o, sizeof(o)) ||
	    memcmp(o.cookie, OFFSETS_COOKIE, sizeof(o.cookie)) != 0 || o.free_threaded)
		return -ENOTSUP;
	l->main_interpreter = (uint32_t)o.interpreters + 8;
	l->first_thread = (uint32_t)o.interpreter[INTERPRETER_THREADS];
	l->thread.next = (uint32_t)o.thread[THREAD_NEXT];
	l->thread.frame = (uint32_t)o.thread[THREAD_FRAME];
	l->thread.id = (uint32_t)o.thread[THREAD_ID];
	l->native_id = (uint32_t)o.thread[NATIVE_ID];
	return 0;
}

/* 0: not known. */
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
	unsigned int minor;

	if (!t->python || sscanf(t->python, "3.%u", &minor) != 1)
		return -ENOENT;
	row = row_of(minor);
	if (!row)
		return -ENOTSUP;
	l = *row;
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
