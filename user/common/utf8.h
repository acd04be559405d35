/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of UTF-8 by RFC 3629: no overlong forms, no surrogates. */
#ifndef PROFTRACE_UTF8_H
#define PROFTRACE_UTF8_H

#include <stddef.h>

/* Length of the character at s, a NUL-terminated text. 0 if no valid character begins there. */
size_t utf8__len(const char *s);
/* A copy of the bytes up to a NUL byte. Each invalid byte becomes "\xNN", so different texts stay
 * different. Caller frees; NULL if out of memory. */
char *utf8__copy(const void *bytes, size_t len);
/* Converts characters of `kind` bytes each, 1, 2 or 4, as in a str object of CPython. 0 becomes a
 * space. Caller frees; NULL if out of memory. */
char *utf8__of_wide(const void *chars, size_t cnt, unsigned int kind);

#endif
