// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "frameworks/symbol_pattern.h"

#define PAIRS 200000

static bool matches(const char *pattern, const char *name)
{
	const struct symbol_pattern p = symbol_pattern__of(pattern);

	return symbol_pattern__matches(&p, name, strlen(name));
}

static void random_text(char *out, size_t max, const char *letters, unsigned int *seed)
{
	const size_t len = (size_t)rand_r(seed) % max;

	for (size_t i = 0; i < len; i++)
		out[i] = letters[(size_t)rand_r(seed) % strlen(letters)];
	out[len] = '\0';
}

Test(symbol_pattern, globs_match_as_the_shell_has_them)
{
	unsigned int seed = 1;
	size_t matched = 0;

	for (int i = 0; i < PAIRS; i++) {
		char pattern[9], name[12];

		random_text(pattern, sizeof(pattern), "ab**", &seed);
		random_text(name, sizeof(name), "ab", &seed);
		if (!strchr(pattern, '*'))
			continue;
		cr_assert_eq(matches(pattern, name), !fnmatch(pattern, name, 0), "%s of %s",
			     pattern, name);
		matched += matches(pattern, name);
	}
	cr_expect_gt(matched, PAIRS / 10);
}

Test(symbol_pattern, without_a_star_names_begin_so)
{
	cr_expect(matches("_ZN3egr8BackwardE", "_ZN3egr8BackwardERKSt6vector"));
	cr_expect(matches("_ZN3egr8BackwardE", "_ZN3egr8BackwardE"));
	cr_expect_not(matches("_ZN3egr8BackwardE", "_ZN3egr8Backward"));
	cr_expect_not(matches("_ZN3egr8BackwardE", "_ZN3egr8backwardE"));
	cr_expect_not(matches(NULL, "_ZN3egr8BackwardE"));
}
