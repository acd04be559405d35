// SPDX-License-Identifier: BSD-2-Clause
/* How long before a window its probes are attached. */
#include "capture/arming/arm.h"
#include "capture/arming/idle.h"
#include <criterion/criterion.h>

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
	const struct session session = {.probes.ctl = &ctl, .opts = &opts, .step_length.ns = MS};

	return idle__ms(&session);
}

Test(idle, sleeps_longer_the_farther_the_window_is)
{
	cr_expect_eq(idle_before(1000), IDLE_LEAST_MS);
	cr_expect_eq(idle_before(10000), 200);
	cr_expect_eq(idle_before(26000), IDLE_MOST_MS);
	cr_expect_eq(idle_before(UINT64_MAX / 2), IDLE_MOST_MS);
}

Test(idle, a_window_has_no_sleep_and_a_pause_the_longest)
{
	struct pt_ctl ctl = {.hold = PT_HOLD_CLOSED};
	struct capture_opts opts = {0};
	struct session session = {.probes.ctl = &ctl, .opts = &opts, .step_length.ns = MS};

	cr_expect_eq(idle__ms(&session), IDLE_MOST_MS);
	opts.progress = true;
	cr_expect_eq(idle__ms(&session), IDLE_SHOWN_MS);
	session.children.newborn_cnt = 1;
	cr_expect_eq(idle__ms(&session), IDLE_LEAST_MS);
	session.residency = RESIDENCY_FULL;
	cr_expect_eq(idle__ms(&session), 0);
}
