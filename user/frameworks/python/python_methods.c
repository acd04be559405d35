// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/python/python_methods.h"
#include "common/util.h"
#include <string.h>

#define CALL_FLAGS 3 /* METH_VARARGS | METH_KEYWORDS */

/* the PyMethodDef of CPython 3 */
struct method {
	uint64_t name, function;
	uint32_t flags, pad;
	uint64_t doc;
};

struct range {
	uint64_t begin, end;
	const uint8_t *bytes;
};

static bool section(struct elf_file *elf, const char *name, struct range *r)
{
	size_t len;

	r->bytes = elf_file__section(elf, name, &r->begin, &len);
	r->end = r->begin + len;
	return r->bytes;
}

static bool holds(const struct range *r, uint64_t vaddr)
{
	return vaddr >= r->begin && vaddr < r->end;
}

static int scan(const uint8_t *data, size_t len, uint64_t base, const struct range *text,
		const struct range *strings, int (*cb)(const char *, uint64_t, void *), void *ctx)
{
	int err = 0;

	for (size_t at = 0; at + sizeof(struct method) <= len && !err; at += 8) {
		struct method m;
		const char *name;

		memcpy(&m, data + at, sizeof(m));
		if (m.flags != CALL_FLAGS || !holds(strings, m.name - base) ||
		    !holds(text, m.function - base))
			continue;
		name = (const char *)strings->bytes + (m.name - base - strings->begin);
		if (memchr(name, '\0', strings->end - (m.name - base)))
			err = cb(name, m.function - base, ctx);
	}
	return err;
}

int python_methods__each(struct target *t, const struct target_lib *lib,
			 int (*cb)(const char *name, uint64_t vaddr, void *ctx), void *ctx)
{
	struct elf_file *elf = target__elf(t, lib);
	struct range text, strings, tables;
	auto_free uint8_t *data = NULL;
	size_t len;
	int err;

	if (!elf)
		return -EIO;
	if (!section(elf, ".text", &text) || !section(elf, ".rodata", &strings) ||
	    !section(elf, ".data", &tables))
		return 0;
	len = tables.end - tables.begin;
	data = malloc(len + 1);
	if (!data)
		return -ENOMEM;
	err = target__read(t, lib->base + tables.begin, data, len);
	return err ? err : scan(data, len, lib->base, &text, &strings, cb, ctx);
}
