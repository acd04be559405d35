// SPDX-License-Identifier: BSD-2-Clause
#include "attach/thread_local.h"
#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdbool.h>

/* lea index(%rip),%rdi */
static bool is_index(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *op)
{
	return i->mnemonic == ZYDIS_MNEMONIC_LEA && op[0].reg.value == ZYDIS_REGISTER_RDI &&
	       op[1].mem.base == ZYDIS_REGISTER_RIP;
}

/* mov shift(%rax),%rax */
static bool is_result(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *op)
{
	return i->mnemonic == ZYDIS_MNEMONIC_MOV && op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       op[0].reg.value == ZYDIS_REGISTER_RAX && op[1].type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       op[1].mem.base == ZYDIS_REGISTER_RAX && op[1].mem.index == ZYDIS_REGISTER_NONE;
}

int thread_local__use(const uint8_t *code, size_t len, struct thread_local_use *use)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	enum { BEFORE, INDEXED, CALLED } state = BEFORE;
	ZydisDecodedInstruction i;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t at = 0; at < len; at += i.length) {
		if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code + at, len - at, &i, op)))
			return -ENOENT;
		if (state == BEFORE && is_index(&i, op)) {
			use->index = (int64_t)(at + i.length) + op[1].mem.disp.value;
			state = INDEXED;
		} else if (state == INDEXED && i.mnemonic == ZYDIS_MNEMONIC_CALL) {
			state = CALLED;
		} else if (state == CALLED && is_result(&i, op)) {
			use->shift = (int32_t)op[1].mem.disp.value;
			return 0;
		} else if (state != BEFORE || i.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE) {
			return -ENOENT;
		}
	}
	return -ENOENT;
}
