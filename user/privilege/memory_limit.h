/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording of a few KiB can be made to expand to gigabytes. Who reads one has memory by its size. */
#ifndef PROFTRACE_MEMORY_LIMIT_H
#define PROFTRACE_MEMORY_LIMIT_H

#include <stddef.h>

/* Limits this process to what it has and MEMORY_LIMIT_BASE, and MEMORY_LIMIT_RATIO times the files'
 * size. An allocation beyond that fails. */
#define MEMORY_LIMIT_BASE  (512ul << 20)
#define MEMORY_LIMIT_RATIO 256ul
void memory_limit__set(char *const *paths, size_t cnt);

/* Bytes that the files may take, to explain a lack of memory. 0: no limit was set. */
size_t memory_limit__bytes(void);

#endif
