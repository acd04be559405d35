// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: finds an instruction inside a function that each normal return passes once, and that the
 * kernel emulates. A probe there costs a tenth of one on the return instruction. An exception does
 * not pass it, so it is not harmed, as it is by a return probe.
 */
#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "attach/flow_graph.h"
#include "attach/site.h"
#include "common/util.h"

#define MAX_BYTES 16384
#define NOWHERE	  FLOW_NOWHERE
#define TAIL_CALL 2 /* counts as so many calls */

enum flow {
	FLOW_NEXT = 0,
	FLOW_BRANCH, /* to its target, or to the next instruction */
	FLOW_JUMP,
	FLOW_EXIT, /* a return, or a jump out of the function */
	FLOW_STOP, /* traps */
};

struct insn {
	uint16_t off;
	uint16_t target; /* BRANCH, JUMP: index of the target; NOWHERE: the branch leaves the
			    function */
	uint8_t flow;	 /* enum flow */
	bool is_call;
	bool is_tail_call; /* a jump that may leave the function */
	bool is_padding;
	bool is_handler; /* not reachable from the entry, but by an exception */
	bool seen;	 /* the current walk has seen it */
	bool is_avoided; /* some way of the kind that was asked for last goes around it */
	bool is_in_loop;
};

struct function {
	struct insn *insns;
	uint16_t cnt, hot_cnt; /* instructions of the cold part follow the hot ones */
	const struct site_cold *cold;
	const uint8_t *code;
	size_t len;	 /* without the cold part */
	uint16_t *at;	 /* by offset: index of the instruction, or NOWHERE */
	uint16_t *stack; /* stack of a walk */
	struct flow_node *nodes;
	uint16_t *dominators;
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

/* The target of a branch, as distance from code[0]. INT64_MIN if it is unknown. */
static int64_t branch_target(const ZydisDecodedInstruction *d, size_t at)
{
	if (!d->raw.imm[0].size || !d->raw.imm[0].is_relative)
		return INT64_MIN;
	return (int64_t)(at + d->length) + d->raw.imm[0].value.s;
}

/* Offset in both parts, the cold after the hot one. NOWHERE: outside of both. */
static uint16_t place_of(const struct function *f, int64_t distance)
{
	if (distance >= 0 && distance < (int64_t)f->len)
		return (uint16_t)distance;
	distance -= f->cold->distance;
	return f->cold->code && distance >= 0 && distance < (int64_t)f->cold->len
		       ? (uint16_t)((int64_t)f->len + distance)
		       : NOWHERE;
}

/* `at` is the instruction's offset in its part, which begins at offset `part` of both parts
 * together. */
static int describe(struct function *f, const ZydisDecodedInstruction *d, size_t at, size_t part)
{
	struct insn *in = &f->insns[f->cnt];
	int64_t target = branch_target(d, at);

	*in = (struct insn){.off = (uint16_t)(part + at), .flow = flow_of(d), .target = NOWHERE};
	in->is_call = d->meta.category == ZYDIS_CATEGORY_CALL;
	in->is_padding = d->mnemonic == ZYDIS_MNEMONIC_NOP || d->mnemonic == ZYDIS_MNEMONIC_XCHG ||
			 d->mnemonic == ZYDIS_MNEMONIC_INT3;
	if (in->flow != FLOW_BRANCH && in->flow != FLOW_JUMP)
		return 0;
	if (target == INT64_MIN)
		return -EINVAL; /* a jump table */
	in->target = place_of(f, target + (part ? f->cold->distance : 0));
	if (in->target != NOWHERE)
		return 0;
	if (in->flow == FLOW_JUMP) {
		in->flow = FLOW_EXIT;
		in->is_tail_call = true;
	}
	return 0;
}

static int decode_part(struct function *f, const uint8_t *code, size_t len, size_t part)
{
	ZydisDecodedInstruction d;
	ZydisDecoder decoder;
	int err = 0;

	if (ZYAN_FAILED(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return -EINVAL;
	for (size_t at = 0; at < len && !err; at += d.length) {
		if (ZYAN_FAILED(
			    ZydisDecoderDecodeInstruction(&decoder, NULL, code + at, len - at, &d)))
			return -EINVAL;
		f->at[part + at] = f->cnt;
		err = describe(f, &d, at, part);
		f->cnt++;
	}
	return err;
}

static int decode(struct function *f)
{
	int err;

	for (size_t at = 0; at < f->len + f->cold->len; at++)
		f->at[at] = NOWHERE;
	err = decode_part(f, f->code, f->len, 0);
	f->hot_cnt = f->cnt;
	if (!err && f->cold->code)
		err = decode_part(f, f->cold->code, f->cold->len, f->len);
	for (uint16_t i = 0; i < f->cnt && !err; i++) {
		struct insn *in = &f->insns[i];

		if (in->target == NOWHERE)
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

	if (in->target != NOWHERE)
		push(f, depth, in->target);
	if ((in->flow == FLOW_BRANCH || in->flow == FLOW_NEXT) && i + 1 != f->hot_cnt)
		push(f, depth, (uint16_t)(i + 1));
}

static bool is_exit(const struct insn *in)
{
	return in->flow == FLOW_EXIT || (in->flow == FLOW_BRANCH && in->target == NOWHERE);
}

/* Continues from the instructions on the stack. True if that leads to an exit. */
static bool walk_on(struct function *f, size_t depth)
{
	bool leaves = false;

	while (depth) {
		uint16_t i = f->stack[--depth];

		leaves |= is_exit(&f->insns[i]);
		push_successors(f, &depth, i);
	}
	return leaves;
}

static void forget_seen(struct function *f)
{
	for (uint16_t i = 0; i < f->cnt; i++)
		f->insns[i].seen = false;
}

/* Marks as seen what can be reached after `from` (NOWHERE: from the entry). True if an exit can be
 * reached. */
static bool walk(struct function *f, uint16_t from)
{
	size_t depth = 0;

	forget_seen(f);
	if (from == NOWHERE)
		push(f, &depth, 0);
	else
		push_successors(f, &depth, from);
	return walk_on(f, depth);
}

static void mark_handlers(struct function *f)
{
	walk(f, NOWHERE);
	for (uint16_t i = 0; i < f->cnt; i++)
		f->insns[i].is_handler = !f->insns[i].seen && !f->insns[i].is_padding;
}

/* A call may leave all of the function's work to another function. */
static unsigned int calls_seen(const struct function *f)
{
	unsigned int cnt = 0;

	for (uint16_t i = 0; i < f->cnt; i++)
		if (f->insns[i].seen)
			cnt += f->insns[i].is_call + TAIL_CALL * f->insns[i].is_tail_call;
	return cnt;
}

/* Is the function's work, which is calls, done before this instruction? */
static bool is_near_the_end(struct function *f, uint16_t i, unsigned int max_calls)
{
	unsigned int all, behind;

	walk(f, NOWHERE);
	all = calls_seen(f);
	walk(f, i);
	behind = calls_seen(f) + f->insns[i].is_call;
	return behind < all && behind <= max_calls;
}

static void link_nodes(struct function *f)
{
	for (uint16_t i = 0; i < f->cnt; i++) {
		const struct insn *in = &f->insns[i];
		const bool goes_on = (in->flow == FLOW_BRANCH || in->flow == FLOW_NEXT) &&
				     i + 1 != f->hot_cnt && i + 1 != f->cnt;

		f->nodes[i].next[0] = in->target;
		f->nodes[i].next[1] = goes_on ? (uint16_t)(i + 1) : NOWHERE;
	}
}

/* Keeps those that every way from the entry to an exit passes. */
static int passes(struct function *f)
{
	for (uint16_t i = 0; i < f->cnt; i++) {
		f->nodes[i].is_start = !i;
		f->nodes[i].is_end = is_exit(&f->insns[i]);
	}
	return flow_graph__dominators(f->nodes, f->cnt, f->dominators);
}

/* May the function return after it caught an exception, and without passing an instruction? A
 * handler that jumps out of the known code goes on unwinding, as most do. */
static int mark_avoided(struct function *f)
{
	int cnt;

	for (uint16_t i = 0; i < f->cnt; i++) {
		const struct insn *in = &f->insns[i];

		f->nodes[i].is_start = in->is_handler;
		f->nodes[i].is_end = in->flow == FLOW_EXIT && !in->is_tail_call;
	}
	cnt = flow_graph__dominators(f->nodes, f->cnt, f->dominators);
	if (cnt < 0)
		return cnt == -ENOENT ? 0 : cnt;
	for (uint16_t i = 0; i < f->cnt; i++)
		f->insns[i].is_avoided = true;
	for (int i = 0; i < cnt; i++)
		f->insns[f->dominators[i]].is_avoided = false;
	return 0;
}

/* Does the kernel emulate the instruction, and does it stay in the function? */
static bool may_carry(const struct function *f, uint16_t i)
{
	const struct insn *in = &f->insns[i];
	size_t insn_len;

	return i < f->hot_cnt && !in->is_tail_call &&
	       site__classify(f->code + in->off, f->len - in->off, &insn_len) == SITE_EMULATED;
}

/* For dominators: those in a loop with this one need no walk of their own. */
static bool is_in_loop(struct function *f, uint16_t at, int cnt)
{
	const uint16_t i = f->dominators[at];

	if (f->insns[i].is_in_loop)
		return true;
	walk(f, i);
	if (!f->insns[i].seen)
		return false;
	for (int other = 0; other < cnt; other++)
		f->insns[f->dominators[other]].is_in_loop |= f->insns[f->dominators[other]].seen;
	return true;
}

static int last_pass(struct function *f, unsigned int max_calls)
{
	int err, cnt;

	link_nodes(f);
	mark_handlers(f);
	err = mark_avoided(f);
	if (err)
		return err;
	cnt = passes(f);
	for (int at = cnt - 1; at >= 0; at--) {
		const uint16_t i = f->dominators[at];

		if (f->insns[i].is_avoided || !may_carry(f, i) || is_in_loop(f, (uint16_t)at, cnt))
			continue;
		return is_near_the_end(f, i, max_calls) ? f->insns[i].off : -ENOENT;
	}
	return cnt < 0 ? cnt : -ENOENT;
}

int site__pass(const uint8_t *code, size_t len, const struct site_cold *cold,
	       unsigned int max_calls)
{
	static const struct site_cold none;
	struct function f = {.code = code, .len = len, .cold = cold ? cold : &none};
	const size_t whole = len + f.cold->len;
	int off = -ENOMEM;

	if (!len || len > MAX_BYTES || f.cold->len > MAX_BYTES)
		return -E2BIG;
	f.insns = calloc(whole, sizeof(*f.insns));
	f.at = calloc(whole, sizeof(*f.at));
	f.stack = calloc(whole, sizeof(*f.stack));
	f.nodes = calloc(whole, sizeof(*f.nodes));
	f.dominators = calloc(whole, sizeof(*f.dominators));
	if (f.insns && f.at && f.stack && f.nodes && f.dominators) {
		off = decode(&f);
		if (!off)
			off = last_pass(&f, max_calls);
	}
	free(f.insns);
	free(f.at);
	free(f.stack);
	free(f.nodes);
	free(f.dominators);
	return off;
}

static bool is_among(int64_t target, const int64_t *targets, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (targets[i] == target)
			return true;
	return false;
}

size_t site__jumps_outside(const uint8_t *code, size_t len, int64_t *targets, size_t max)
{
	ZydisDecodedInstruction d;
	ZydisDecoder decoder;
	size_t cnt = 0;

	if (ZYAN_FAILED(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return 0;
	for (size_t at = 0;
	     at < len && cnt < max &&
	     ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code + at, len - at, &d));
	     at += d.length) {
		const enum flow flow = flow_of(&d);
		const int64_t target = branch_target(&d, at);

		if ((flow == FLOW_BRANCH || flow == FLOW_JUMP) && target != INT64_MIN &&
		    (target < 0 || target >= (int64_t)len) && !is_among(target, targets, cnt))
			targets[cnt++] = target;
	}
	return cnt;
}
