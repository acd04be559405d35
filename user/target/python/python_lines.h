/* SPDX-License-Identifier: BSD-2-Clause */
/* The line of an instruction in a Python function. */
#ifndef PROFTRACE_PYTHON_LINES_H
#define PROFTRACE_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

/* Line of the instruction `unit` (counted in units of two bytes), by a code object's co_linetable.
 * 0: it has none, or the table does not say. For tables of CPython 3.11 and later
 * (Objects/locations.md; InternalDocs/locations.md since 3.13). */
uint32_t python_lines__at(const uint8_t *table, size_t len, uint32_t first_line, uint64_t unit);

/* The same for tables of CPython 3.10 (Objects/lnotab_notes.txt). */
uint32_t python_lines__at_310(const uint8_t *table, size_t len, uint32_t first_line, uint64_t unit);

#endif
