// SPDX-License-Identifier: BSD-2-Clause
/* Tests how large the ring is for the expected data. */
#include "capture/capture_ring.h"
#include <criterion/criterion.h>

#define MIB    (1ull << 20)
#define SECOND 1000000000ull

Test(ring_size, one_that_does_not_fill_stays)
{
	cr_expect_eq(ring__wanted(4 * MIB, MIB, 0, 16 * SECOND), 4 * MIB);
}

Test(ring_size, one_that_fills_becomes_four_times_as_large)
{
	cr_expect_eq(ring__wanted(4 * MIB, MIB + 8, 0, 16 * SECOND), 16 * MIB);
}

Test(ring_size, holds_what_comes_while_nobody_reads)
{
	cr_expect_eq(ring__wanted(MIB, 0, MIB, 16 * SECOND), 16 * MIB);
	cr_expect_eq(ring__wanted(MIB, 0, MIB + 1, 16 * SECOND), 32 * MIB);
	cr_expect_eq(ring__wanted(MIB, 0, MIB, 0), MIB);
}

Test(ring_size, has_an_end)
{
	cr_expect_gt(ring__wanted(MIB, 0, UINT64_MAX, UINT64_MAX), 1ull << 60);
}

static uint64_t unread_of(struct pt_schedule schedule, uint64_t step_ns, uint32_t hold)
{
	struct pt_ctl ctl = {.hold = hold};
	const struct capture_opts opts = {.has_schedule = schedule.record, .schedule = schedule};
	const struct session session = {
		.opts = &opts, .probes.ctl = &ctl, .step_length.ns = step_ns};

	return capture_ring__unread_ns(&session);
}

static uint64_t unread_ns(uint64_t steps, uint64_t step_ns, uint32_t hold)
{
	return unread_of((struct pt_schedule){.record = steps, .repeat = 1}, step_ns, hold);
}

Test(ring_size, no_more_waits_than_a_short_window_has)
{
	cr_expect_eq(unread_ns(50, SECOND / 100, 0), SECOND);
	cr_expect_eq(unread_ns(5000, SECOND / 100, 0), 16 * SECOND);
}

/* A disk may be slow for 2 s while windows repeat. */
Test(ring_size, of_windows_that_repeat_their_share_of_the_time_waits_too)
{
	cr_expect_eq(unread_of((struct pt_schedule){.closed = 1, .record = 20}, SECOND / 100, 0),
		     (uint64_t)(SECOND * 0.4 + 2.0 * SECOND * 20 / 21));
	cr_expect_eq(unread_of((struct pt_schedule){.closed = 1980, .record = 20, .repeat = 2},
			       SECOND / 100, 0),
		     (uint64_t)(SECOND * 0.4 + 0.02 * SECOND));
	cr_expect_eq(unread_of((struct pt_schedule){.record = 20}, SECOND / 100, 0),
		     (uint64_t)(SECOND * 2.4));
}

Test(ring_size, a_window_without_a_known_end_may_wait_for_long)
{
	cr_expect_eq(unread_ns(UINT64_MAX / 2, SECOND, 0), 16 * SECOND);
	cr_expect_eq(unread_ns(50, 0, 0), 16 * SECOND);
	cr_expect_eq(unread_ns(0, SECOND / 100, 0), 16 * SECOND);
	cr_expect_eq(unread_ns(50, SECOND / 100, PT_HOLD_RECORD), 16 * SECOND);
}
