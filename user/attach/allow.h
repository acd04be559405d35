/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that may carry a return probe. An exception that passes a return probe kills the target. So only functions
 * known to catch everything are allowed: the C API and Python method wrappers that user/frameworks/ adds, and functions
 * that the user allowed by name. Each plan has its own list: what is safe in one process may not be in another.
 */
#ifndef PROFTRACE_ATTACH_ALLOW_H
#define PROFTRACE_ATTACH_ALLOW_H

#include <stdbool.h>
#include <stddef.h>

struct allowed_return;
/* All zero: empty. */
struct allowed_returns {
	struct allowed_return *items;
	size_t cnt, cap;
};

/* list NULL: empty */
bool allowed_returns__has(const struct allowed_returns *list, const char *symbol);
const char *allowed_returns__why(const struct allowed_returns *list, const char *symbol); /* Why
											     it
											     is
											     allowed.
											     NULL:
											     it
											     is
											     not. */
/* Allows what a framework's table names. 0 or -ENOMEM with err__set. */
int allowed_returns__add_pattern(struct allowed_returns *list, const char *shell_pattern, const char *why);
/* Allows what the user names: a whole name. 0, or -ENOMEM or -EINVAL with err__set. */
int allowed_returns__add_chosen(struct allowed_returns *list, const char *symbol);
void allowed_returns__free(struct allowed_returns *list);

#endif
