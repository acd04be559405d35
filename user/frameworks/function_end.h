/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds instructions at which a probe sees a function's end, and that the kernel emulates. */
#ifndef PROFTRACE_FUNCTION_END_H
#define PROFTRACE_FUNCTION_END_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;

/*
 * Finds instructions of the function at vaddr, of `size` bytes, and puts their offsets into `at`.
 * Each normal return passes one of them, near its end: at most max_calls calls follow, such as
 * destructors. Returns their number; 0: there are none, or more than max.
 */
size_t function_end__find(struct elf_file *elf, uint64_t vaddr, size_t size, unsigned int max_calls,
			  uint32_t *at, size_t max);

#endif
