/* SPDX-License-Identifier: BSD-2-Clause */
/* Patterns of symbols, made ready for the many symbols of a library. */
#ifndef PROFTRACE_SYMBOL_PATTERN_H
#define PROFTRACE_SYMBOL_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct symbol_pattern {
	const char *text; /* NULL: matches nothing */
	size_t literal;	  /* bytes before the first '*' */
	bool is_glob;
};

/* Names that begin with `text` or, if it has a '*', match it as a shell pattern; no other character is
 * special. */
struct symbol_pattern symbol_pattern__of(const char *text);
/* May a name that begins so match? Reads up to max bytes of it, which need not end there. */
bool symbol_pattern__may_match(const struct symbol_pattern *p, const char *name, size_t max);
bool symbol_pattern__matches(const struct symbol_pattern *p, const char *name, size_t len);

#endif
