// SPDX-License-Identifier: BSD-2-Clause
/* Tests the cost of each kind of probe, and which program counts its hits. */
#include "capture/arming/probe_kind.h"
#include <criterion/criterion.h>

Test(probe_kind, a_span_of_a_uprobe_is_a_second_hit_and_a_breakpoint_has_its_own_price)
{
	const struct probe_cost cost = {.cold_hit_ns = 1000, .watch_ns = 5000};
	const struct pt_probe_stat stat = {.hits = 10, .spans = 4};

	cr_expect_eq(probe_kind__of(GROUP_STEP)->cost_ns(&cost, &stat), 14000);
	cr_expect_eq(probe_kind__of(GROUP_NODE_TYPE)->cost_ns(&cost, &stat), 14000);
	cr_expect_eq(probe_kind__of(GROUP_ENCLOSING)->cost_ns(&cost, &stat), 10000);
	cr_expect_eq(probe_kind__of(GROUP_WATCH)->cost_ns(&cost, &stat), 70000);
}

Test(probe_kind, the_programs_count_what_encloses_a_step_and_the_decoder_the_others)
{
	struct pt_ctl ctl = {.enclosing_hits = 50};
	const struct session session = {.probes.ctl = &ctl, .before.enclosing_hits = 20};

	cr_expect_eq(probe_kind__of(GROUP_ENCLOSING)->hits(&session, 7), 30);
	cr_expect_eq(probe_kind__of(GROUP_OPERATOR)->hits(&session, 7), 7);
	cr_expect_eq(probe_kind__of(GROUP_WATCH)->hits(&session, 7), 7);
}

Test(probe_kind, data_breakpoints_make_steps_of_ranges_and_of_the_rules_row)
{
	struct planned_probe probe = {.group = GROUP_WATCH, .row = 3};
	struct capture_opts opts = {0};
	struct session session = {.plan = {.probes = &probe, .cnt = 1}, .opts = &opts};

	cr_expect_not(probe_kind__makes_steps(&session, GROUP_WATCH));
	session.rule.row = 3;
	cr_expect(probe_kind__makes_steps(&session, GROUP_WATCH));
	cr_expect_not(probe_kind__makes_steps(&session, GROUP_STEP));
	session.rule.row = 0;
	opts.step_range = "step";
	cr_expect(probe_kind__makes_steps(&session, GROUP_WATCH));
}
