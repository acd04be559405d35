// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: how the kernel treats an instruction under a probe, as in arch/x86/kernel/uprobes.c
 * (branch_setup_xol_ops, push_setup_xol_ops, good_insns_64, is_prefix_bad). tests/unit/site_test.c
 * checks it against the running kernel.
 */
#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include "attach/site.h"
#include "common/util.h"

/* Bytes of straight-line code after an entry that are looked at, and bytes of code that are
 * searched for jumps back into it. */
#define MAX_SLIDE     128
#define MAX_BODY      4096
#define MAX_WHOLE     65536 /* bytes of a function whose exits are searched */
#define MAX_FORWARDER 32

#define INSN_MAX      15 /* bytes */
#define PREFIX_FS     0x64
#define CANARY_OFFSET 0x28 /* relative to fs */

struct insn {
	ZydisDecodedInstruction decoded;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static const ZydisDecoder *decoder_of_thread(void)
{
	static _Thread_local ZydisDecoder decoder;
	static _Thread_local bool ready;

	if (!ready)
		ready = ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
						      ZYDIS_STACK_WIDTH_64));
	return ready ? &decoder : NULL;
}

static bool decode(const uint8_t *code, size_t len, struct insn *in)
{
	const ZydisDecoder *decoder = decoder_of_thread();

	return decoder &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, code, len, &in->decoded, in->operands));
}

/* Decodes an instruction without its operands: what it is, its length, and where it leads to. */
static bool decode_short(const uint8_t *code, size_t len, ZydisDecodedInstruction *d)
{
	const ZydisDecoder *decoder = decoder_of_thread();

	return decoder && ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, NULL, code, len, d));
}

static bool has_prefix(const ZydisDecodedInstruction *d, uint8_t prefix)
{
	for (size_t i = 0; i < d->raw.prefix_count; i++) {
		if (d->raw.prefixes[i].value == prefix)
			return true;
	}
	return false;
}

/* The kernel's is_prefix_bad: es, cs, ss, ds and lock; also a multi-byte nop with cs among them. */
static bool has_bad_prefix(const ZydisDecodedInstruction *d)
{
	static const uint8_t bad[] = {0x26, 0x2e, 0x36, 0x3e, 0xf0};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (has_prefix(d, bad[i]))
			return true;
	}
	return false;
}

/* One-byte opcodes that exist in 64-bit mode but not in good_insns_64: string I/O, traps, port I/O,
 * hlt, cli, sti. */
static bool is_bad_opcode(uint8_t opcode)
{
	return (opcode >= 0x6c && opcode <= 0x6f) || (opcode >= 0xcc && opcode <= 0xcf) ||
	       (opcode >= 0xe4 && opcode <= 0xe7) || (opcode >= 0xec && opcode <= 0xef) ||
	       opcode == 0xf1 || opcode == 0xf4 || opcode == 0xfa || opcode == 0xfb;
}

/* The kernel's insn_masking_exception: a load of ss delays the single-step trap by one
 * instruction. */
static bool loads_ss(const struct insn *in)
{
	for (size_t i = 0; i < in->decoded.operand_count; i++) {
		const ZydisDecodedOperand *op = &in->operands[i];

		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value == ZYDIS_REGISTER_SS &&
		    (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			return true;
	}
	return false;
}

static bool is_relative_branch(const ZydisDecodedInstruction *d)
{
	if (d->opcode_map == ZYDIS_OPCODE_MAP_0F)
		return d->opcode >= 0x80 && d->opcode <= 0x8f;
	return d->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
	       (d->opcode == 0xe8 || d->opcode == 0xe9 || d->opcode == 0xeb ||
		(d->opcode >= 0x70 && d->opcode <= 0x7f));
}

/* A push of a whole register, with no prefix or with the REX prefix 0x41. */
static bool is_plain_push(const ZydisDecodedInstruction *d, const uint8_t *code)
{
	return d->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && d->opcode >= 0x50 &&
	       d->opcode <= 0x57 && (d->length == 1 || (d->length == 2 && code[0] == 0x41));
}

/* 0f 1f 44 00 00, which compilers and linkers leave for patching; emulated since 6.12. */
static bool is_nop5(const ZydisDecodedInstruction *d, const uint8_t *code)
{
	return d->length == 5 && code[0] == 0x0f && code[1] == 0x1f && code[2] == 0x44 &&
	       code[3] == 0 && code[4] == 0;
}

static enum site_class classify_legacy(const struct insn *in, const uint8_t *code)
{
	const ZydisDecodedInstruction *d = &in->decoded;
	bool one_byte = d->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;

	if (has_bad_prefix(d) || loads_ss(in) || (one_byte && is_bad_opcode(d->opcode)))
		return SITE_REFUSED;
	if (is_relative_branch(d))
		return has_prefix(d, 0x66) ? SITE_REFUSED : SITE_EMULATED;
	/* With REX.B it is xchg with r8. The kernel would skip that like a nop. */
	if (one_byte && d->opcode == 0x90)
		return d->raw.rex.B ? SITE_REFUSED : SITE_EMULATED;
	if (is_plain_push(d, code) || is_nop5(d, code))
		return SITE_EMULATED;
	return SITE_STEPPED;
}

static enum site_class classify(const struct insn *in, const uint8_t *code)
{
	/*
	 * For VEX, EVEX and XOP the kernel looks up the opcode byte in its table of legacy one-byte
	 * opcodes. It refuses some. It accepts others, and emulates them as the legacy instruction:
	 * vzeroupper (77) and vmovdqa (7f) as conditional jumps, vpor (eb) as a jump. So none of
	 * them may carry a probe.
	 */
	if (in->decoded.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return SITE_REFUSED;
	return classify_legacy(in, code);
}

const char *site_class__name(enum site_class c)
{
	static const char *const names[] = {[SITE_EMULATED] = "emulated",
					    [SITE_STEPPED] = "single-stepped",
					    [SITE_REFUSED] = "refused",
					    [SITE_UNKNOWN] = "unknown"};

	return (size_t)c < ARRAY_SIZE(names) ? names[c] : names[SITE_UNKNOWN];
}

enum site_class site__classify(const uint8_t *code, size_t len, size_t *insn_len)
{
	struct insn in;

	*insn_len = 0;
	if (!decode(code, len, &in))
		return SITE_UNKNOWN;
	*insn_len = in.decoded.length;
	return classify(&in, code);
}

size_t site__insn_len(const uint8_t *code, size_t len)
{
	ZydisDecodedInstruction d;

	return decode_short(code, len, &d) ? d.length : 0;
}

static unsigned int register_bit(ZydisRegister reg)
{
	switch (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg)) {
	case ZYDIS_REGISTER_RDI:
		return SITE_RDI;
	case ZYDIS_REGISTER_RSI:
		return SITE_RSI;
	case ZYDIS_REGISTER_RDX:
		return SITE_RDX;
	case ZYDIS_REGISTER_RCX:
		return SITE_RCX;
	case ZYDIS_REGISTER_R8:
		return SITE_R8;
	case ZYDIS_REGISTER_R9:
		return SITE_R9;
	case ZYDIS_REGISTER_R10:
		return SITE_R10;
	case ZYDIS_REGISTER_RSP:
		return SITE_RSP;
	case ZYDIS_REGISTER_RAX:
		return SITE_RAX;
	case ZYDIS_REGISTER_RBX:
	case ZYDIS_REGISTER_RBP:
	case ZYDIS_REGISTER_R12:
	case ZYDIS_REGISTER_R13:
	case ZYDIS_REGISTER_R14:
	case ZYDIS_REGISTER_R15:
		return SITE_KEPT;
	default:
		return 0;
	}
}

/* Implicit operands count, too, such as rdx of mul or rdi of a string copy. */
static unsigned int registers_written(const struct insn *in)
{
	unsigned int written = 0;

	for (size_t i = 0; i < in->decoded.operand_count; i++) {
		const ZydisDecodedOperand *op = &in->operands[i];

		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			written |= register_bit(op->reg.value);
	}
	return written;
}

static bool leaves_straight_line(const ZydisDecodedInstruction *d)
{
	switch (d->meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_SYSTEM:
		return true;
	default:
		return d->mnemonic == ZYDIS_MNEMONIC_UD2;
	}
}

/* Follows changes of rsp whose size is in the instruction: push, and sub and add of a constant. */
static bool track_rsp(const struct insn *in, int *shift)
{
	const ZydisDecodedInstruction *d = &in->decoded;
	bool constant = in->operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
			in->operands[1].imm.value.s >= -65536 &&
			in->operands[1].imm.value.s <= 65536;

	if (d->mnemonic == ZYDIS_MNEMONIC_PUSH)
		*shift += d->operand_width / 8;
	else if (d->mnemonic == ZYDIS_MNEMONIC_SUB && constant)
		*shift += (int)in->operands[1].imm.value.s;
	else if (d->mnemonic == ZYDIS_MNEMONIC_ADD && constant)
		*shift -= (int)in->operands[1].imm.value.s;
	else
		return false;
	return true;
}

/* The lowest offset after the entry to which a jump inside the function leads. From there on an
 * instruction may run more than once per call. */
static size_t first_branch_target(const uint8_t *code, size_t len)
{
	size_t first = SIZE_MAX;
	ZydisDecodedInstruction d;

	if (len > MAX_BODY)
		len = MAX_BODY;
	for (size_t at = 0; at < len && decode_short(code + at, len - at, &d); at += d.length) {
		int64_t target;

		if (d.raw.imm[0].size == 0 || !d.raw.imm[0].is_relative)
			continue;
		target = (int64_t)(at + d.length) + d.raw.imm[0].value.s;
		if (target > 0 && (size_t)target < first)
			first = (size_t)target;
	}
	return first;
}

int site__slide(const uint8_t *code, size_t len, unsigned int keep, int *rsp_shift)
{
	size_t limit = 0, at = 0;
	int stand_in = -ENOTSUP, shift = 0;

	*rsp_shift = 0;
	while (at < len && at < MAX_SLIDE) {
		enum site_class class;
		struct insn in;

		if (!decode(code + at, len - at, &in))
			break;
		if (at && !limit)
			limit = first_branch_target(code, len);
		if (at && at >= limit)
			break;
		class = classify(&in, code + at);
		if (class == SITE_EMULATED) {
			*rsp_shift = shift;
			return (int)at;
		}
		if (class == SITE_STEPPED && stand_in < 0) {
			stand_in = (int)at;
			*rsp_shift = shift;
		}
		if (leaves_straight_line(&in.decoded) || (registers_written(&in) & keep))
			break;
		if ((registers_written(&in) & SITE_RSP) && !track_rsp(&in, &shift))
			break;
		at += in.decoded.length;
	}
	return stand_in;
}

int64_t site__jumps_to(const uint8_t *code, size_t len)
{
	const unsigned int arguments =
		SITE_RDI | SITE_RSI | SITE_RDX | SITE_RCX | SITE_R8 | SITE_R9;
	struct insn in;
	int pushes = 0;

	for (size_t at = 0; at < len && at < MAX_FORWARDER; at += in.decoded.length) {
		if (!decode(code + at, len - at, &in))
			return 0;
		if (in.decoded.mnemonic == ZYDIS_MNEMONIC_JMP)
			return in.decoded.raw.imm[0].is_relative && !pushes
				       ? (int64_t)(at + in.decoded.length) +
						 in.decoded.raw.imm[0].value.s
				       : 0;
		if (leaves_straight_line(&in.decoded) || (registers_written(&in) & arguments))
			return 0;
		if (in.decoded.mnemonic == ZYDIS_MNEMONIC_PUSH)
			pushes++;
		else if (in.decoded.mnemonic == ZYDIS_MNEMONIC_POP)
			pushes--;
		else if (registers_written(&in) & SITE_RSP)
			return 0;
	}
	return 0;
}

/* A return or a direct jump out of the function. */
static bool is_exit(const ZydisDecodedInstruction *d, size_t at, size_t len, struct site_exit *exit)
{
	*exit = (struct site_exit){.off = (uint32_t)at};
	if (d->meta.category == ZYDIS_CATEGORY_RET)
		return true;
	if (d->mnemonic != ZYDIS_MNEMONIC_JMP || !d->raw.imm[0].is_relative)
		return false;
	exit->is_jump = true;
	exit->target = (int64_t)(at + d->length) + d->raw.imm[0].value.s;
	return exit->target < 0 || (uint64_t)exit->target >= len;
}

int site__exits(const uint8_t *code, size_t len, struct site_exit *exits, size_t max)
{
	ZydisDecodedInstruction d;
	struct site_exit exit;
	size_t cnt = 0;

	if (len > MAX_WHOLE)
		return -E2BIG;
	for (size_t at = 0; at < len; at += d.length) {
		enum site_class class;
		size_t insn_len;

		if (!decode_short(code + at, len - at, &d))
			return -EINVAL;
		if (!is_exit(&d, at, len, &exit))
			continue;
		class = site__classify(code + at, len - at, &insn_len);
		if (class != SITE_EMULATED && class != SITE_STEPPED)
			return -ENOTSUP;
		if (cnt == max)
			return -E2BIG;
		exits[cnt++] = exit;
	}
	return (int)cnt;
}

/* xor, sub or cmp with the canary at fs:CANARY_OFFSET */
static bool compares_canary(const struct insn *in)
{
	const ZydisDecodedInstruction *d = &in->decoded;

	if (d->mnemonic != ZYDIS_MNEMONIC_XOR && d->mnemonic != ZYDIS_MNEMONIC_SUB &&
	    d->mnemonic != ZYDIS_MNEMONIC_CMP)
		return false;
	for (size_t i = 0; i < d->operand_count_visible; i++) {
		const ZydisDecodedOperand *op = &in->operands[i];

		if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.segment == ZYDIS_REGISTER_FS &&
		    op->mem.disp.value == CANARY_OFFSET)
			return true;
	}
	return false;
}

/* Are there bytes of an operand fs:0x28? Most functions have none. */
static bool may_compare_canary(const uint8_t *code, size_t len)
{
	const uint8_t *fs = code;

	while ((fs = memchr(fs, PREFIX_FS, len - (size_t)(fs - code)))) {
		const size_t left = len - (size_t)(++fs - code);

		if (memchr(fs, CANARY_OFFSET, left < INSN_MAX ? left : INSN_MAX))
			return true;
	}
	return false;
}

size_t site__stack_checks(const uint8_t *code, size_t len, uint32_t *at, size_t max)
{
	bool compared = false, checked = false;
	struct insn in;
	size_t cnt = 0;

	if (!may_compare_canary(code, len))
		return 0;
	for (size_t pos = 0; pos < len; pos += in.decoded.length) {
		if (!decode(code + pos, len - pos, &in))
			return 0;
		if (in.decoded.meta.category == ZYDIS_CATEGORY_RET && !checked)
			return 0;
		if (compared && in.decoded.meta.category == ZYDIS_CATEGORY_COND_BR) {
			if (cnt == max)
				return 0;
			at[cnt++] = (uint32_t)pos;
			checked = true;
			compared = false;
		} else if (leaves_straight_line(&in.decoded)) {
			checked = compared = false;
		}
		compared |= compares_canary(&in);
	}
	return cnt;
}

static bool is_at(const uint8_t *code, size_t len, const uint8_t *bytes, size_t cnt)
{
	return len >= cnt && !memcmp(code, bytes, cnt);
}

/* The compiler may have mixed instructions of the body into the prologue. */
size_t site__aligned_push(const uint8_t *code, size_t len)
{
	static const uint8_t lea[] = {0x4c, 0x8d, 0x54, 0x24, 0x08}; /* 8(%rsp), %r10 */
	static const uint8_t and[] = {0x48, 0x83, 0xe4};	     /* $-ALIGN, %rsp */
	static const uint8_t push[] = {0x41, 0xff, 0x72, 0xf8};	     /* -8(%r10) */
	static const uint8_t push_rbp[] = {0x55};
	bool is_aligned = false, is_pushed = false;
	size_t limit;
	struct insn in;

	if (!is_at(code, len, lea, sizeof(lea)))
		return 0;
	limit = first_branch_target(code, len);
	for (size_t at = sizeof(lea);
	     at < limit && at < MAX_SLIDE && decode(code + at, len - at, &in);
	     at += in.decoded.length) {
		if (is_pushed && is_at(code + at, len - at, push_rbp, sizeof(push_rbp)))
			return at;
		if (!is_aligned && is_at(code + at, len - at, and, sizeof(and)))
			is_aligned = true;
		else if (is_aligned && !is_pushed && is_at(code + at, len - at, push, sizeof(push)))
			is_pushed = true;
		else if (leaves_straight_line(&in.decoded) ||
			 registers_written(&in) & (SITE_RSP | SITE_R10))
			break;
	}
	return 0;
}
