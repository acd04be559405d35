/* SPDX-License-Identifier: BSD-2-Clause */
/* The C functions that a library gives to Python, which need no symbol: its tables of PyMethodDef. */
#ifndef PROFTRACE_FRAMEWORKS_PYTHON_METHODS_H
#define PROFTRACE_FRAMEWORKS_PYTHON_METHODS_H

#include "target/target.h"

/* Calls cb for each entry with arguments and keywords (METH_VARARGS | METH_KEYWORDS) in the
 * library's data, as the target holds it. name: as Python calls it; vaddr: of the function. Stops
 * at the first non-zero return of cb and returns it. */
int python_methods__each(struct target *t, const struct target_lib *lib,
			 int (*cb)(const char *name, uint64_t vaddr, void *ctx), void *ctx);

#endif
