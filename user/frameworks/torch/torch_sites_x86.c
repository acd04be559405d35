// SPDX-License-Identifier: BSD-2-Clause
#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include "common/util.h"
#include "frameworks/torch/torch_sites.h"

/*
 * The shape that compilers give at::_ops::X::call and Dispatcher::callBoxed:
 *
 * 	call	getStepCallbacksUnlessEmpty	; optional<StepCallbacks> on the stack
 * 	cmpb	$0, FLAG(%rbp)			; is a profiler attached?
 * 	jne	slow_path
 * 	call	*kernel
 * 	cmpb	$0, FLAG(%rbp)			; destructor: anything to free?
 * 	je	out				; <- the end site
 *
 * The flag is the first compared stack byte whose comparison stands behind a call and that is
 * compared again later. The jumps behind the later comparisons are the candidates, which the
 * control flow must prove.
 */
enum {
	MAX_FUNCTION_BYTES = 32 << 10, /* the largest of torch 2.15 has 3.4 KiB */
	MAX_BEFORE_FLAG = 8,	       /* moves allowed between call and comparison, and
					  comparison and jump */
};

enum insn_kind {
	INSN_OTHER = 0,
	INSN_MOVE, /* does not change the flags */
	INSN_CALL,
	INSN_JCC,
	INSN_JMP, /* without a target: out of the function, or to an unknown place */
	INSN_RET,
	INSN_STOP,	/* ud2, hlt, int3 */
	INSN_TEST_FLAG, /* cmpb $0, disp(%rbp or %rsp) */
};

struct insn {
	uint32_t off;
	uint8_t len;
	uint8_t kind;	    /* enum insn_kind */
	bool is_end;	    /* chosen as an end site */
	bool seen;	    /* the current walk has seen it */
	bool is_joined;	    /* a jump leads here, or it is padding */
	int32_t target;	    /* offset in the function, -1 if it is outside or unknown */
	int64_t frame_byte; /* TEST_FLAG: which stack byte, and relative to which register */
};

struct torch_sites {
	ZydisDecoder decoder;
	size_t cnt;
	struct insn insns[MAX_FUNCTION_BYTES];
	uint16_t at[MAX_FUNCTION_BYTES]; /* by offset: index of the instruction, + 1; 0: none */
	uint16_t stack[MAX_FUNCTION_BYTES];
};

struct torch_sites *torch_sites__new(void)
{
	struct torch_sites *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	if (ZYAN_FAILED(ZydisDecoderInit(&s->decoder, ZYDIS_MACHINE_MODE_LONG_64,
					 ZYDIS_STACK_WIDTH_64)) ||
	    ZYAN_FAILED(
		    ZydisDecoderEnableMode(&s->decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE))) {
		free(s);
		return NULL;
	}
	return s;
}

void torch_sites__free(struct torch_sites *s)
{
	free(s);
}

static uint8_t kind_of_default_map(const ZydisDecodedInstruction *i)
{
	if (i->opcode >= 0x70 && i->opcode <= 0x7f)
		return INSN_JCC;
	switch (i->opcode) {
	case 0xe8:
		return INSN_CALL;
	case 0xe9:
	case 0xeb:
		return INSN_JMP;
	case 0xff:
		return i->raw.modrm.reg == 2   ? INSN_CALL
		       : i->raw.modrm.reg == 4 ? INSN_JMP
					       : INSN_OTHER;
	case 0xc2:
	case 0xc3:
		return INSN_RET;
	case 0xcc:
	case 0xf4:
		return INSN_STOP;
	case 0x88 ... 0x8b:
	case 0x8d:
	case 0xb8 ... 0xbf:
	case 0xc6:
	case 0xc7:
		return INSN_MOVE;
	default:
		return INSN_OTHER;
	}
}

static uint8_t kind_of_0f_map(const ZydisDecodedInstruction *i)
{
	if (i->opcode >= 0x80 && i->opcode <= 0x8f)
		return INSN_JCC;
	switch (i->opcode) {
	case 0x0b:
		return INSN_STOP;
	case 0x10: /* movups and similar */
	case 0x11:
	case 0x28:
	case 0x29:
	case 0x6e:
	case 0x6f:
	case 0x7e:
	case 0x7f:
	case 0xb6: /* movzx, movsx */
	case 0xb7:
	case 0xbe:
	case 0xbf:
	case 0xd6:
		return INSN_MOVE;
	default:
		return INSN_OTHER;
	}
}

/* cmpb $0, disp(%rbp) or disp(%rsp): opcode 80 /7 with a zero immediate. */
static bool is_flag_test(const ZydisDecodedInstruction *i)
{
	if (i->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT || i->opcode != 0x80 ||
	    i->raw.modrm.reg != 7 || i->raw.imm[0].value.u || i->raw.rex.B || i->raw.rex.X)
		return false;
	if (i->raw.modrm.mod == 3)
		return false;
	if (i->raw.modrm.rm == 4)
		return i->raw.sib.base == 4 && i->raw.sib.index == 4;
	return i->raw.modrm.rm == 5 && i->raw.modrm.mod; /* without displacement this encoding
							    means %rip */
}

static void describe(struct insn *insn, const ZydisDecodedInstruction *i, uint32_t off, size_t len)
{
	int64_t target;

	*insn = (struct insn){.off = off, .len = i->length, .target = -1};
	if (i->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
		insn->kind = kind_of_default_map(i);
	else if (i->opcode_map == ZYDIS_OPCODE_MAP_0F)
		insn->kind = kind_of_0f_map(i);
	if (is_flag_test(i)) {
		insn->kind = INSN_TEST_FLAG;
		insn->frame_byte = i->raw.disp.value * 2 + (i->raw.modrm.rm == 4);
	}
	if (insn->kind != INSN_JCC && insn->kind != INSN_JMP)
		return;
	if (!i->raw.imm[0].size || !i->raw.imm[0].is_relative)
		return;
	target = (int64_t)off + i->length + i->raw.imm[0].value.s;
	if (target >= 0 && target < (int64_t)len)
		insn->target = (int32_t)target;
}

static int decode(struct torch_sites *s, const uint8_t *code, size_t len)
{
	ZydisDecodedInstruction i;
	uint32_t off = 0;

	if (len > MAX_FUNCTION_BYTES)
		return -E2BIG;
	memset(s->at, 0, len * sizeof(s->at[0]));
	for (s->cnt = 0; off < len; off += i.length) {
		if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&s->decoder, NULL, code + off,
							      len - off, &i)))
			return -ENOENT;
		describe(&s->insns[s->cnt], &i, off, len);
		s->insns[s->cnt].is_joined =
			i.opcode_map == ZYDIS_OPCODE_MAP_0F && i.opcode == 0x1f;
		s->at[off] = (uint16_t)++s->cnt;
	}
	for (size_t k = 0; k < s->cnt; k++)
		if (s->insns[k].target >= 0 && s->at[s->insns[k].target])
			s->insns[s->at[s->insns[k].target] - 1].is_joined = true;
	return 0;
}

/* The conditional jump on the comparison insns[i]. Moves may be between. -1 if there is none. */
static int jump_behind(const struct torch_sites *s, size_t i)
{
	for (size_t j = i + 1; j < s->cnt && j <= i + 1 + MAX_BEFORE_FLAG; j++) {
		if (s->insns[j].kind == INSN_JCC)
			return (int)j;
		if (s->insns[j].kind != INSN_MOVE)
			return -1;
	}
	return -1;
}

/* Index of the call before insns[i], with only moves between. -1: none. */
static int call_before(const struct torch_sites *s, size_t i)
{
	for (size_t j = i; j-- > 0 && j + 1 + MAX_BEFORE_FLAG >= i;) {
		if (s->insns[j].kind == INSN_CALL)
			return (int)j;
		if (s->insns[j].kind != INSN_MOVE)
			return -1;
	}
	return -1;
}

/* Marks as candidates the jumps after later tests of the stack byte that insns[first] tests. */
static size_t mark_ends(struct torch_sites *s, size_t first)
{
	size_t cnt = 0;

	for (size_t i = first + 1; i < s->cnt; i++) {
		int jump;

		if (s->insns[i].kind != INSN_TEST_FLAG ||
		    s->insns[i].frame_byte != s->insns[first].frame_byte)
			continue;
		jump = jump_behind(s, i);
		if (jump < 0)
			return 0;
		s->insns[jump].is_end = true;
		cnt++;
	}
	return cnt;
}

struct walk {
	bool stop_at_ends;
	bool stop_at_calls;
	bool calls_may_not_return; /* the code after a call need not be reached from the call */
	int stop_at;		   /* instruction index, -1 none */
	bool met_ret, met_end;
};

static void push_insn(struct torch_sites *s, size_t *depth, size_t idx)
{
	if (idx < s->cnt && !s->insns[idx].seen) {
		s->insns[idx].seen = true;
		s->stack[(*depth)++] = (uint16_t)idx;
	}
}

/* A jump that leaves the function ends the walk: it leads to the cold part, which throws. */
static void push_successors(struct torch_sites *s, size_t *depth, const struct insn *i, size_t idx)
{
	if ((i->kind == INSN_JCC || i->kind == INSN_JMP) && i->target >= 0 && s->at[i->target])
		push_insn(s, depth, s->at[i->target] - 1u);
	if (i->kind != INSN_JMP && i->kind != INSN_RET && i->kind != INSN_STOP)
		push_insn(s, depth, idx + 1);
}

/* Does the walk end at this call? A call of a function that throws looks like any other. But it is
 * the last instruction before padding, or before code that a jump reaches. */
static bool stops_at_call(const struct torch_sites *s, const struct walk *w, size_t idx)
{
	return w->stop_at_calls ||
	       (w->calls_may_not_return && idx + 1 < s->cnt && s->insns[idx + 1].is_joined);
}

/* Follows the control flow after `from` (-1: from the entry). */
static void walk__run(struct torch_sites *s, struct walk *w, int from)
{
	size_t depth = 0;

	for (size_t i = 0; i < s->cnt; i++)
		s->insns[i].seen = false;
	if (from < 0)
		push_insn(s, &depth, 0);
	else
		push_successors(s, &depth, &s->insns[from], (size_t)from);
	while (depth) {
		size_t idx = s->stack[--depth];
		const struct insn *i = &s->insns[idx];

		w->met_ret |= i->kind == INSN_RET;
		w->met_end |= i->is_end;
		if ((i->is_end && w->stop_at_ends) || (int)idx == w->stop_at ||
		    (i->kind == INSN_CALL && stops_at_call(s, w, idx)))
			continue;
		push_successors(s, &depth, i, idx);
	}
}

/* Every return passes exactly one site, and each way to a site passes a call after the first test
 * of the flag, that is the kernel. */
static bool proven(struct torch_sites *s, size_t flag_test)
{
	struct walk whole = {.stop_at_ends = true, .stop_at = -1};
	struct walk past_kernel = {.calls_may_not_return = true, .stop_at = (int)flag_test};
	struct walk before_call = {.stop_at_calls = true, .stop_at = -1};

	walk__run(s, &whole, -1);
	if (whole.met_ret || !whole.met_end)
		return false;
	walk__run(s, &past_kernel, -1);
	if (past_kernel.met_end)
		return false;
	walk__run(s, &before_call, (int)flag_test);
	if (before_call.met_end)
		return false;
	for (size_t i = 0; i < s->cnt; i++) {
		struct walk after = {.stop_at_ends = true, .stop_at = -1};

		if (!s->insns[i].is_end)
			continue;
		walk__run(s, &after, (int)i);
		if (after.met_end)
			return false;
	}
	return true;
}

/* A candidate on no way to a return is in an exception handler, whose code may seem to continue
 * into other handlers. Returns how many candidates are left. */
static size_t drop_handlers(struct torch_sites *s)
{
	size_t cnt = 0;

	for (size_t i = 0; i < s->cnt; i++) {
		struct walk after = {.calls_may_not_return = true, .stop_at = -1};

		if (!s->insns[i].is_end)
			continue;
		walk__run(s, &after, (int)i);
		s->insns[i].is_end = after.met_ret;
		cnt += after.met_ret;
	}
	return cnt;
}

static int collect(const struct torch_sites *s, const uint8_t *code, uint32_t *offsets, size_t max)
{
	size_t cnt = 0;

	for (size_t i = 0; i < s->cnt; i++) {
		const struct insn *insn = &s->insns[i];

		if (!insn->is_end)
			continue;
		/* the kernel emulates only the two plain encodings */
		if (insn->len != 2 && !(insn->len == 6 && code[insn->off] == 0x0f))
			return -EINVAL;
		if (cnt == max)
			return -E2BIG;
		offsets[cnt++] = insn->off;
	}
	return (int)cnt;
}

int torch_sites__find(struct torch_sites *s, const uint8_t *code, size_t len, uint32_t *offsets,
		      size_t max)
{
	int err = decode(s, code, len);

	if (err)
		return err;
	for (size_t i = 0; i < s->cnt; i++) {
		if (s->insns[i].kind != INSN_TEST_FLAG || call_before(s, i) < 0 ||
		    jump_behind(s, i) < 0)
			continue;
		if (!mark_ends(s, i))
			continue;
		if (!proven(s, i) && (!drop_handlers(s) || !proven(s, i)))
			return -EINVAL;
		return collect(s, code, offsets, max);
	}
	return -ENOENT;
}
