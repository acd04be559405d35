/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a probe sees that a call of a function ends, at instructions that the kernel emulates. */
#ifndef PROFTRACE_FUNCTION_END_H
#define PROFTRACE_FUNCTION_END_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;

/*
 * Offsets into `at` of the instructions of the function at vaddr, of `size` bytes, of which each
 * normal return passes one, near its end: at most max_calls calls follow, as of destructors. Returns how
 * many; 0: there are none, or more than max.
 */
size_t function_end__find(struct elf_file *elf, uint64_t vaddr, size_t size, unsigned int max_calls,
			  uint32_t *at, size_t max);

#endif
