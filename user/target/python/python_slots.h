/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of an interpreter without a symbol, found through its types. */
#ifndef PROFTRACE_PYTHON_SLOTS_H
#define PROFTRACE_PYTHON_SLOTS_H

#include "target/target.h"

/* Runtime address of the function that divides a float by a number. 0: it cannot be read. */
uint64_t python_slots__float_division(struct target *t);

#endif
