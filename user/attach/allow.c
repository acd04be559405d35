// SPDX-License-Identifier: BSD-2-Clause
/* Which functions may carry a return probe. Filled before capture starts, read by one thread. */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include "attach/attach.h"
#include "common/err.h"
#include "common/util.h"

struct allowed {
	char *pattern;
	char *why;
};

static struct allowed *allowed;
static size_t allowed_cnt, allowed_cap;

static int add(const char *pattern, const char *why)
{
	struct allowed a = {strdup(pattern), strdup(why)};

	if (a.pattern && a.why && !ARRAY_PUSH(allowed, allowed_cnt, allowed_cap, a))
		return 0;
	free(a.pattern);
	free(a.why);
	return err__set(-ENOMEM, "%s: out of memory", pattern);
}

bool attach_allow__return(const char *symbol)
{
	return attach_allow__why(symbol) != NULL;
}

const char *attach_allow__why(const char *symbol)
{
	/* Our own, in assembly: it calls nothing. */
	if (symbol && strcmp(symbol, "calibrate_pair") == 0)
		return "the calibration's own function";
	for (size_t i = 0; symbol && i < allowed_cnt; i++) {
		if (fnmatch(allowed[i].pattern, symbol, 0) == 0)
			return allowed[i].why;
	}
	return NULL;
}

int attach_allow__add_pattern(const char *shell_pattern, const char *why)
{
	return add(shell_pattern, why);
}

int attach_allow__add_chosen(const char *symbol)
{
	/* One function, by its whole name: a pattern would allow functions that nobody looked at.
	 */
	if (!*symbol || strpbrk(symbol, "*?[\\"))
		return err__set(-EINVAL,
				"%s: not a function's name; allow return probes one by one, "
				"by mangled name",
				symbol);
	return add(symbol, "the user allowed it");
}
