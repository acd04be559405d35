// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/symbol_pattern.h"
#include <string.h>

struct symbol_pattern symbol_pattern__of(const char *text)
{
	struct symbol_pattern p = {.text = text};

	if (text) {
		p.literal = strcspn(text, "*");
		p.is_glob = text[p.literal] == '*';
	}
	return p;
}

/* `pattern` begins with a '*'. */
static bool glob_matches(const char *pattern, const char *name, size_t len)
{
	for (;;) {
		const size_t part = strcspn(++pattern, "*");
		const char *found;

		if (!pattern[part])
			return len >= part && !memcmp(name + len - part, pattern, part);
		found = memmem(name, len, pattern, part);
		if (!found)
			return false;
		len -= (size_t)(found - name) + part;
		name = found + part;
		pattern += part;
	}
}

bool symbol_pattern__may_match(const struct symbol_pattern *p, const char *name, size_t max)
{
	/* C++ names begin alike, so most differ in the last byte. */
	return p->text && max >= p->literal &&
	       (!p->literal || name[p->literal - 1] == p->text[p->literal - 1]) &&
	       !memcmp(name, p->text, p->literal);
}

bool symbol_pattern__matches(const struct symbol_pattern *p, const char *name, size_t len)
{
	return symbol_pattern__may_match(p, name, len) &&
	       (!p->is_glob ||
		glob_matches(p->text + p->literal, name + p->literal, len - p->literal));
}
