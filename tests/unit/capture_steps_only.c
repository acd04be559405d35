// SPDX-License-Identifier: BSD-2-Clause
/* Between windows: which probes of the step group stay. */
#include "capture/arming/steps_only.h"
#include "capture/session.h"
#include <criterion/criterion.h>

enum { BEGIN, END, START, STOP, BACKWARD, UPDATE, ASYNC, AHEAD, OWN, CNT };

static struct planned_probe probes[CNT] = {
	[BEGIN] = {.group = GROUP_STEP, .program = "range_enter"},
	[END] = {.group = GROUP_STEP, .program = "range_exit"},
	[START] = {.group = GROUP_STEP,
		   .program = "range_start",
		   .cfg = {.code = PT_CLASS_ITERATION}},
	[STOP] = {.group = GROUP_STEP, .program = "range_stop"},
	[BACKWARD] = {.group = GROUP_STEP,
		      .program = "phase_entry",
		      .cfg = {.code = PT_CLASS_BACKWARD}},
	[UPDATE] = {.group = GROUP_STEP,
		    .program = "phase_entry",
		    .cfg = {.code = PT_CLASS_OPTIMIZER_OP}},
	[ASYNC] = {.group = GROUP_STEP, .program = "async_begin"},
	[AHEAD] = {.group = GROUP_STEP, .program = "phase_ahead"},
	[OWN] = {.group = GROUP_STEP, .program = "step_probe"},
};

#define OUT GROUP_PHASE

static void expect(const struct step_rule *rule, const enum probe_group groups[CNT])
{
	struct probe_plan plan = {.probes = probes, .cnt = CNT, .name_rule_cnt = 1};

	plan.name_rules[0] = (struct pt_name_rule){"optim", 5, PT_CLASS_OPTIMIZER};
	for (size_t i = 0; i < CNT; i++)
		cr_expect_eq(steps_only__group(&plan, rule, &probes[i]), groups[i], "%zu: %s", i,
			     probes[i].program);
}

Test(rest, ranges_tell_by_their_begins)
{
	const struct step_rule rule = {.boundary = PT_CLASS_OPTIMIZER, .at_end = true};

	expect(&rule, (enum probe_group[CNT]){[END] = OUT,
					      [STOP] = OUT,
					      [BACKWARD] = OUT,
					      [UPDATE] = OUT,
					      [ASYNC] = OUT,
					      [AHEAD] = OUT});
}

Test(rest, phases_stay_where_they_make_steps)
{
	const struct step_rule rule = {.boundary = PT_CLASS_BACKWARD, .at_end = true};

	expect(&rule, (enum probe_group[CNT]){[BEGIN] = OUT,
					      [END] = OUT,
					      [START] = OUT,
					      [STOP] = OUT,
					      [UPDATE] = OUT,
					      [ASYNC] = OUT,
					      [AHEAD] = OUT});
}

Test(rest, ranges_of_the_class_of_their_own_stay)
{
	const struct step_rule rule = {.boundary = PT_CLASS_ITERATION};

	expect(&rule, (enum probe_group[CNT]){[BEGIN] = OUT,
					      [END] = OUT,
					      [STOP] = OUT,
					      [BACKWARD] = OUT,
					      [UPDATE] = OUT,
					      [ASYNC] = OUT,
					      [AHEAD] = OUT});
}

static const enum probe_group by_updates[CNT] = {
	[BEGIN] = OUT,		 [END] = OUT,	[START] = OUT, [STOP] = OUT,
	[UPDATE] = GROUP_UPDATE, [ASYNC] = OUT, [AHEAD] = OUT,
};

Test(rest, updates_may_go_where_backward_passes_stay)
{
	const struct step_rule asked = {.boundary = PT_CLASS_DATALOADER,
					.needs = PT_CLASS_OPTIMIZER_OP};
	const struct step_rule updated = {.boundary = PT_CLASS_OPTIMIZER_OP,
					  .needs = PT_CLASS_BACKWARD};

	expect(&asked, by_updates);
	expect(&updated, by_updates);
}

/* The programs count on: steps before the probes went do not count. */
Test(rest, backward_passes_tell_once_64_steps_since_had_one)
{
	struct pt_ctl ctl = {.step_seq = 1000, .passes_alike = 500};
	const struct capture_opts opts = {0};
	struct session session = {.opts = &opts,
				  .probes = {.ctl = &ctl, .attached[GROUP_UPDATE] = true}};

	steps_only__begin(&session);
	ctl.step_seq += 63;
	ctl.passes_alike += 63;
	steps_only__go_on(&session);
	cr_expect(ctl.steps_only && !ctl.pass_is_update);
	ctl.step_seq++;
	ctl.passes_alike = 63; /* one of them had none */
	steps_only__go_on(&session);
	cr_expect_not(ctl.pass_is_update);
	ctl.step_seq++;
	ctl.passes_alike++;
	steps_only__go_on(&session);
	cr_expect(ctl.pass_is_update);
}
