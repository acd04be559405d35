// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include "common/duration_text.h"

TestSuite(duration_text);

Test(duration_text, has_its_two_largest_units)
{
	static const struct {
		uint64_t seconds;
		const char *text;
	} rows[] = {
		{0, "0 s"},
		{119, "119 s"},
		{120, "2 min 0 s"},
		{3599, "59 min 59 s"},
		{3600, "1 h 0 min"},
		{86399, "23 h 59 min"},
		{86400, "1 day 0 h"},
		{749797, "8 days 16 h"},
		{UINT64_MAX, "213503982334601 days 7 h"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_expect_str_eq(duration_text(rows[i].seconds).s, rows[i].text);
}
