// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/findings/few_steps.h"
#include <stdlib.h>
#include <string.h>
#include "common/util.h"

#define FEW	     8	 /* few: at most one of so many steps */
#define FEW_OF_CAUSE 2	 /* the same if each long step may have a known cause */
#define MOST_OF_IT   0.5 /* share of the time that the few must have */
/* share of the longest step's time from which on a step is one of the few */
#define ALIKE 0.5

int few_steps__add(struct few_steps *f, uint64_t step, uint64_t ns)
{
	const struct step_time t = {.step = step, .ns = ns};

	return ARRAY_PUSH(f->items, f->cnt, f->cap, t);
}

static struct step_time longest_of(const struct few_steps *f)
{
	struct step_time longest = {0};

	for (size_t i = 0; i < f->cnt; i++)
		if (f->items[i].ns > longest.ns)
			longest = f->items[i];
	return longest;
}

static bool are_few(const struct few_steps *f, size_t cnt, size_t causes)
{
	return cnt * FEW <= f->cnt || (cnt <= causes && cnt * FEW_OF_CAUSE <= f->cnt);
}

bool few_steps__describe(const struct analysis *a, const struct few_steps *f, size_t causes,
			 char *text, size_t size)
{
	const struct step_time longest = longest_of(f);
	const size_t len = strlen(text);
	double all_ns = 0, few_ns = 0;
	size_t few = 0;

	for (size_t i = 0; i < f->cnt; i++) {
		const double ns = (double)f->items[i].ns;

		all_ns += ns;
		if (ns < ALIKE * (double)longest.ns)
			continue;
		few_ns += ns;
		few++;
	}
	if (!longest.ns || !are_few(f, few, causes) || few_ns < MOST_OF_IT * all_ns)
		return false;
	snprintf(text + len, size - len,
		 ", %.0f %% of that in %zu of %zu steps (longest %s, step %llu)",
		 100 * few_ns / all_ns, few, f->cnt, time_text(a, longest.ns).s,
		 (unsigned long long)longest.step);
	return true;
}

void few_steps__free(struct few_steps *f)
{
	free(f->items);
}
