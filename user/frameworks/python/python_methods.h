/* SPDX-License-Identifier: BSD-2-Clause */
/* The C functions that a library offers to Python, found in its tables of PyMethodDef. They need no
 * symbol. */
#ifndef PROFTRACE_FRAMEWORKS_PYTHON_METHODS_H
#define PROFTRACE_FRAMEWORKS_PYTHON_METHODS_H

#include "target/target.h"

/* Calls cb for each entry for a function with arguments and keywords (METH_VARARGS |
 * METH_KEYWORDS). It reads the library's data in the target. name: as in Python; vaddr: of the
 * function. Stops at the first non-zero result of cb and returns it. */
int python_methods__each(struct target *t, const struct target_lib *lib,
			 int (*cb)(const char *name, uint64_t vaddr, void *ctx), void *ctx);

#endif
