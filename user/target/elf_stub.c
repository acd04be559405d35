// SPDX-License-Identifier: BSD-2-Clause
#include <elf.h>
#include <string.h>
#include "target/elf_file.h"

#define STUB_SIZE 16

/* The place of the pointer to a function that may be in another file. */
static uint64_t slot_of(const struct elf_file *f, const char *symbol)
{
	struct elf_section relocations = elf_file__whole_section(f, ".rela.plt");
	struct elf_section symbols = elf_file__whole_section(f, ".dynsym"),
			   names = elf_file__whole_section(f, ".dynstr");
	Elf64_Rela rela;
	Elf64_Sym sym;

	for (size_t at = 0; at + sizeof(rela) <= relocations.len; at += sizeof(rela)) {
		size_t sym_at;

		memcpy(&rela, relocations.bytes + at, sizeof(rela));
		sym_at = ELF64_R_SYM(rela.r_info) * sizeof(sym);
		if (sym_at + sizeof(sym) > symbols.len)
			continue;
		memcpy(&sym, symbols.bytes + sym_at, sizeof(sym));
		if (sym.st_name + strlen(symbol) < names.len &&
		    !memcmp(names.bytes + sym.st_name, symbol, strlen(symbol) + 1))
			return rela.r_offset;
	}
	return 0;
}

/* The stub that jumps through that pointer: jmp *offset(%rip) within its 16 bytes. */
uint64_t elf_file__stub(const struct elf_file *f, const char *symbol)
{
	struct elf_section stubs = elf_file__whole_section(f, ".plt");
	uint64_t slot = slot_of(f, symbol);

	for (size_t at = 0; slot && at + STUB_SIZE <= stubs.len; at += STUB_SIZE) {
		const uint8_t *code = stubs.bytes + at;
		int32_t offset;

		memcpy(&offset, code + 2, sizeof(offset));
		if (code[0] == 0xff && code[1] == 0x25 &&
		    stubs.vaddr + at + 6 + (uint64_t)(int64_t)offset == slot)
			return stubs.vaddr + at;
	}
	return 0;
}
