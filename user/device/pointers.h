/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a process's data holds the addresses of functions. Only looks. */
#ifndef PROFTRACE_POINTERS_H
#define PROFTRACE_POINTERS_H

#include "cupti_shim/protocol.h"
#include "target/target.h"

/*
 * Words that hold an address of functions[0..cnt). They are looked for in the data of the
 * libraries, and in vectors of method definitions that lie there (tables that a program copies as
 * it starts). By address. 0 and *out, to be freed, or a negative errno.
 */
int pointers__find(const struct target *t, const struct target_lib *const *libs, size_t lib_cnt,
		   const struct shim_function *functions, size_t cnt, struct shim_pointer **out,
		   size_t *out_cnt);

#endif
