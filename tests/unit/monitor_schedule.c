// SPDX-License-Identifier: BSD-2-Clause
/* When windows of the monitor open, and when a process that failed is tried again. */
#include <criterion/criterion.h>
#include <math.h>
#include "monitor/backoff.h"
#include "monitor/schedule.h"
#include "monitor/step_time.h"

TestSuite(monitor_schedule);

#define WINDOW_NS 1000000000ull

Test(monitor_schedule, windows_are_open_for_the_duty)
{
	struct schedule s;
	uint64_t now = 5 * WINDOW_NS, begin = now, open = 0;

	schedule__init(&s, 0.005, 0.02, 1);
	for (int i = 0; i < 1000; i++) {
		const uint64_t at = schedule__next(&s, now, WINDOW_NS);

		cr_assert_geq(at, now, "a window begins before the last has ended");
		now = at + WINDOW_NS;
		open += WINDOW_NS;
	}
	cr_expect_float_eq((double)open / (double)(now - begin), 0.02, 0.0005);
}

/* A job that logs each 100 s: a fixed period of 50 s would see the same two moments for ever. */
Test(monitor_schedule, windows_begin_anywhere_in_a_period)
{
	struct schedule s;
	uint64_t now = 0;
	int tenths[10] = {0};

	schedule__init(&s, 1, 0.02, 7);
	for (int i = 0; i < 2000; i++) {
		const uint64_t at = schedule__next(&s, now, WINDOW_NS);

		tenths[at / WINDOW_NS % 100 / 10]++;
		now = at + WINDOW_NS;
	}
	for (int i = 0; i < 10; i++)
		cr_expect(tenths[i] > 140 && tenths[i] < 260, "tenth %d: %d of 2000", i, tenths[i]);
}

Test(monitor_schedule, the_budget_lowers_the_duty_and_nothing_raises_it)
{
	struct schedule s;

	schedule__init(&s, 0.005, 0.02, 1);
	schedule__measured(&s, 0.02);
	cr_expect_float_eq(s.duty, 0.02, 1e-9, "0.005 / 0.02 is more than the most");
	for (int i = 0; i < SCHEDULE_OVERHEADS; i++)
		schedule__measured(&s, 1);
	cr_expect_float_eq(s.duty, 0.005, 1e-9);
	for (int i = 0; i < 100; i++)
		schedule__measured(&s, 0.01);
	cr_expect_float_eq(s.duty, 0.005, 1e-9);
}

Test(monitor_schedule, one_odd_window_changes_nothing)
{
	struct schedule s;

	schedule__init(&s, 0.005, 0.02, 1);
	for (int i = 0; i < 4; i++)
		schedule__measured(&s, 0.1);
	schedule__measured(&s, 50);
	cr_expect_float_eq(s.duty, 0.02, 1e-9);
	schedule__measured(&s, NAN);
	schedule__measured(&s, INFINITY);
	schedule__measured(&s, -1);
	cr_expect_float_eq(s.duty, 0.02, 1e-9);
}

Test(monitor_schedule, a_busy_window_never_ends_windows_for_good)
{
	struct schedule s;

	schedule__init(&s, 1e-9, 0.02, 1);
	schedule__measured(&s, 99);
	cr_expect_gt(s.duty, 0);
	cr_expect_lt(schedule__next(&s, 0, WINDOW_NS), 200000 * WINDOW_NS);
}

static bool is_four(const void *ctx, pid_t pid, uint64_t start_ticks)
{
	(void)ctx;
	return pid == 4 && start_ticks == 40;
}

Test(monitor_schedule, the_second_failure_waits_and_each_doubles)
{
	struct backoffs b = {0};

	cr_expect_eq(backoffs__add(&b, 4, 40, 1), 0);
	cr_expect_not(backoffs__has(&b, 4, 40, 1));
	cr_expect_eq(backoffs__add(&b, 4, 40, 2), BACKOFF_FIRST_NS);
	cr_expect(backoffs__has(&b, 4, 40, 3));
	cr_expect_not(backoffs__has(&b, 4, 41, 3), "another process with its number");
	cr_expect_not(backoffs__has(&b, 4, 40, 2 + BACKOFF_FIRST_NS));
	cr_expect_eq(backoffs__add(&b, 4, 40, 3), 2 * BACKOFF_FIRST_NS);
	for (int i = 0; i < 100; i++)
		backoffs__add(&b, 4, 40, 4);
	cr_expect_eq(backoffs__add(&b, 4, 40, 5), BACKOFF_MAX_NS);
	backoffs__add(&b, 5, 50, 5);
	backoffs__keep(&b, is_four, NULL);
	cr_expect_eq(b.cnt, 1);
	backoffs__free(&b);
}

Test(monitor_schedule, what_a_long_window_used_up_is_waited_for)
{
	struct schedule s;
	uint64_t at;

	schedule__init(&s, 0.005, 0.02, 1);
	at = schedule__next(&s, 0, WINDOW_NS);
	schedule__used(&s, at, at + 10 * WINDOW_NS);
	cr_expect_geq(schedule__next(&s, at + 10 * WINDOW_NS, WINDOW_NS), at + 500 * WINDOW_NS);
}

/* 0.1 s a step, and an evaluation of a minute that a census finds. */
Test(monitor_schedule, one_pause_does_not_change_the_time_of_a_step)
{
	struct step_time t = {0};

	step_time__count(&t, 0, 5 * WINDOW_NS);
	cr_expect_eq(step_time__ns(&t), 0);
	for (uint64_t i = 1; i <= 4; i++)
		step_time__count(&t, 50 * i, (5 + 5 * i) * WINDOW_NS);
	step_time__count(&t, 200, 60 * WINDOW_NS);
	step_time__count(&t, 225, 90 * WINDOW_NS);
	cr_expect_eq(step_time__ns(&t), WINDOW_NS / 10);
}

/* Each census that sees one has waited for it. */
Test(monitor_schedule, long_steps_are_measured_too)
{
	struct step_time t = {0};

	for (uint64_t i = 0; i <= 100; i++)
		step_time__count(&t, i / 10, (1 + 5 * i) * WINDOW_NS);
	cr_expect_eq(step_time__ns(&t), 50 * WINDOW_NS);
}

Test(monitor_schedule, failures_are_forgiven_in_time)
{
	struct backoffs b = {0};
	uint64_t now = 1;

	for (int i = 0; i < 5; i++)
		backoffs__add(&b, 4, 40, now);
	now = b.items[0].until_ns + 3 * BACKOFF_FORGIVE_NS;
	cr_expect_eq(backoffs__add(&b, 4, 40, now), 2 * BACKOFF_FIRST_NS,
		     "the third, not the sixth");
	/* One a day, of a job of many weeks. */
	for (int i = 0; i < 50; i++) {
		now = b.items[0].until_ns + 4 * BACKOFF_FORGIVE_NS;
		cr_expect_leq(backoffs__add(&b, 4, 40, now), BACKOFF_FIRST_NS);
	}
	backoffs__free(&b);
}

Test(monitor_schedule, good_windows_make_the_wait_after_a_loss_shorter)
{
	struct loss_hold h = {0};

	cr_expect_eq(loss_hold__after(&h, WINDOW_OK), 0);
	cr_expect_eq(loss_hold__after(&h, WINDOW_LOST), BACKOFF_FIRST_NS);
	cr_expect_eq(loss_hold__after(&h, WINDOW_LOST), 2 * BACKOFF_FIRST_NS);
	cr_expect_eq(loss_hold__after(&h, WINDOW_EMPTY), 0);
	for (int i = 0; i < LOSS_HOLD_FORGIVE; i++)
		cr_expect_eq(loss_hold__after(&h, WINDOW_OK), 0);
	cr_expect_eq(loss_hold__after(&h, WINDOW_LOST), 2 * BACKOFF_FIRST_NS);
	for (int i = 0; i < 100; i++)
		loss_hold__after(&h, WINDOW_LOST);
	cr_expect_eq(loss_hold__after(&h, WINDOW_LOST), BACKOFF_MAX_NS);
}

Test(monitor_schedule, another_budget_holds_for_what_was_measured_before)
{
	struct schedule s;

	schedule__init(&s, 0.005, 0.02, 1);
	schedule__measured(&s, 0.5);
	cr_expect_float_eq(s.duty, 0.01, 1e-12);
	schedule__set_budget(&s, 0.0025, 0.02);
	cr_expect_float_eq(s.duty, 0.005, 1e-12);
	schedule__set_budget(&s, 0.02, 0.03); /* more than before */
	cr_expect_float_eq(s.duty, 0.03, 1e-12);
}

/* Whoever asks for windows gets them at once. */
Test(monitor_schedule, windows_beyond_the_duty_add_up)
{
	struct schedule s;

	schedule__init(&s, 0.005, 0.02, 1);
	for (uint64_t i = 1; i <= 4; i++)
		schedule__used(&s, 2 * i * WINDOW_NS, (2 * i + 1) * WINDOW_NS);
	cr_expect_geq(schedule__next(&s, 10 * WINDOW_NS, WINDOW_NS), (2 + 4 * 50) * WINDOW_NS);
}

/* One has probes that cost five times as much. */
Test(monitor_schedule, a_window_of_all_ranks_keeps_the_duty_of_each)
{
	struct schedule a, b, *const all[] = {&a, &b};
	uint64_t now = 0, open = 0;
	int tenths[10] = {0};

	schedule__init(&a, 0.005, 0.02, 3);
	schedule__init(&b, 0.005, 0.02, 5);
	schedule__measured(&b, 1.25);
	for (int i = 0; i < 2000; i++) {
		const uint64_t at = schedule__next_of_all(all, 2, now, WINDOW_NS);

		cr_assert_geq(at, now);
		tenths[at / WINDOW_NS % 100 / 10]++;
		now = at + WINDOW_NS;
		open += WINDOW_NS;
		schedule__used(&a, at, now);
		schedule__used(&b, at, now);
		cr_assert_geq(schedule__next(&a, now, WINDOW_NS), a.paid_ns);
	}
	cr_expect_leq((double)open / (double)now, 0.004 * 1.001);
	for (int i = 0; i < 10; i++)
		cr_expect(tenths[i] > 140 && tenths[i] < 260, "tenth %d: %d of 2000", i, tenths[i]);
}

static void compare(struct schedule *s, size_t cnt, double inside_s)
{
	for (size_t i = 0; i < cnt; i++)
		schedule__compared(s, inside_s, 0.1);
}

/* The estimate leaves out what CUPTI costs. The steps tell. */
Test(monitor_schedule, slower_steps_in_windows_lower_the_duty)
{
	struct schedule s;

	schedule__init(&s, 0.005, 0.02, 1);
	compare(&s, SCHEDULE_COMPARED - 1, 0.15);
	cr_expect_float_eq(s.duty, 0.02, 1e-9, "too few windows");
	cr_expect_float_eq(schedule__growth(&s), 0, 1e-9);
	compare(&s, 1, 0.15);
	cr_expect_float_eq(schedule__growth(&s), 0.5, 1e-9);
	cr_expect_float_eq(s.duty, 0.01, 1e-9);
	compare(&s, SCHEDULE_COMPARED, 0.1);
	cr_expect_float_eq(s.duty, 0.01, 1e-9, "nothing raises it");
}

/* A busy host: half of the windows are faster, half are slower. */
Test(monitor_schedule, noise_does_not_lower_the_duty)
{
	struct schedule s;

	schedule__init(&s, 0.005, 0.02, 1);
	for (int i = 0; i < 100; i++)
		schedule__compared(&s, i % 2 ? 0.09 : 0.3, 0.1);
	cr_expect_float_eq(s.duty, 0.02, 1e-9);
}

Test(monitor_schedule, impossible_comparisons_are_ignored)
{
	struct schedule s;
	const double bad[] = {0, -1, NAN, INFINITY};

	schedule__init(&s, 0.005, 0.02, 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		schedule__compared(&s, bad[i], 0.1);
		schedule__compared(&s, 0.1, bad[i]);
	}
	cr_expect_eq(s.growth_cnt, 0);
}
