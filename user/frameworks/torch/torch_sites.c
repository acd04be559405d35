// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/torch/torch_sites.h"

int torch_sites__ends(struct torch_sites *s, struct elf_file *elf, uint64_t entry, uint64_t size,
		      uint64_t ends[TORCH_MAX_ENDS])
{
	uint32_t offsets[TORCH_MAX_ENDS];
	const uint8_t *code;
	size_t len;
	int cnt;

	code = elf_file__bytes(elf, entry, &len);
	if (!code || size > len)
		return 0;
	cnt = torch_sites__find(s, code, size, offsets, TORCH_MAX_ENDS);
	for (int i = 0; i < cnt; i++)
		ends[i] = entry + offsets[i];
	return cnt > 0 ? cnt : 0;
}
