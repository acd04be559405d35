// SPDX-License-Identifier: BSD-2-Clause
#include "inject/frames.h"
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <string.h>
#include "common/err.h"
#include "common/message_table.h"
#include "common/regular_file.h"
#include "common/util.h"
#include "inject/calls.h"

#define MAX_FRAMES  512
#define STACK_BYTES (256 << 10)

/* DWARF's numbers of registers (System V ABI x86-64, figure 3.36). */
enum { REG_RSP = 7, REG_RA = 16, REG_CNT = 17 };

struct table {
	int fd;
	Elf *elf;
	Dwarf_CFI *cfi; /* NULL: the file has no unwind table */
};

struct frames {
	struct target *target;
	const struct maps *maps;
	struct table *tables; /* by index of the target's libraries; fd 0: not opened yet */
	uint64_t stack_start;
	size_t stack_len;
	uint64_t stack[STACK_BYTES / 8];
};

struct registers {
	uint64_t value[REG_CNT];
	bool known[REG_CNT];
};

int frames__new(struct target *t, const struct maps *m, struct frames **out)
{
	struct frames *f = calloc(1, sizeof(*f));

	if (f)
		f->tables = calloc(t->lib_cnt + 1, sizeof(*f->tables));
	if (!f || !f->tables) {
		free(f);
		return err__set(-ENOMEM, MESSAGE_OUT_OF_MEMORY);
	}
	elf_version(EV_CURRENT);
	f->target = t;
	f->maps = m;
	*out = f;
	return 0;
}

void frames__free(struct frames *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->target->lib_cnt; i++) {
		struct table *t = &f->tables[i];

		if (t->cfi)
			dwarf_cfi_end(t->cfi);
		elf_end(t->elf);
		if (t->fd > 0)
			close(t->fd);
	}
	free(f->tables);
	free(f);
}

static const struct target_lib *lib_at(const struct frames *f, uint64_t pc)
{
	const struct map_range *r = maps__at(f->maps, pc);

	if (!r || !r->executable || r->path[0] != '/')
		return NULL;
	for (size_t i = 0; i < f->target->lib_cnt; i++) {
		if (strcmp(f->target->libs[i].path, r->path) == 0)
			return &f->target->libs[i];
	}
	return NULL;
}

static Dwarf_CFI *cfi_of(struct frames *f, const struct target_lib *lib)
{
	struct table *t = &f->tables[lib - f->target->libs];

	if (t->fd)
		return t->cfi;
	t->fd = regular_file__open(lib->host_path);
	if (t->fd < 0)
		return NULL;
	/* Read, not mapped, because its owner may truncate it. */
	t->elf = elf_begin(t->fd, ELF_C_READ, NULL);
	if (t->elf)
		t->cfi = dwarf_getcfi_elf(t->elf);
	return t->cfi;
}

static bool stack_word(const struct frames *f, uint64_t addr, uint64_t *value)
{
	if (addr % 8 || addr < f->stack_start || addr - f->stack_start >= f->stack_len)
		return false;
	*value = f->stack[(addr - f->stack_start) / 8];
	return true;
}

/* Evaluates the two forms that compilers use: a register plus an offset, and the frame's address
 * plus an offset. Anything else ends the walk by tables. */
static bool evaluate(const Dwarf_Op *ops, size_t cnt, const struct registers *r, uint64_t cfa,
		     uint64_t *value)
{
	uint64_t v;

	if (cnt < 1 || cnt > 2)
		return false;
	if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg16 &&
	    r->known[ops[0].atom - DW_OP_breg0])
		v = r->value[ops[0].atom - DW_OP_breg0] + ops[0].number;
	else if (ops[0].atom == DW_OP_bregx && ops[0].number < REG_CNT && r->known[ops[0].number])
		v = r->value[ops[0].number] + ops[0].number2;
	else if (ops[0].atom == DW_OP_call_frame_cfa)
		v = cfa;
	else
		return false;
	if (cnt == 2) {
		if (ops[1].atom != DW_OP_plus_uconst)
			return false;
		v += ops[1].number;
	}
	*value = v;
	return true;
}

/* Finds one register of the caller. False: the walk cannot go on. */
static bool caller_register(const struct frames *f, Dwarf_Frame *frame, int reg, uint64_t cfa,
			    const struct registers *r, struct registers *caller)
{
	Dwarf_Op mem[3], *ops;
	uint64_t addr;
	size_t cnt;

	if (dwarf_frame_register(frame, reg, mem, &ops, &cnt) < 0)
		return false;
	if (cnt == 0) {
		/* The register is undefined (mem) or unchanged (NULL). */
		caller->known[reg] = !ops && r->known[reg];
		caller->value[reg] = r->value[reg];
		return true;
	}
	caller->known[reg] =
		evaluate(ops, cnt, r, cfa, &addr) && stack_word(f, addr, &caller->value[reg]);
	return true;
}

/* 1: r is now the caller; 0: there is no caller; -1: no table covers the code. */
static int step(struct frames *f, const struct target_lib *lib, bool is_caller, struct registers *r,
		bool *is_signal)
{
	Dwarf_CFI *cfi = lib ? cfi_of(f, lib) : NULL;
	struct registers caller = {0};
	auto_free Dwarf_Frame *frame = NULL;
	uint64_t cfa;
	Dwarf_Op *ops;
	size_t cnt;
	int ret = -1;

	/* A return address is after its call, maybe already in the next function. */
	if (!cfi || dwarf_cfi_addrframe(cfi, r->value[REG_RA] - lib->base - is_caller, &frame) < 0)
		return -1;
	dwarf_frame_info(frame, NULL, NULL, is_signal);
	if (*is_signal)
		return 0;
	if (dwarf_frame_cfa(frame, &ops, &cnt) < 0 || !evaluate(ops, cnt, r, 0, &cfa))
		return -1;
	for (int i = 0; i < REG_CNT; i++) {
		if (!caller_register(f, frame, i, cfa, r, &caller))
			return -1;
	}
	{
		Dwarf_Op mem[3];

		/* An undefined return address marks the outermost frame. */
		if (dwarf_frame_register(frame, REG_RA, mem, &ops, &cnt) == 0 && cnt == 0 &&
		    ops == mem)
			ret = 0;
		else if (caller.known[REG_RA] && cfa > r->value[REG_RSP])
			ret = caller.value[REG_RA] ? 1 : 0;
	}
	caller.value[REG_RSP] = cfa;
	caller.known[REG_RSP] = true;
	if (ret == 1)
		*r = caller;
	return ret;
}

/* Is there a call rel32, or a form of call r/m64, right before addr? */
static bool follows_call(const struct frames *f, uint64_t addr)
{
	uint8_t b[8];

	if (addr < sizeof(b) || target__read(f->target, addr - sizeof(b), b, sizeof(b)) < 0)
		return false;
	if (b[3] == 0xe8)
		return true;
	for (int len = 2; len <= 7; len++) {
		if (b[8 - len] == 0xff && (b[9 - len] & 0x38) == 0x10)
			return true;
	}
	return false;
}

/* mov $15, %rax; syscall: the code to which a signal handler returns. */
static bool is_sigreturn(const struct frames *f, uint64_t addr)
{
	static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	uint8_t b[sizeof(code)];

	return target__read(f->target, addr, b, sizeof(b)) == 0 &&
	       memcmp(b, code, sizeof(code)) == 0;
}

static int guess(struct frames *f, uint64_t from, int (*cb)(const struct frame *, void *),
		 void *ctx)
{
	for (uint64_t addr = (from + 7) & ~7ull;; addr += 8) {
		const struct map_range *range;
		struct frame frame = {.is_guess = true};
		int ret;

		if (!stack_word(f, addr, &frame.pc))
			return 0;
		range = maps__at(f->maps, frame.pc);
		if (!range || !range->executable)
			continue;
		frame.is_signal = is_sigreturn(f, frame.pc);
		if (!frame.is_signal && !follows_call(f, frame.pc))
			continue;
		frame.lib = lib_at(f, frame.pc);
		ret = cb(&frame, ctx);
		if (ret)
			return ret;
	}
}

static int read_stack(struct frames *f, uint64_t rsp)
{
	const struct map_range *range = maps__at(f->maps, rsp);
	uint64_t start = rsp & ~7ull;

	if (!range || !range->writable)
		return -EFAULT;
	f->stack_start = start;
	f->stack_len = range->end - start < STACK_BYTES ? range->end - start : STACK_BYTES;
	return target__read(f->target, start, f->stack, f->stack_len);
}

static void load_registers(const struct user_regs_struct *u, struct registers *r)
{
	const uint64_t values[REG_CNT] = {u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi,
					  u->rbp, u->rsp, u->r8,  u->r9,  u->r10, u->r11,
					  u->r12, u->r13, u->r14, u->r15, u->rip};

	memcpy(r->value, values, sizeof(values));
	memset(r->known, true, sizeof(r->known));
}

int frames__walk(struct frames *f, const struct user_regs_struct *regs,
		 int (*cb)(const struct frame *frame, void *ctx), void *ctx)
{
	struct registers r;
	int err = read_stack(f, regs->rsp);

	if (err)
		return err;
	load_registers(regs, &r);
	for (int i = 0; i < MAX_FRAMES; i++) {
		struct frame frame = {.pc = r.value[REG_RA], .lib = lib_at(f, r.value[REG_RA])};
		int more = step(f, frame.lib, i > 0, &r, &frame.is_signal);
		int ret = cb(&frame, ctx);

		if (ret || more == 0)
			return ret;
		if (more < 0)
			break;
	}
	return guess(f, r.value[REG_RSP], cb, ctx);
}

static void warm(struct frames *f, const struct target_lib *lib, uint64_t pc)
{
	Dwarf_CFI *cfi = lib ? cfi_of(f, lib) : NULL;
	auto_free Dwarf_Frame *frame = NULL;

	/* Reads the search table, so that its pages are in memory. */
	if (cfi && dwarf_cfi_addrframe(cfi, pc - lib->base, &frame) < 0)
		frame = NULL;
}

void frames__warm(struct frames *f, uint64_t rsp)
{
	for (size_t i = 0; i < f->target->lib_cnt; i++) {
		const struct target_lib *lib = &f->target->libs[i];
		const char *slash = strrchr(lib->path, '/');

		if (libc_calls__is_libc(slash ? slash + 1 : lib->path) ||
		    (f->target->exe && strcmp(lib->path, f->target->exe) == 0))
			warm(f, lib, lib->base);
	}
	if (!rsp || read_stack(f, rsp) < 0)
		return;
	for (size_t i = 0; i < f->stack_len / 8; i++)
		warm(f, lib_at(f, f->stack[i]), f->stack[i]);
}
