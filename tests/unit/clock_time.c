// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "cli/clock_time.h"
#include "common/err.h"
#include "common/util.h"

#define NOW 1767225600 /* 2026-01-01 00:00:00 UTC */

static void set_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

TestSuite(clock_time);

Test(clock_time, forms)
{
	static const struct {
		const char *text;
		long after; /* seconds after NOW */
	} cases[] = {
		{"00:01", 60},
		{"14:30", 14 * 3600 + 1800},
		{"14:30:05", 14 * 3600 + 1805},
		{"00:00", 86400}, /* now is over: tomorrow */
		{"2026-01-01T00:00:09Z", 9},
		{"2026-01-02T00:00:00", 86400},
		{"@1767225601", 1},
	};

	set_zone("UTC");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t ns = 0;

		cr_assert_eq(clock_time__parse(cases[i].text, NOW, &ns), 0, "%s", cases[i].text);
		cr_expect_eq(ns, (uint64_t)(NOW + cases[i].after) * 1000000000, "%s",
			     cases[i].text);
	}
}

Test(clock_time, the_local_clock_counts)
{
	uint64_t ns;

	set_zone("CET-1"); /* it is 01:00 there */
	cr_assert_eq(clock_time__parse("01:30", NOW, &ns), 0);
	cr_expect_eq(ns, (NOW + 1800) * 1000000000ull);
	cr_assert_eq(clock_time__parse("2026-01-01T01:30:00", NOW, &ns), 0);
	cr_expect_eq(ns, (NOW + 1800) * 1000000000ull);
	cr_assert_eq(clock_time__parse("2026-01-01T01:30:00Z", NOW, &ns), 0);
	cr_expect_eq(ns, (NOW + 5400) * 1000000000ull);
}

Test(clock_time, what_is_no_time_to_come)
{
	static const char *const bad[] = {"",		"soon",	       "25:00",
					  "14:30Z",	"14:30:05 pm", "@",
					  "@x",		"2026-01-01",  "2025-12-31T00:00:00Z",
					  "@1767225600"};

	set_zone("UTC");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		uint64_t ns;

		cr_expect_eq(clock_time__parse(bad[i], NOW, &ns), -EINVAL, "%s", bad[i]);
		cr_expect_not_null(strstr(err__take(-EINVAL), bad[i]));
	}
}

static void expect_refusal(const char *text, const char *word)
{
	uint64_t ns = 7;
	const char *said;

	cr_expect_eq(clock_time__parse(text, NOW, &ns), -EINVAL, "%s", text);
	said = err__take(-EINVAL);
	cr_expect_not_null(strstr(said, word), "%s: %s", word, said);
	cr_expect_eq(ns, 7);
}

Test(clock_time, days_that_no_month_has)
{
	uint64_t ns;

	set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
	expect_refusal("2026-11-31T10:00:00", "that month has no day 31");
	expect_refusal("2026-02-29T10:00:00Z", "that month has no day 29");
	cr_expect_eq(clock_time__parse("2028-02-29T23:59:59Z", NOW, &ns), 0);
	/* An hour that summer time leaves out is a moment of that day nevertheless. */
	cr_expect_eq(clock_time__parse("2026-03-29T02:30:00", NOW, &ns), 0);
}

Test(clock_time, what_nanoseconds_cannot_hold)
{
	uint64_t ns;

	set_zone("UTC");
	expect_refusal("@99999999999999", "before 2262");
	expect_refusal("@99999999999999999999999", "before 2262");
	expect_refusal("2263-01-01T00:00:00Z", "before 2262");
	cr_assert_eq(clock_time__parse("@9223372036", NOW, &ns), 0);
	cr_expect_eq(ns, 9223372036000000000ull);
}

Test(clock_time, refusals_say_what_to_type)
{
	set_zone("CET-1");
	expect_refusal("14:30Z", "a Z needs the date, too, as in 2026-01-31T14:30:00Z");
	expect_refusal("soon", "2026-01-31T14:30:00Z (UTC)");
	expect_refusal(
		"2025-12-31T23:00:00Z",
		"that was 1 h 0 min ago; it is 2026-01-01T01:00:00 (local time, @1767225600)");
	expect_refusal("1969-12-31T23:00:00Z", "days 1 h ago");
}
