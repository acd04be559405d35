// SPDX-License-Identifier: BSD-2-Clause
#include "attach/allow.h"
#include "common/err.h"
#include "attach/message_table.h"
#include "common/message_table.h"
#include "common/util.h"
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

struct allowed_return {
	char *pattern;
	char *why;
};

static int add(struct allowed_returns *list, const char *pattern, const char *why)
{
	const struct allowed_return a = {strdup(pattern), strdup(why)};

	if (a.pattern && a.why && !ARRAY_PUSH(list->items, list->cnt, list->cap, a))
		return 0;
	free(a.pattern);
	free(a.why);
	return err__set(-ENOMEM, MESSAGE_OUT_OF_MEMORY_FOR, pattern);
}

bool allowed_returns__has(const struct allowed_returns *list, const char *symbol)
{
	return allowed_returns__why(list, symbol) != NULL;
}

const char *allowed_returns__why(const struct allowed_returns *list, const char *symbol)
{
	/* A function of ours, in assembly. It calls nothing. */
	if (symbol && strcmp(symbol, "calibrate_pair") == 0)
		return "the calibration's own function";
	for (size_t i = 0; symbol && list && i < list->cnt; i++)
		if (fnmatch(list->items[i].pattern, symbol, 0) == 0)
			return list->items[i].why;
	return NULL;
}

int allowed_returns__add_pattern(struct allowed_returns *list, const char *shell_pattern,
				 const char *why)
{
	return add(list, shell_pattern, why);
}

int allowed_returns__add_chosen(struct allowed_returns *list, const char *symbol)
{
	/* A whole name, because a pattern would allow functions that nobody checked. */
	if (!*symbol || strpbrk(symbol, "*?[\\"))
		return err__set(-EINVAL, MESSAGE_RETURN_PROBE_NAME_INVALID, symbol);
	return add(list, symbol, "the user allowed it");
}

void allowed_returns__free(struct allowed_returns *list)
{
	for (size_t i = 0; i < list->cnt; i++) {
		free(list->items[i].pattern);
		free(list->items[i].why);
	}
	free(list->items);
	*list = (struct allowed_returns){0};
}
