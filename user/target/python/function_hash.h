/* SPDX-License-Identifier: BSD-2-Clause */
/* Where CPython keeps the hash function of C functions, of "builtin_function_or_method". */
#ifndef PROFTRACE_FUNCTION_HASH_H
#define PROFTRACE_FUNCTION_HASH_H

#include "target/target.h"

/* Address of the word in the target that holds the function's; 0: there is no Python, or one that
 * is laid out in another way. */
uint64_t function_hash__place(struct target *t);

#endif
