// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: an instruction inside a function that each normal return passes, once, and that the
 * kernel emulates: a probe there costs a tenth of one on the return instruction itself, and an
 * exception does not meet it as it would a return probe.
 */
#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "attach/site.h"
#include "common/util.h"

#define MAX_BYTES	 16384
#define MAX_CALLS_BEHIND 2 /* destructors; more is work of the function's own */
#define NOWHERE		 UINT16_MAX

enum flow {
	FLOW_NEXT = 0,
	FLOW_BRANCH, /* to its target or on */
	FLOW_JUMP,
	FLOW_EXIT, /* a return, or a jump out of the function */
	FLOW_STOP, /* traps */
};

struct insn {
	uint16_t off;
	uint16_t target; /* BRANCH, JUMP: index of the instruction */
	uint8_t flow;	 /* enum flow */
	bool may_carry;	 /* the kernel emulates it and it does not leave the function */
	bool is_call;
	bool seen; /* by the walk in progress */
};

struct function {
	struct insn *insns;
	uint16_t cnt;
	uint16_t *at;	 /* index of the instruction at an offset, NOWHERE */
	uint16_t *stack; /* of a walk */
};

static enum flow flow_of(const ZydisDecodedInstruction *d)
{
	switch (d->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return FLOW_BRANCH;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return FLOW_JUMP;
	case ZYDIS_CATEGORY_RET:
		return FLOW_EXIT;
	case ZYDIS_CATEGORY_INTERRUPT:
		return FLOW_STOP;
	default:
		return d->mnemonic == ZYDIS_MNEMONIC_UD2 || d->mnemonic == ZYDIS_MNEMONIC_HLT
			       ? FLOW_STOP
			       : FLOW_NEXT;
	}
}

/* Byte offset that a branch leads to, -1 if it is not known. */
static int64_t branch_target(const ZydisDecodedInstruction *d, size_t at)
{
	if (!d->raw.imm[0].size || !d->raw.imm[0].is_relative)
		return -1;
	return (int64_t)(at + d->length) + d->raw.imm[0].value.s;
}

static int describe(struct function *f, const ZydisDecodedInstruction *d, const uint8_t *code,
		    size_t at, size_t len)
{
	struct insn *in = &f->insns[f->cnt];
	int64_t target = branch_target(d, at);
	size_t insn_len;

	*in = (struct insn){.off = (uint16_t)at, .flow = flow_of(d)};
	in->is_call = d->meta.category == ZYDIS_CATEGORY_CALL;
	in->may_carry = site__classify(code + at, len - at, &insn_len) == SITE_EMULATED;
	if (in->flow != FLOW_BRANCH && in->flow != FLOW_JUMP)
		return 0;
	if (target < 0 && !d->raw.imm[0].size)
		return -EINVAL; /* a table of jumps */
	if (target >= 0 && target < (int64_t)len) {
		in->target = (uint16_t)target; /* an offset yet */
		return 0;
	}
	/* A branch that may leave the function is an exit that has no instruction of its own. */
	if (in->flow == FLOW_BRANCH)
		return -EINVAL;
	in->flow = FLOW_EXIT;
	in->may_carry = false;
	return 0;
}

static int decode(struct function *f, const uint8_t *code, size_t len)
{
	ZydisDecodedInstruction d;
	ZydisDecoder decoder;
	int err = 0;

	if (ZYAN_FAILED(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return -EINVAL;
	for (size_t at = 0; at < len; at++)
		f->at[at] = NOWHERE;
	for (size_t at = 0; at < len && !err; at += d.length) {
		if (ZYAN_FAILED(
			    ZydisDecoderDecodeInstruction(&decoder, NULL, code + at, len - at, &d)))
			return -EINVAL;
		f->at[at] = f->cnt;
		err = describe(f, &d, code, at, len);
		f->cnt++;
	}
	for (uint16_t i = 0; i < f->cnt && !err; i++) {
		struct insn *in = &f->insns[i];

		if (in->flow != FLOW_BRANCH && in->flow != FLOW_JUMP)
			continue;
		in->target = f->at[in->target];
		err = in->target == NOWHERE ? -EINVAL : 0;
	}
	return err;
}

static void push(struct function *f, size_t *depth, uint16_t i)
{
	if (i < f->cnt && !f->insns[i].seen) {
		f->insns[i].seen = true;
		f->stack[(*depth)++] = i;
	}
}

static void push_successors(struct function *f, size_t *depth, uint16_t i)
{
	const struct insn *in = &f->insns[i];

	if (in->flow == FLOW_BRANCH || in->flow == FLOW_JUMP)
		push(f, depth, in->target);
	if (in->flow == FLOW_BRANCH || in->flow == FLOW_NEXT)
		push(f, depth, (uint16_t)(i + 1));
}

/* Marks as seen what can be reached from behind `from` (from the entry: NOWHERE), not going on at
 * `around`. True if an exit is. */
static bool walk(struct function *f, uint16_t from, uint16_t around)
{
	bool exits = false;
	size_t depth = 0;

	for (uint16_t i = 0; i < f->cnt; i++)
		f->insns[i].seen = false;
	if (from == NOWHERE)
		push(f, &depth, 0);
	else
		push_successors(f, &depth, from);
	while (depth) {
		uint16_t i = f->stack[--depth];

		exits |= f->insns[i].flow == FLOW_EXIT;
		if (i != around)
			push_successors(f, &depth, i);
	}
	return exits;
}

static unsigned int calls_seen(const struct function *f)
{
	unsigned int cnt = 0;

	for (uint16_t i = 0; i < f->cnt; i++)
		cnt += f->insns[i].seen && f->insns[i].is_call;
	return cnt;
}

/* The work, which is calls, is done before it. */
static bool is_near_the_end(struct function *f, uint16_t i)
{
	unsigned int all, behind;

	walk(f, NOWHERE, NOWHERE);
	all = calls_seen(f);
	walk(f, i, NOWHERE);
	behind = calls_seen(f);
	return behind < all && behind <= MAX_CALLS_BEHIND;
}

/* Those that every way from the entry to an exit passes follow one another: the last. */
static int last_pass(struct function *f)
{
	uint16_t best = NOWHERE;

	if (!walk(f, NOWHERE, NOWHERE))
		return -ENOENT;
	for (uint16_t i = 0; i < f->cnt; i++) {
		if (!f->insns[i].may_carry || walk(f, NOWHERE, i))
			continue;
		walk(f, i, NOWHERE);
		if (f->insns[i].seen) /* in a loop */
			continue;
		if (best == NOWHERE) {
			best = i;
			continue;
		}
		walk(f, best, NOWHERE);
		if (f->insns[i].seen)
			best = i;
	}
	return best == NOWHERE || !is_near_the_end(f, best) ? -ENOENT : f->insns[best].off;
}

int site__pass(const uint8_t *code, size_t len)
{
	struct function f = {0};
	int off = -ENOMEM;

	if (!len || len > MAX_BYTES)
		return -E2BIG;
	f.insns = calloc(len, sizeof(*f.insns));
	f.at = calloc(len, sizeof(*f.at));
	f.stack = calloc(len, sizeof(*f.stack));
	if (f.insns && f.at && f.stack) {
		off = decode(&f, code, len);
		if (!off)
			off = last_pass(&f);
	}
	free(f.insns);
	free(f.at);
	free(f.stack);
	return off;
}
