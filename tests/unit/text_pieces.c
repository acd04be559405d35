// SPDX-License-Identifier: BSD-2-Clause
/* Numbers as text, and the cache of texts. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include "exporters/parts/text_cache.h"
#include "exporters/parts/text_file.h"

TestSuite(text_pieces);

static void expect_digits(uint64_t v)
{
	char want[32], got[32];

	snprintf(want, sizeof(want), "%" PRIu64, v);
	*text__u64(got, v) = '\0';
	cr_expect_str_eq(got, want);
	snprintf(want, sizeof(want), "%" PRId64, -(int64_t)(v >> 1));
	*text__i64(got, -(int64_t)(v >> 1)) = '\0';
	cr_expect_str_eq(got, want);
}

Test(text_pieces, numbers_are_as_printf_writes_them)
{
	uint64_t power = 1;

	for (int i = 0; i < 20; i++, power *= 10)
		for (int d = -2; d <= 2; d++)
			expect_digits(power + (uint64_t)d);
	for (unsigned int bits = 0; bits < 64; bits++)
		expect_digits(UINT64_C(1) << bits);
	expect_digits(UINT64_MAX);
}

#define KEYS 40000u /* more than there is place for */

Test(text_pieces, a_kept_text_is_that_of_its_own_args_or_none)
{
	struct text_cache c;
	char text[64], got[64];
	uint32_t found = 0;

	cr_assert_eq(text_cache__init(&c), 0);
	for (uint32_t i = 0; i < KEYS; i++) {
		const uint32_t args[3] = {i / 7, i % 7, 9};
		const int len = snprintf(text, sizeof(text), "text of %u", i);

		text_cache__keep(&c, i % 3, args, sizeof(args), text, text + len);
		cr_assert_not_null(text_cache__copy(&c, got, i % 3, args, sizeof(args)));
		cr_expect_null(text_cache__copy(&c, got, 3, args, sizeof(args)));
		cr_expect_null(text_cache__copy(&c, got, i % 3, args, sizeof(args) - 1));
	}
	for (uint32_t i = 0; i < KEYS; i++) {
		const uint32_t args[3] = {i / 7, i % 7, 9};
		char *end = text_cache__copy(&c, got, i % 3, args, sizeof(args));

		if (!end)
			continue;
		*end = '\0';
		snprintf(text, sizeof(text), "text of %u", i);
		cr_expect_str_eq(got, text);
		found++;
	}
	cr_expect_gt(found, 1000);
	cr_expect_lt(found, KEYS);
	text_cache__free(&c);
}
