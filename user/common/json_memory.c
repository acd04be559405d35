// SPDX-License-Identifier: BSD-2-Clause
#include "common/json_memory.h"
#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>

static _Thread_local bool lacked, parses;
static _Thread_local jmp_buf parser;

static void *note(size_t size)
{
	void *memory = malloc(size);

	lacked |= !memory;
	if (!memory && parses)
		longjmp(parser, 1);
	return memory;
}

void json_memory__watch(void)
{
	json_set_alloc_funcs(note, free);
	lacked = false;
}

bool json_memory__lacked(void)
{
	return lacked;
}

int json_memory__parse(const char *text, size_t len, json_t **out)
{
	json_memory__watch();
	*out = NULL;
	if (setjmp(parser)) {
		parses = false;
		return -ENOMEM;
	}
	parses = true;
	*out = json_loadb(text, len, 0, NULL);
	parses = false;
	return *out ? 0 : -EBADMSG;
}
