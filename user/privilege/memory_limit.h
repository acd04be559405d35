/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording of a few KiB can be crafted to expand to gigabytes. So a reader's memory is limited
 * by the recording's size. */
#ifndef PROFTRACE_MEMORY_LIMIT_H
#define PROFTRACE_MEMORY_LIMIT_H

#include <stddef.h>

/* Limits this process to its present memory plus MEMORY_LIMIT_BASE, plus MEMORY_LIMIT_RATIO times
 * the files' size. An allocation beyond that fails. */
#define MEMORY_LIMIT_BASE  (512ul << 20)
#define MEMORY_LIMIT_RATIO 256ul
void memory_limit__set(char *const *paths, size_t cnt);

/* Bytes that the files may take, for messages about a lack of memory. 0: no limit was set. */
size_t memory_limit__bytes(void);

#endif
