/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPython's code objects, read from outside by their addresses: function, file and line. An address
 * may later belong to another object; each call notices that.
 */
#ifndef PROFTRACE_PYTHON_CODE_H
#define PROFTRACE_PYTHON_CODE_H

#include "bpf/events.h"
#include "target/python/python_layout.h"

struct python_code;

/* 0, -ENOENT: the interpreter's symbols are missing; -ENOMEM. Borrows the target. */
int python_code__open(struct target *t, const struct python_layout *layout, struct python_code **out);
void python_code__free(struct python_code *p);

/* Texts are UTF-8 and valid until python_code__free. */
struct python_function {
	const char *file, *function; /* qualified since 3.11 */
	uint32_t first_line;
};

/* The function whose code object is at this address of the process (the target, or its forked
 * child). *line: that of the instruction, 0 if it has none. NULL: there is no code object. */
const struct python_function *python_code__at(struct python_code *p, pid_t pid,
					      const struct pt_code_place *place, uint32_t *line);

#endif
