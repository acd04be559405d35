/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_SYMBOL_RANGES_H
#define PROFTRACE_SYMBOL_RANGES_H

#include <stddef.h>
#include <stdint.h>

/* A symbol by where it begins. */
struct symbol_range {
	uint64_t vaddr;
	uint32_t table, idx;
};

/* By address, those of one address in the order they had; 0 or -ENOMEM. */
int symbol_ranges__sort(struct symbol_range *ranges, size_t cnt);

#endif
