/* SPDX-License-Identifier: BSD-2-Clause */
/* What is UTF-8, by RFC 3629: no overlong forms, no surrogates. */
#ifndef PROFTRACE_UTF8_H
#define PROFTRACE_UTF8_H

#include <stddef.h>

/* Bytes of the character at s, which ends with a NUL byte, 0 if there is none. */
size_t utf8__len(const char *s);
/* A copy of the bytes up to a NUL byte, in which each that is of no character is "\xNN": what
 * differs stays so. Caller frees; NULL if out of memory. */
char *utf8__copy(const void *bytes, size_t len);
/* Characters of `kind` bytes each, 1, 2 or 4, as a str object of CPython has them; 0 becomes a
 * space. Caller frees; NULL if out of memory. */
char *utf8__of_wide(const void *chars, size_t cnt, unsigned int kind);

#endif
