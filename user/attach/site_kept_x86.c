// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: what a caller keeps in a register during a call. The called function, or a probe on it,
 * finds the value there, because functions preserve these registers.
 */
#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "attach/site.h"
#include "common/util.h"

#define MAX_INSNS   128	 /* instructions looked at in total */
#define MAX_REACH   2048 /* bytes from the call, forwards and backwards */
#define NO_REGISTER (-1)

/* A way through the code, up to the current instruction. */
struct way {
	int64_t at;
	uint16_t written; /* registers written since the call, a bit each */
	int8_t holder;	  /* the register that rsi was loaded from; NO_REGISTER: from none, or not
			     yet */
};

struct walk {
	ZydisDecoder decoder;
	const uint8_t *code;
	size_t len, from;
	int64_t callee;
	struct way ways[MAX_INSNS];
	size_t way_cnt;
	int64_t seen[MAX_INSNS];
	size_t seen_cnt;
};

struct insn {
	ZydisDecodedInstruction decoded;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static int number_of(ZydisRegister reg)
{
	reg = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
	if (reg < ZYDIS_REGISTER_RAX || reg > ZYDIS_REGISTER_R15)
		return NO_REGISTER;
	return (int)reg - ZYDIS_REGISTER_RAX;
}

static bool is_kept(int reg)
{
	return reg == 3 || reg == 5 || reg >= 12;
}

static uint16_t registers_written(const struct insn *in)
{
	uint16_t written = 0;

	for (size_t i = 0; i < in->decoded.operand_count; i++) {
		const ZydisDecodedOperand *op = &in->operands[i];
		int reg = op->type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(op->reg.value)
								  : NO_REGISTER;

		if (reg != NO_REGISTER && (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			written |= (uint16_t)(1u << reg);
	}
	return written;
}

/* mov (REGISTER), %rsi */
static int loads_rsi(const struct insn *in)
{
	const ZydisDecodedOperand *to = &in->operands[0], *from = &in->operands[1];

	if (in->decoded.mnemonic != ZYDIS_MNEMONIC_MOV || to->type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    to->reg.value != ZYDIS_REGISTER_RSI || from->type != ZYDIS_OPERAND_TYPE_MEMORY ||
	    from->mem.index != ZYDIS_REGISTER_NONE || from->mem.disp.value)
		return NO_REGISTER;
	return number_of(from->mem.base);
}

static void add_way(struct walk *w, const struct way *way, int64_t at)
{
	if (w->way_cnt == MAX_INSNS || at < 0 || (uint64_t)at >= w->len ||
	    llabs(at - (int64_t)w->from) > MAX_REACH)
		return;
	w->ways[w->way_cnt] = *way;
	w->ways[w->way_cnt++].at = at;
}

static bool is_new(struct walk *w, int64_t at)
{
	for (size_t i = 0; i < w->seen_cnt; i++)
		if (w->seen[i] == at)
			return false;
	if (w->seen_cnt == MAX_INSNS)
		return false;
	w->seen[w->seen_cnt++] = at;
	return true;
}

/* Goes one instruction further. True: it is the call that we look for. */
static bool go_on(struct walk *w, struct way *way, const struct insn *in)
{
	const ZydisDecodedInstruction *d = &in->decoded;
	int64_t next = way->at + d->length, target = next + d->raw.imm[0].value.s;
	bool relative = d->raw.imm[0].size && d->raw.imm[0].is_relative;
	uint16_t written = registers_written(in);
	int holder = loads_rsi(in);

	if (written & 1u << 6)
		way->holder = NO_REGISTER;
	if (holder != NO_REGISTER && is_kept(holder) && !(way->written & 1u << holder))
		way->holder = (int8_t)holder;
	way->written |= written;
	switch (d->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		if (relative && target == w->callee)
			return true;
		way->holder = NO_REGISTER;
		break;
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_INTERRUPT:
		return false;
	case ZYDIS_CATEGORY_UNCOND_BR:
		if (relative)
			add_way(w, way, target);
		return false;
	case ZYDIS_CATEGORY_COND_BR:
		add_way(w, way, target);
		break;
	default:
		if (d->mnemonic == ZYDIS_MNEMONIC_UD2)
			return false;
		break;
	}
	add_way(w, way, next);
	return false;
}

int site__kept_argument(const uint8_t *code, size_t len, size_t from, int64_t callee)
{
	struct walk w = {.code = code, .len = len, .from = from, .callee = callee};
	struct way way = {.holder = NO_REGISTER};
	struct insn in;

	if (ZYAN_FAILED(
		    ZydisDecoderInit(&w.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return -ENOENT;
	add_way(&w, &way, (int64_t)from);
	while (w.way_cnt) {
		way = w.ways[--w.way_cnt];
		if (!is_new(&w, way.at) || ZYAN_FAILED(ZydisDecoderDecodeFull(
						   &w.decoder, code + way.at, len - (size_t)way.at,
						   &in.decoded, in.operands)))
			continue;
		if (go_on(&w, &way, &in) && way.holder != NO_REGISTER)
			return way.holder;
	}
	return -ENOENT;
}
