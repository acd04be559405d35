/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that strangers chose, for outputs in UTF-8. Characters that control a terminal, or reorder
 * or hide text, are replaced. */
#ifndef PROFTRACE_CLEAN_NAME_H
#define PROFTRACE_CLEAN_NAME_H

#include <stddef.h>

/* Copies at most size - 1 bytes, in whole characters. Each invalid byte, and each such character,
 * becomes '?'. */
void clean_name__copy(char *to, size_t size, const char *from);

/* The same for a file's name: all but letters, digits, '.', '-' and '_' become '_'. */
void clean_name__for_file(char *to, size_t size, const char *from);

#endif
