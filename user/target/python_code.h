/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPython's code objects, read from outside by their addresses: which function, of which file, and
 * at which line. An address may come to hold another one: each look at it says whether it does.
 */
#ifndef PROFTRACE_PYTHON_CODE_H
#define PROFTRACE_PYTHON_CODE_H

#include "../../bpf/events.h"
#include "target/target.h"

struct python_code;

/* *thread, *frames: how the interpreter's threads and their frames are found. 0, -ENOENT: the process
 * has no interpreter with symbols; -ENOTSUP: of a version whose frames are not known; -ENOMEM; then
 * neither is written. Borrows the target. */
int python_code__open(struct target *t, struct python_code **out, struct pt_python_thread *thread,
		      struct pt_python_stacks *frames);
void python_code__free(struct python_code *p);

/* UTF-8; they stay until python_code__free. */
struct python_function {
	const char *file, *function; /* qualified since 3.11 */
	uint32_t first_line;
};

/* The function that has its code at this address of the process (the target, or a child that it
 * forked), and the line of the instruction, 0 if it has none. NULL: there is no code object. */
const struct python_function *python_code__at(struct python_code *p, pid_t pid,
					      const struct pt_code_place *place, uint32_t *line);

#endif
