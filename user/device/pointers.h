/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds addresses of functions in a process's data. Only reads. */
#ifndef PROFTRACE_POINTERS_H
#define PROFTRACE_POINTERS_H

#include "cupti_shim/protocol.h"
#include "target/target.h"

/*
 * Finds words that contain an address of functions[0..cnt). It searches the data of the libraries,
 * and vectors of method definitions (tables that a program copies when it starts) to which that
 * data points. Sorted by address. 0 and *out, to be freed, or a negative errno.
 */
int pointers__find(const struct target *t, const struct target_lib *const *libs, size_t lib_cnt,
		   const struct shim_function *functions, size_t cnt, struct shim_pointer **out,
		   size_t *out_cnt);

#endif
