// SPDX-License-Identifier: BSD-2-Clause
/* Ranges out of the marks at their begins and ends. */
#include <criterion/criterion.h>
#include "device/device_ranges.h"

TestSuite(device_ranges);

enum { INSTANT = 1, BEGIN = 2, END = 4 };

static int mark(struct device_ranges *r, uint32_t flags, uint32_t id, uint32_t tid, uint64_t ns,
		struct device_range *out)
{
	const struct shim_marker m = {.a = {.start_ns = ns, .end_ns = ns},
				      .name = flags == END ? 0 : 100 + id,
				      .id = id,
				      .flags = flags,
				      .tid = tid};

	return device_ranges__mark(r, &m, out);
}

static void expect(const struct device_range *got, uint64_t begin_ns, uint64_t end_ns,
		   uint64_t name, bool nests)
{
	cr_expect_eq(got->begin_ns, begin_ns);
	cr_expect_eq(got->end_ns, end_ns);
	cr_expect_eq(got->name, name);
	cr_expect_eq(got->nests, nests);
}

Test(device_ranges, those_of_a_thread_nest)
{
	struct device_ranges r = {0};
	struct device_range got;

	cr_expect_eq(mark(&r, BEGIN, 1, 7, 10, &got), 0);
	cr_expect_eq(mark(&r, BEGIN, 2, 7, 20, &got), 0);
	cr_expect_eq(mark(&r, BEGIN, 3, 8, 25, &got), 0);
	cr_assert_eq(mark(&r, END, 2, 7, 30, &got), 1);
	expect(&got, 20, 30, 102, true);
	cr_assert_eq(mark(&r, END, 1, 7, 40, &got), 1);
	expect(&got, 10, 40, 101, true);
	cr_expect_eq(r.cnt, 1);
	device_ranges__clear(&r);
	cr_expect_eq(r.cnt, 0);
}

Test(device_ranges, one_that_ends_inside_another_does_not_nest)
{
	struct device_ranges r = {0};
	struct device_range got;

	mark(&r, BEGIN, 1, 7, 10, &got);
	mark(&r, BEGIN, 2, 7, 20, &got);
	cr_assert_eq(mark(&r, END, 1, 7, 30, &got), 1);
	expect(&got, 10, 30, 101, false);
	cr_assert_eq(mark(&r, END, 2, 9, 40, &got), 1);
	expect(&got, 20, 40, 102, false);
	cr_expect_eq(got.tid, 7, "a range is of the thread that began it");
	device_ranges__clear(&r);
}

Test(device_ranges, marks_come_in_either_order)
{
	struct device_ranges r = {0};
	struct device_range got;

	cr_expect_eq(mark(&r, END, 5, 7, 40, &got), 0);
	cr_assert_eq(mark(&r, BEGIN, 5, 7, 10, &got), 1);
	expect(&got, 10, 40, 105, true);
	cr_assert_eq(mark(&r, INSTANT, 6, 7, 50, &got), 1);
	expect(&got, 50, 50, 106, false);
	cr_expect_eq(mark(&r, 0, 7, 7, 60, &got), 0, "neither begin nor end");
	device_ranges__clear(&r);
}

Test(device_ranges, a_target_that_ends_nothing_fills_no_more_than_the_table)
{
	struct device_ranges r = {0};
	struct device_range got;

	for (uint32_t i = 0; i < RANGES_MAX + 5; i++)
		cr_assert_eq(mark(&r, BEGIN, i, 7, i + 1, &got), 0);
	cr_expect_eq(r.cnt, RANGES_MAX);
	cr_expect_eq(r.lost, 5);
	device_ranges__clear(&r);
}
