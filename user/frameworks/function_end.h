/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a probe sees that a call of a function ends, at instructions that the kernel emulates. */
#ifndef PROFTRACE_FUNCTION_END_H
#define PROFTRACE_FUNCTION_END_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;

/*
 * Puts offsets of instructions of the function at vaddr, of `size` bytes, into `at`. Each normal
 * return passes one of them, near its end: at most max_calls calls follow, such as those of
 * destructors. Returns how many; 0: there are none, or more than max.
 */
size_t function_end__find(struct elf_file *elf, uint64_t vaddr, size_t size, unsigned int max_calls,
			  uint32_t *at, size_t max);

#endif
