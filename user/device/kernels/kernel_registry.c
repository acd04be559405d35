// SPDX-License-Identifier: BSD-2-Clause
#include "device/kernels/kernel_registry.h"
#include "common/util.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_BACK  64	/* bytes before a call in which its arguments are set */
#define NAME_BYTES 4096 /* longer texts are no names */

/* A function of another library that this one imports. */
struct import {
	uint64_t slot; /* address in the global offset table; 0: not imported */
	uint64_t plt;
};

/* ---- imports ---- */

static bool is_named(const struct elf_section *symbols, const struct elf_section *strings,
		     uint64_t idx, const char *name)
{
	Elf64_Sym sym;

	if (idx >= symbols->len / sizeof(sym))
		return false;
	memcpy(&sym, symbols->bytes + idx * sizeof(sym), sizeof(sym));
	return sym.st_name < strings->len && strings->len - sym.st_name > strlen(name) &&
	       !strcmp((const char *)strings->bytes + sym.st_name, name);
}

static uint64_t find_slot(struct elf_file *elf, const char *name)
{
	struct elf_section symbols = elf_file__whole_section(elf, ".dynsym"),
			   strings = elf_file__whole_section(elf, ".dynstr");
	struct elf_section relocations = elf_file__whole_section(elf, ".rela.plt");
	Elf64_Rela r;

	/* A valid string section ends with a NUL. */
	if (!strings.len || strings.bytes[strings.len - 1])
		return 0;
	for (size_t at = 0; at + sizeof(r) <= relocations.len; at += sizeof(r)) {
		memcpy(&r, relocations.bytes + at, sizeof(r));
		if (is_named(&symbols, &strings, ELF64_R_SYM(r.r_info), name))
			return r.r_offset;
	}
	return 0;
}

static uint64_t relative_to(const struct elf_section *s, size_t end)
{
	int32_t distance;

	memcpy(&distance, s->bytes + end - sizeof(distance), sizeof(distance));
	return s->vaddr + end + (uint64_t)(int64_t)distance;
}

/* The PLT entry that jumps through the slot: `jmp *slot(%rip)` within 16 bytes. */
static uint64_t find_plt(struct elf_file *elf, uint64_t slot)
{
	static const char *const names[] = {".plt.sec", ".plt"};

	for (size_t n = 0; n < ARRAY_SIZE(names); n++) {
		struct elf_section s = elf_file__whole_section(elf, names[n]);

		for (size_t at = 0; at + 6 <= s.len; at++)
			if (s.bytes[at] == 0xff && s.bytes[at + 1] == 0x25 &&
			    relative_to(&s, at + 6) == slot)
				return s.vaddr + (at & ~(size_t)15);
	}
	return 0;
}

static struct import find_import(struct elf_file *elf, const char *name)
{
	struct import i = {.slot = find_slot(elf, name)};

	i.plt = i.slot ? find_plt(elf, i.slot) : 0;
	return i;
}

/* ---- calls ---- */

/* How an argument's register is encoded in `lea constant(%rip), register` and `mov %rax,
 * register`. */
struct argument {
	uint8_t lea, mov;
};
static const struct argument into_rdi = {0x3d, 0xc7}, into_rsi = {0x35, 0xc6},
			     into_rdx = {0x15, 0xc2};

/* The constant that the last lea before a call loads. Unoptimised code loads it by way of rax. 0:
 * none. */
static uint64_t loaded(const struct elf_section *code, size_t call, const struct argument *to)
{
	size_t first = call > LOOK_BACK ? call - LOOK_BACK : 0;

	for (size_t end = call; end >= first + 7; end--) {
		const uint8_t *p = code->bytes + end - 7;

		if (p[0] != 0x48 || p[1] != 0x8d)
			continue;
		if (p[2] == to->lea || (p[2] == 0x05 && end + 3 <= call && p[7] == 0x48 &&
					p[8] == 0x89 && p[9] == to->mov))
			return relative_to(code, end);
	}
	return 0;
}

static bool has(const struct elf_section *s, uint64_t vaddr)
{
	return vaddr >= s->vaddr && vaddr - s->vaddr < s->len;
}

static const char *text_at(struct elf_file *elf, uint64_t vaddr)
{
	size_t len;
	const uint8_t *text = vaddr ? elf_file__bytes(elf, vaddr, &len) : NULL;

	if (!text || !memchr(text, '\0', len < NAME_BYTES ? len : NAME_BYTES) || text[0] <= ' ' ||
	    text[0] > '~')
		return NULL;
	return (const char *)text;
}

static int take_register(struct kernel_registry *r, struct elf_file *elf,
			 const struct elf_section *code, size_t call)
{
	struct registered_kernel kernel = {.stub = loaded(code, call, &into_rsi),
					   .name = text_at(elf, loaded(code, call, &into_rdx))};

	if (!kernel.name || !has(code, kernel.stub))
		return 0;
	return ARRAY_PUSH(r->kernels, r->kernel_cnt, r->kernel_cap, kernel);
}

static int take_get(struct kernel_registry *r, const struct elf_section *code, size_t call)
{
	struct kernel_variable v = {.variable = loaded(code, call, &into_rdi),
				    .stub = loaded(code, call, &into_rsi)};

	if (!v.variable || !has(code, v.stub))
		return 0;
	return ARRAY_PUSH(r->variables, r->variable_cnt, r->variable_cap, v);
}

/* Searches for `call rel32`. */
static int scan_calls(struct kernel_registry *r, struct elf_file *elf,
		      const struct elf_section *code)
{
	const struct import registers = find_import(elf, "__cudaRegisterFunction");
	const struct import gets = find_import(elf, "__cudaGetKernel");
	const uint8_t *p = code->bytes, *end = p + code->len;
	int err = 0;

	if (!registers.plt)
		return 0;
	while (!err && (p = memchr(p, 0xe8, (size_t)(end - p))) && end - p >= 5) {
		size_t call = (size_t)(p++ - code->bytes);
		uint64_t to = relative_to(code, call + 5);

		if (to == registers.plt)
			err = take_register(r, elf, code, call);
		else if (to == gets.plt && gets.plt)
			err = take_get(r, code, call);
	}
	return err;
}

static int by_stub(const void *a, const void *b)
{
	const struct registered_kernel *x = a, *y = b;

	return x->stub < y->stub ? -1 : x->stub > y->stub;
}

int kernel_registry__read(struct elf_file *elf, struct kernel_registry *out)
{
	struct elf_section code = elf_file__whole_section(elf, ".text");
	int err;

	memset(out, 0, sizeof(*out));
	if (!code.len)
		return 0;
	err = scan_calls(out, elf, &code);
	if (err)
		kernel_registry__free(out);
	else if (out->kernel_cnt)
		qsort(out->kernels, out->kernel_cnt, sizeof(*out->kernels), by_stub);
	return err;
}

void kernel_registry__free(struct kernel_registry *r)
{
	free(r->kernels);
	free(r->variables);
	memset(r, 0, sizeof(*r));
}

const char *kernel_registry__name(const struct kernel_registry *r, uint64_t stub)
{
	const struct registered_kernel key = {.stub = stub}, *found = NULL;

	if (r->kernel_cnt)
		found = bsearch(&key, r->kernels, r->kernel_cnt, sizeof(key), by_stub);
	return found ? found->name : NULL;
}
