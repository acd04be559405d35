/* SPDX-License-Identifier: BSD-2-Clause */
/* Patterns of symbols, prepared for matching the many symbols of a library. */
#ifndef PROFTRACE_SYMBOL_PATTERN_H
#define PROFTRACE_SYMBOL_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct symbol_pattern {
	const char *text; /* NULL: matches nothing */
	size_t literal;	  /* bytes before the first '*' */
	bool is_glob;
};

/* Matches names that begin with `text` or, if it has a '*', that match it as a shell pattern. Only
 * '*' is special. */
struct symbol_pattern symbol_pattern__of(const char *text);
/* May a name with this begin match? Reads at most max bytes, and the name may go on. */
bool symbol_pattern__may_match(const struct symbol_pattern *p, const char *name, size_t max);
bool symbol_pattern__matches(const struct symbol_pattern *p, const char *name, size_t len);

#endif
