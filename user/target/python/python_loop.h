/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Generators that hand on what another iterator has:
 *
 *	for item in items:
 *	    yield item
 *
 * found in the instructions of their function as they stand in a process, where the interpreter
 * replaces some by others that do the same.
 */
#ifndef PROFTRACE_PYTHON_LOOP_H
#define PROFTRACE_PYTHON_LOOP_H

#include <stddef.h>
#include <stdint.h>

/* Instructions, as bytes from the first one. For each item the interpreter first reads `first` or,
 * after the generator's first item, `again`. When it has the item, it reads `yield`. */
struct python_loop {
	uint32_t first, again, yield;
};

/* Finds the loop in a function of CPython 3.`minor`. 0; -ENOTSUP: that version's instructions are
 * unknown; -ENOENT: the function has no such loop, or several. */
int python_loop__find(unsigned int minor, const uint8_t *code, size_t len,
		      struct python_loop *loop);

#endif
