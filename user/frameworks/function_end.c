// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/function_end.h"
#include "attach/site.h"
#include "common/util.h"
#include "target/elf_file.h"
#include <string.h>

#define MAX_OUTSIDE 32 /* most places outside a function to which its jumps lead */

/* The cold part of a function. A jump out of the function leads there, or is a tail call. */
static struct site_cold cold_part(struct elf_file *elf, uint64_t vaddr, const uint8_t *code,
				  size_t size)
{
	int64_t outside[MAX_OUTSIDE];
	struct site_cold cold = {0};
	size_t cnt;

	if (!elf_file__has_local_symbols(elf))
		return cold; /* cold parts have only local symbols */
	cnt = site__jumps_outside(code, size, outside, ARRAY_SIZE(outside));
	for (size_t i = 0; i < cnt && !cold.code; i++) {
		struct elf_symbol part;
		size_t len;

		if (elf_file__symbol_at(elf, vaddr + (uint64_t)outside[i], &part) ||
		    !strstr(part.name, ".cold"))
			continue;
		cold.code = elf_file__bytes(elf, part.vaddr, &len);
		cold.len = part.size < len ? part.size : len;
		cold.distance = (int64_t)(part.vaddr - vaddr);
	}
	return cold;
}

size_t function_end__find(struct elf_file *elf, uint64_t vaddr, size_t size, unsigned int max_calls,
			  uint32_t *at, size_t max)
{
	struct site_cold cold;
	size_t len, cnt;
	const uint8_t *code = elf_file__bytes(elf, vaddr, &len);
	int pass;

	if (!code || !size || size > len || !max)
		return 0;
	cnt = site__stack_checks(code, size, at, max);
	if (cnt)
		return cnt;
	cold = cold_part(elf, vaddr, code, size);
	pass = site__pass(code, size, &cold, max_calls);
	if (pass < 0)
		return 0;
	at[0] = (uint32_t)pass;
	return 1;
}
