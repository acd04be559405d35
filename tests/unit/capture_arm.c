// SPDX-License-Identifier: BSD-2-Clause
/* Tests how long before a window its probes are attached. */
#include "capture/arming/arm.h"
#include "capture/arming/until_window.h"
#include "capture/processes/follow.h"
#include "common/util.h"
#include <criterion/criterion.h>
#include <errno.h>

#define MS 1000000ull

extern const struct component component_children, component_window_file;

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

/* As at the time of --start-at. */
Test(arm, probes_that_are_in_stay_at_their_time)
{
	struct pt_ctl ctl = {.armed = 1};
	struct session session = {.residency = RESIDENCY_FULL, .probes.ctl = &ctl};

	cr_expect_eq(arm__poll_time(&session, 0), 0);
	cr_expect(session.residency == RESIDENCY_FULL && ctl.armed);
}

Test(arm, no_window_opens_while_steps_are_looked_for)
{
	struct pt_ctl ctl = {.armed = 1};
	struct session session = {.residency = RESIDENCY_FULL, .probes.ctl = &ctl};

	arm__detach_operators(&session);
	cr_expect(session.residency == RESIDENCY_STEPS_ONLY && !ctl.armed);
	arm__detach_operators(&session);
	cr_expect(session.residency == RESIDENCY_STEPS_ONLY && !ctl.armed);
}

/* Of a schedule that closes for so many steps of 1 ms, at its first. */
static uint64_t idle_before(uint64_t steps)
{
	struct pt_ctl ctl = {.schedule = {.closed = steps, .record = 10, .repeat = 1},
			     .started = 1};
	const struct capture_opts opts = {0};
	const struct session session = {.probes.ctl = &ctl, .opts = &opts, .step_length.ns = MS};

	return arm__quiet_ns(&session) / MS;
}

Test(idle, sleeps_longer_the_farther_the_window_is)
{
	cr_expect_eq(idle_before(1000), QUIET_LEAST_NS / MS);
	cr_expect_eq(idle_before(10000), 200);
	cr_expect_eq(idle_before(26000), 1000);
	cr_expect_gt(idle_before(UINT64_MAX / 2), 3600 * 1000);
}

Test(idle, a_window_has_no_sleep_and_a_pause_the_longest)
{
	struct pt_ctl ctl = {.hold = PT_HOLD_CLOSED};
	const struct capture_opts opts = {0};
	struct session session = {.probes.ctl = &ctl, .opts = &opts, .step_length.ns = MS};

	cr_expect_gt(arm__quiet_ns(&session), 3600 * 1000 * MS);
	session.residency = RESIDENCY_FULL;
	cr_expect_eq(arm__quiet_ns(&session), READ_NS);
}

/* ---- by when the next turn comes ---- */

Test(loop, a_child_that_has_just_forked_has_its_turn_soon)
{
	const uint64_t now_ns = clock__monotonic_ns();
	uint64_t next_ns = UINT64_MAX;
	const struct capture_opts opts = {0};
	struct session session = {.opts = &opts};

	follow__forked(&session, 1, now_ns + 1000 * MS);
	follow__forked(&session, 2, now_ns + 500 * MS);
	cr_expect_eq(component_children.poll(&session, &next_ns), 0);
	cr_expect_eq(session.children.newborn_cnt, 2);
	cr_expect_geq(next_ns, now_ns + 500 * MS);
	cr_expect_lt(next_ns, now_ns + 600 * MS);
	free(session.children.newborn);
}

Test(loop, records_of_a_window_are_read_often)
{
	uint64_t next_ns = UINT64_MAX;
	struct session session = {.window.writer = NULL};

	cr_expect_eq(component_window_file.poll(&session, &next_ns), 0);
	cr_expect_eq(next_ns, UINT64_MAX);
	session.window.writer = (void *)&session;
	cr_expect_eq(component_window_file.poll(&session, &next_ns), 0);
	cr_expect_leq(next_ns, clock__monotonic_ns() + READ_NS);
}

static int polled;

static int poll_once(struct session *s, uint64_t *next_ns)
{
	(void)next_ns;
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
	uint64_t next_ns = UINT64_MAX;

	cr_expect_eq(components__poll(&session, STAGE_PREPARE, 0, &next_ns), -EIO);
	cr_expect_eq(polled, 2);
	cr_expect_eq(components__poll(&session, STAGE_PREPARE, -ESRCH, &next_ns), -ESRCH);
	cr_expect_eq(polled, 3);
}
