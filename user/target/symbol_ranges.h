/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_SYMBOL_RANGES_H
#define PROFTRACE_SYMBOL_RANGES_H

#include <stddef.h>
#include <stdint.h>

/* A symbol, by its begin. */
struct symbol_range {
	uint64_t vaddr;
	uint32_t table, idx;
};

/* Sorts by address; symbols of the same address keep their order. 0 or -ENOMEM. */
int symbol_ranges__sort(struct symbol_range *ranges, size_t cnt);

#endif
