// SPDX-License-Identifier: BSD-2-Clause
/* A hostile ELF file: its symbols, sections, notes, addresses and stubs. */
#include <string.h>
#include <sys/mman.h>
#include "common/util.h"
#include "target/elf_file.h"
#include "target/usdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t weight; /* uses the data that was read, so that the sanitizer checks it */

struct symbols {
	struct elf_file *file;
	size_t cnt;
};

static int see_symbol(const struct elf_symbol *s, void *ctx)
{
	struct symbols *all = ctx;
	struct elf_symbol found;
	uint64_t offset = 0;
	size_t len;
	const uint8_t *bytes;

	weight += strlen(s->name);
	if (all->cnt++ > 64)
		return all->cnt > 4096;
	elf_file__symbol(all->file, s->name, &found);
	elf_file__symbol_at(all->file, s->vaddr, &found);
	elf_file__offset(all->file, s->vaddr, &offset);
	elf_file__stub(all->file, s->name);
	bytes = elf_file__bytes(all->file, s->vaddr, &len);
	if (bytes && len)
		weight += bytes[0] + bytes[len - 1];
	return 0;
}

static bool wants(const char *name, size_t max, void *ctx)
{
	weight += (size_t)name[0] + (size_t)name[max - 1];
	return name[0] == '_';
}

static int see_wanted(const struct elf_symbol *s, void *ctx)
{
	weight += (size_t)s->name[s->name_len];
	return 0;
}

static int see_probe(const struct usdt_probe *p, void *ctx)
{
	weight += strlen(p->provider) + strlen(p->name) + strlen(p->args);
	return 0;
}

static void see_sections(struct elf_file *f)
{
	static const char *const names[] = {".text",	     ".rodata", ".data.rel.ro",
					    ".note.stapsdt", ".plt",	".rela.plt"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct elf_section s = elf_file__whole_section(f, names[i]);

		if (s.len)
			weight += s.bytes[0] + s.bytes[s.len - 1];
		if (s.len && i == 3)
			usdt__each(s.bytes, s.len, s.vaddr, see_probe, NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct symbols all = {0};
	uint64_t bias;
	char path[64];

	if (fd < 0)
		fd = memfd_create("library", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (elf_file__open(path, &all.file))
		return 0;
	elf_file__for_each_symbol(all.file, see_symbol, &all);
	elf_file__for_each_wanted(all.file, wants, see_wanted, NULL);
	see_sections(all.file);
	weight += strlen(elf_file__build_id(all.file)) + elf_file__is_static(all.file);
	elf_file__bias(all.file, 0x7f0000001000, 0x1000, &bias);
	weight += elf_file__is_code(all.file, 0x7f0000000000, 0, 0x7f0000001234);
	elf_file__close(all.file);
	return 0;
}
