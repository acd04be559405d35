// SPDX-License-Identifier: BSD-2-Clause
#include "target/environment.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/util.h"

#define VARIABLES_MAX 4096
#define TEXT_BYTES    256 /* with its NUL */
#define PAGE_BYTES    4096

static uint64_t address_in(struct target *t, const struct target_lib *lib)
{
	struct elf_file *elf = target__elf(t, lib);
	struct elf_symbol symbol;

	if (!elf)
		err__take(-EIO);
	return elf && !elf_file__symbol(elf, "environ", &symbol) ? lib->base + symbol.vaddr : 0;
}

/* A program that uses `environ` without position-independent code has the variable itself, instead
 * of its C library. */
static uint64_t variable_address(struct target *t)
{
	static const char *const libraries[] = {"libc.so.*", "libc-*.so", "ld-musl-*",
						"libc.musl-*"};
	const char *name = t->exe ? strrchr(t->exe, '/') : NULL;
	const struct target_lib *exe = name ? target__find_lib(t, name + 1) : NULL;
	uint64_t address = exe ? address_in(t, exe) : 0;

	for (size_t i = 0; i < ARRAY_SIZE(libraries) && !address; i++) {
		const struct target_lib *lib = target__find_lib(t, libraries[i]);

		if (lib)
			address = address_in(t, lib);
	}
	return address;
}

/* Reads the part after the page's end separately, because that may be unmapped. */
static bool read_text(const struct target *t, uint64_t address, char *text)
{
	const size_t left = PAGE_BYTES - address % PAGE_BYTES;
	const size_t first = left < TEXT_BYTES ? left : TEXT_BYTES;

	if (target__read(t, address, text, first))
		return false;
	if (memchr(text, '\0', first))
		return true;
	return first < TEXT_BYTES &&
	       !target__read(t, address + first, text + first, TEXT_BYTES - first) &&
	       memchr(text, '\0', TEXT_BYTES);
}

char *environment__now(struct target *t, size_t *len)
{
	const uint64_t variable = variable_address(t);
	uint64_t list = 0, address;
	char text[TEXT_BYTES];
	char *out = NULL;
	FILE *memory;

	*len = 0;
	if (!variable || target__read(t, variable, &list, sizeof(list)) || !list)
		return NULL;
	memory = open_memstream(&out, len);
	if (!memory)
		return NULL;
	for (size_t i = 0; i < VARIABLES_MAX; i++) {
		if (target__read(t, list + i * sizeof(address), &address, sizeof(address)) ||
		    !address)
			break;
		if (read_text(t, address, text))
			fwrite(text, 1, strlen(text) + 1, memory);
	}
	if (fclose(memory)) {
		free(out);
		return NULL;
	}
	return out;
}
