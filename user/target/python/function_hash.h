/* SPDX-License-Identifier: BSD-2-Clause */
/* Where CPython keeps the hash function of the type "builtin_function_or_method". */
#ifndef PROFTRACE_FUNCTION_HASH_H
#define PROFTRACE_FUNCTION_HASH_H

#include "target/target.h"

/* Address in the target of the word that holds the hash function's address. 0: there is no Python,
 * or its layout differs. */
uint64_t function_hash__place(struct target *t);

#endif
