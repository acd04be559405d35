// SPDX-License-Identifier: BSD-2-Clause
/* How long before a window its probes are attached. */
#include "capture/arming/arm.h"
#include "capture/arming/until_window.h"
#include <criterion/criterion.h>
#include <errno.h>

#define MS 1000000ull

Test(arm, lead_is_what_is_usually_plenty)
{
	cr_expect_eq(arm__lead_after(0), 1500 * MS);
	cr_expect_eq(arm__lead_after(300 * MS), 1500 * MS);
}

Test(arm, lead_is_twice_what_attaching_took)
{
	const struct session session = {.attaching.longest_ns = 7000 * MS};

	cr_expect_eq(arm__lead_after(751 * MS), 1502 * MS);
	cr_expect_eq(arm__lead_ns(&session), 14000 * MS);
}

Test(arm, a_window_that_opened_meanwhile_keeps_its_probes)
{
	struct pt_ctl ctl = {.armed = 1, .window_open = 1};
	struct session session = {.residency = RESIDENCY_FULL, .probes.ctl = &ctl};

	cr_expect_eq(arm__poll_time(&session, UINT64_MAX), 0);
	cr_expect(session.residency == RESIDENCY_FULL && ctl.armed);
}

/* Of a schedule that closes for so many steps of 1 ms, at its first. */
static int idle_before(uint64_t steps)
{
	struct pt_ctl ctl = {.schedule = {.closed = steps, .record = 10, .repeat = 1},
			     .started = 1};
	const struct capture_opts opts = {0};
	const struct session session = {.probes.ctl = &ctl,
					.opts = &opts,
					.components = session_components,
					.step_length.ns = MS};

	return components__quiet_ms(&session, 1000);
}

Test(idle, sleeps_longer_the_farther_the_window_is)
{
	cr_expect_eq(idle_before(1000), QUIET_LEAST_MS);
	cr_expect_eq(idle_before(10000), 200);
	cr_expect_eq(idle_before(26000), 1000);
	cr_expect_eq(idle_before(UINT64_MAX / 2), 1000);
}

Test(idle, a_window_has_no_sleep_and_a_pause_the_longest)
{
	struct pt_ctl ctl = {.hold = PT_HOLD_CLOSED};
	const struct capture_opts opts = {0};
	struct session session = {.probes.ctl = &ctl,
				  .opts = &opts,
				  .components = session_components,
				  .step_length.ns = MS};

	cr_expect_eq(components__quiet_ms(&session, 1000), 1000);
	cr_expect_eq(components__quiet_ms(&session, 200), 200);
	session.children.newborn_cnt = 1;
	cr_expect_eq(components__quiet_ms(&session, 1000), QUIET_LEAST_MS);
	session.residency = RESIDENCY_FULL;
	cr_expect_eq(components__quiet_ms(&session, 1000), 0);
}

static int polled;

static int poll_once(struct session *s)
{
	(void)s;
	polled++;
	return -EIO;
}

Test(loop, after_an_error_only_those_are_polled_that_ask_for_it)
{
	const struct component fails = {.name = "fails", .poll = poll_once};
	const struct component answers = {
		.name = "answers", .poll = poll_once, .after_errors = true};
	const struct component *const table[] = {&fails, &fails, &answers, NULL};
	struct session session = {.components = table};

	cr_expect_eq(components__poll(&session, STAGE_PREPARE, 0), -EIO);
	cr_expect_eq(polled, 2);
	cr_expect_eq(components__poll(&session, STAGE_PREPARE, -ESRCH), -ESRCH);
	cr_expect_eq(polled, 3);
}
