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

/* Instructions, in bytes from the first one. Asked for an item the interpreter reads `first` or, after
 * the generator's first item, `again`; with the item in hand it reads `yield`. */
struct python_loop {
	uint32_t first, again, yield;
};

/* In a function of CPython 3.`minor`. 0; -ENOTSUP: the instructions of that version are not known;
 * -ENOENT: it has no such loop, or several. */
int python_loop__find(unsigned int minor, const uint8_t *code, size_t len,
		      struct python_loop *loop);

#endif
