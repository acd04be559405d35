// SPDX-License-Identifier: BSD-2-Clause
/* How long before a window its probes are attached. */
#include "capture/arming/arm.h"
#include <criterion/criterion.h>

#define MS 1000000ull

Test(arm, lead_is_what_is_usually_plenty)
{
	cr_expect_eq(arm__lead_after(0), 1500 * MS);
	cr_expect_eq(arm__lead_after(300 * MS), 1500 * MS);
}

Test(arm, lead_is_twice_what_attaching_took)
{
	const struct session session = {.longest_attach_ns = 7000 * MS};

	cr_expect_eq(arm__lead_after(751 * MS), 1502 * MS);
	cr_expect_eq(arm__lead_ns(&session), 14000 * MS);
}

Test(arm, a_window_that_opened_meanwhile_keeps_its_probes)
{
	struct pt_ctl ctl = {.armed = 1, .window_open = 1};
	struct session session = {.armed = true, .probes.ctl = &ctl};

	cr_expect_eq(arm__rest(&session), 0);
	cr_expect(session.armed && ctl.armed);
}
