/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a library lies in the process. */
#ifndef PROFTRACE_SEGMENTS_H
#define PROFTRACE_SEGMENTS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Do the bytes lie in a segment of that type (PT_LOAD, PT_GNU_RELRO)? */
static inline bool segments__hold(const struct dl_phdr_info *info, uint32_t type, uintptr_t address,
				  size_t bytes)
{
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uintptr_t begin = (uintptr_t)(info->dlpi_addr + p->p_vaddr);

		if (p->p_type == type && address >= begin && address - begin < p->p_memsz &&
		    bytes <= p->p_memsz - (address - begin))
			return true;
	}
	return false;
}

#endif
