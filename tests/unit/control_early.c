// SPDX-License-Identifier: BSD-2-Clause
/* Tests proftrace ctl's answer before a session has its probes in the process. */
#include <criterion/criterion.h>
#include <string.h>
#include "bpf/ctl.h"
#include "capture/control/control_early.h"
#include "capture/session.h"
#include "common/util.h"

TestSuite(control_early);

static void expect(struct session *s, enum control_verb verb, bool obeyed, const char *said)
{
	char out[CONTROL_MAX] = "";

	cr_expect_eq(control_early__obey(s, verb, out, sizeof(out)), obeyed, "%s", out);
	cr_expect_eq(strncmp(out, said, strlen(said)), 0, "%s", out);
}

static void expect_state(const struct session *s, const char *state)
{
	char out[128];

	cr_expect(control_early__is(s));
	control_early__state(s, out, sizeof(out));
	cr_expect_str_eq(out, state);
}

static struct session waiting(void)
{
	const uint64_t in_60_s = clock__ns(CLOCK_REALTIME) + 60000000000ull;

	return (struct session){.start.at_ns = in_60_s};
}

Test(control_early, start_ends_the_wait_and_the_windows_are_those_asked_for)
{
	struct session s = waiting();

	expect_state(&s, "waiting to start, in 60 s");
	expect(&s, CONTROL_START, true, "it starts now, and not in ");
	cr_expect(s.start.now);
	cr_expect_eq(s.start.hold, PT_HOLD_NONE);
	expect_state(&s, "attaching");
}

Test(control_early, start_of_one_that_is_paused_opens_a_window)
{
	struct session s = waiting();

	expect(&s, CONTROL_PAUSE, true, "no window opens before `start`");
	cr_expect_eq(s.start.hold, PT_HOLD_CLOSED);
	expect(&s, CONTROL_PAUSE, false, "it is paused already");
	expect(&s, CONTROL_RESUME, true, "it starts now");
	cr_expect_eq(s.start.hold, PT_HOLD_RECORD);
}

Test(control_early, start_while_it_attaches_is_kept)
{
	struct session s = {.start.awaits_framework = true};

	expect_state(&s, "waiting for a framework");
	s.start.awaits_framework = false;
	expect(&s, CONTROL_START, true, "recording begins when the probes are attached");
	cr_expect_eq(s.start.hold, PT_HOLD_RECORD);
}

Test(control_early, there_is_no_window_to_end)
{
	struct session s = {.start.at_ns = 1};

	expect(&s, CONTROL_DUMP, false, "no window is open yet: waiting to start, in 0 s");
	s.start.at_ns = 0;
	expect(&s, CONTROL_RESET, false, "no window is open yet: attaching");
	s.attaching.is_done = true;
	cr_expect_not(control_early__is(&s));
}
