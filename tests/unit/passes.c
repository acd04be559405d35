// SPDX-License-Identifier: BSD-2-Clause
#include "capture/decode/passes.h"
#include <criterion/criterion.h>

static struct passes passes;

Test(passes, of_those_around_a_moment_the_one_that_ends_first)
{
	passes__note(&passes, 25, 30, 1);
	passes__note(&passes, 20, 40, 1);
	passes__note(&passes, 50, 60, 1);
	cr_expect_eq(passes__end(&passes, 19, 7), 0);
	cr_expect_eq(passes__end(&passes, 20, 7), 40);
	cr_expect_eq(passes__end(&passes, 25, 7), 30);
	cr_expect_eq(passes__end(&passes, 30, 7), 40);
	cr_expect_eq(passes__end(&passes, 40, 7), 0);
	cr_expect_eq(passes__end(&passes, 59, 7), 60);
	cr_expect_eq(passes__end(&passes, 60, 7), 0);
}

Test(passes, threads_tell_of_theirs_in_any_order)
{
	passes__note(&passes, 50, 60, 1);
	passes__note(&passes, 10, 20, 1);
	passes__note(&passes, 15, 55, 1);
	passes__note(&passes, 10, 20, 1);
	cr_expect_eq(passes.cnt, 3);
	cr_expect_eq(passes__end(&passes, 12, 7), 20);
	cr_expect_eq(passes__end(&passes, 30, 7), 55);
	cr_expect_eq(passes__end(&passes, 52, 7), 55);
	cr_expect_eq(passes__end(&passes, 57, 7), 60);
}

Test(passes, a_threads_own_one_before_those_of_others)
{
	passes__note(&passes, 10, 90, 7);
	passes__note(&passes, 20, 40, 1);
	passes__note(&passes, 25, 30, 7);
	cr_expect_eq(passes__end(&passes, 26, 7), 30);
	cr_expect_eq(passes__end(&passes, 32, 7), 90);
	cr_expect_eq(passes__end(&passes, 32, 1), 40);
	cr_expect_eq(passes__end(&passes, 32, 8), 40);
}

Test(passes, a_node_is_told_of_hundreds_of_passes_later)
{
	const uint64_t cnt = 3 * PASSES_MAX, old = cnt - PASSES_MAX / 2 + 1;

	for (uint64_t i = 1; i <= cnt; i++)
		passes__note(&passes, 10 * i, 10 * i + 5, 1);
	for (uint64_t i = old; i <= cnt; i++) {
		cr_assert_eq(passes__end(&passes, 10 * i + 4, 7), 10 * i + 5);
		cr_assert_eq(passes__end(&passes, 10 * i + 6, 7), 0);
	}
	cr_expect_eq(passes__end(&passes, 14, 7), 0);
}

/* Ends a pass as the probes note it. */
static void end_pass(struct pt_passes *latest, uint64_t begin_ns, uint64_t end_ns)
{
	const uint32_t i = latest->cnt++ % PT_PASSES;

	latest->passes[i].begin_ns = begin_ns;
	latest->passes[i].end_ns = end_ns;
}

Test(passes, those_that_the_probes_tell_of_are_looked_at_once)
{
	static struct pt_passes latest;

	end_pass(&latest, 10, 20);
	end_pass(&latest, 30, 40);
	passes__look(&passes, &latest);
	cr_expect_eq(passes.cnt, 2);
	latest.cnt = 3;
	latest.passes[2].begin_ns = 50; /* the pass's end is not there yet */
	passes__look(&passes, &latest);
	cr_expect_eq(passes.cnt, 2);
	latest.passes[2].end_ns = 60;
	passes__look(&passes, &latest);
	passes__look(&passes, &latest);
	cr_expect_eq(passes.cnt, 3);
	cr_expect_eq(passes__end(&passes, 35, 7), 40);
	cr_expect_eq(passes__end(&passes, 55, 7), 60);
}

Test(passes, one_whose_place_has_another_is_looked_at_when_it_is_there)
{
	static struct pt_passes latest;

	for (uint64_t i = 0; i < PT_PASSES; i++)
		end_pass(&latest, 1000 * i, 1000 * i + 400);
	passes__look(&passes, &latest);
	latest.cnt++; /* the new pass has the times of the previous one */
	passes__look(&passes, &latest);
	cr_expect_eq(passes.cnt, PT_PASSES);
	latest.passes[0].begin_ns = 5000000;
	passes__look(&passes, &latest);
	cr_expect_eq(passes__end(&passes, 5000100, 7), 0);
	latest.passes[0].end_ns = 5000400;
	passes__look(&passes, &latest);
	cr_expect_eq(passes__end(&passes, 5000100, 7), 5000400);
}

Test(passes, many_that_end_between_two_looks_are_all_known)
{
	static struct pt_passes latest;

	for (uint64_t i = 0; i < 300; i++)
		end_pass(&latest, 1000 * i, 1000 * i + 400);
	passes__look(&passes, &latest);
	for (uint64_t i = 0; i < 300; i++)
		cr_assert_eq(passes__end(&passes, 1000 * i + 390, 7), 1000 * i + 400);
	cr_expect_eq(passes__end(&passes, 500, 7), 0);
}
