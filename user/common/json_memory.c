// SPDX-License-Identifier: BSD-2-Clause
#include "common/json_memory.h"
#include <jansson.h>
#include <stdlib.h>

static _Thread_local bool lacked;

static void *note(size_t size)
{
	void *memory = malloc(size);

	lacked |= !memory;
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
