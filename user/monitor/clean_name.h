/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that strangers chose, for outputs that must be UTF-8 without characters that control a terminal,
 * reorder text or hide. */
#ifndef PROFTRACE_CLEAN_NAME_H
#define PROFTRACE_CLEAN_NAME_H

#include <stddef.h>

/* Copies at most size - 1 bytes, whole characters only; '?' stands for each byte that is of no
 * character of UTF-8, or is such a character. */
void clean_name__copy(char *to, size_t size, const char *from);

/* The same for a file's name: '_' for all but letters, digits, '.', '-' and '_'. */
void clean_name__for_file(char *to, size_t size, const char *from);

#endif
