/* SPDX-License-Identifier: BSD-2-Clause */
/* What is UTF-8, by RFC 3629: no overlong forms, no surrogates. */
#ifndef PROFTRACE_UTF8_H
#define PROFTRACE_UTF8_H

#include <stddef.h>

/* Bytes of the character at s, which ends with a NUL byte, 0 if there is none. */
size_t utf8__len(const char *s);
/* A copy of the bytes in which each that is of no character is U+FFFD, up to a NUL byte. Caller frees;
 * NULL if out of memory. */
char *utf8__copy(const void *bytes, size_t len);

#endif
