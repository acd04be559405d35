// SPDX-License-Identifier: BSD-2-Clause
/* --timer-only: which probes of the step group stay, by framework's way to show steps. */
#include "capture/arming/timer_only.h"
#include <criterion/criterion.h>

enum { BEGIN, END, LOADER, BACKWARD, SWITCH, ASYNC, AHEAD, GRAPH, OWN, CNT };

static struct planned_probe probes[CNT] = {
	[BEGIN] = {.group = GROUP_STEP, .program = "range_enter"},
	[END] = {.group = GROUP_STEP, .program = "range_exit"},
	[LOADER] = {.group = GROUP_STEP,
		    .program = "phase_entry",
		    .cfg = {.code = PT_CLASS_DATALOADER}},
	[BACKWARD] = {.group = GROUP_STEP,
		      .program = "phase_entry",
		      .cfg = {.code = PT_CLASS_BACKWARD}},
	[SWITCH] = {.group = GROUP_STEP, .program = "forward_switch"},
	[ASYNC] = {.group = GROUP_STEP, .program = "async_begin"},
	[AHEAD] = {.group = GROUP_STEP, .program = "phase_ahead"},
	[GRAPH] = {.group = GROUP_STEP,
		   .program = "named_phase_entry",
		   .cfg = {.code = PT_CLASS_GRAPH}},
	[OWN] = {.group = GROUP_STEP, .program = "step_probe"},
};

/* Ranges have the names that PyTorch gives to loaders and optimizers. */
static struct probe_plan plan_of(size_t cnt)
{
	struct probe_plan plan = {.probes = probes, .cnt = cnt, .name_rule_cnt = 2};

	plan.name_rules[0] = (struct pt_name_rule){"load", 4, PT_CLASS_DATALOADER};
	plan.name_rules[1] = (struct pt_name_rule){"optim", 5, PT_CLASS_OPTIMIZER};
	return plan;
}

static void expect(const struct probe_plan *plan, const struct step_rule *rule,
		   const bool needed[CNT])
{
	for (size_t i = 0; i < plan->cnt; i++)
		cr_expect_eq(timer_only__needs(plan, rule, &probes[i]), needed[i], "%s (%zu)",
			     probes[i].program, i);
}

Test(timer_only, ranges_that_name_the_optimizer_stay)
{
	const struct step_rule rule = {.boundary = PT_CLASS_DATALOADER,
				       .needs = PT_CLASS_OPTIMIZER};
	const struct probe_plan plan = plan_of(CNT);

	expect(&plan, &rule,
	       (bool[CNT]){[BEGIN] = true,
			   [END] = true,
			   [LOADER] = true,
			   [GRAPH] = true,
			   [OWN] = true});
}

Test(timer_only, ranges_go_where_probes_of_their_own_tell)
{
	const struct step_rule rule = {.boundary = PT_CLASS_DATALOADER, .needs = PT_CLASS_BACKWARD};
	struct probe_plan plan = plan_of(CNT);

	expect(&plan, &rule, (bool[CNT]){[LOADER] = true, [BACKWARD] = true, [OWN] = true});
	plan.name_rule_cnt = 0;
	expect(&plan, &rule, (bool[CNT]){[LOADER] = true, [BACKWARD] = true, [OWN] = true});
}

Test(timer_only, steps_at_the_forward_pass)
{
	const struct step_rule rule = {.boundary = PT_CLASS_FORWARD, .needs = PT_CLASS_BACKWARD};
	struct probe_plan plan = plan_of(CNT);

	plan.name_rule_cnt = 0;
	expect(&plan, &rule,
	       (bool[CNT]){[LOADER] = true, [BACKWARD] = true, [SWITCH] = true, [OWN] = true});
}

/* --step-range is a name rule of the user's. Only ranges show such steps. */
Test(timer_only, a_range_of_the_users)
{
	const struct step_rule rule = {.boundary = PT_CLASS_USER_STEP};
	struct probe_plan plan = plan_of(CNT);

	plan.name_rules[0].name_class = PT_CLASS_USER_STEP;
	expect(&plan, &rule,
	       (bool[CNT]){[BEGIN] = true,
			   [END] = true,
			   [LOADER] = true,
			   [GRAPH] = true,
			   [OWN] = true});
}

Test(timer_only, a_function_of_the_users_is_the_one_probe)
{
	const struct step_rule rule = {.boundary = PT_CLASS_STEP_PROBE};
	const struct probe_plan plan = plan_of(CNT);

	expect(&plan, &rule, (bool[CNT]){[OWN] = true});
}

/* MindSpore's optimizers are compiled graphs with a name of theirs. */
Test(timer_only, a_graph_by_its_name_and_by_its_kind)
{
	const struct step_rule by_name = {.boundary = PT_CLASS_DATALOADER,
					  .needs = PT_CLASS_OPTIMIZER};
	const struct step_rule by_kind = {.boundary = PT_CLASS_GRAPH};
	struct probe_plan plan = plan_of(CNT);

	cr_expect(timer_only__needs(&plan, &by_name, &probes[GRAPH]));
	plan.name_rule_cnt = 0;
	cr_expect_not(timer_only__needs(&plan, &by_name, &probes[GRAPH]));
	cr_expect(timer_only__needs(&plan, &by_kind, &probes[GRAPH]));
}

/* Frames of proftrace.h: their begin has a class, but the end of a range has none. */
Test(timer_only, begins_and_ends_go_together)
{
	static struct planned_probe frames[] = {
		{.group = GROUP_STEP,
		 .program = "range_start",
		 .cfg = {.code = PT_CLASS_ITERATION}},
		{.group = GROUP_STEP, .program = "range_stop"},
	};
	const struct probe_plan plan = {.probes = frames, .cnt = 2};
	const struct step_rule by_frame = {.boundary = PT_CLASS_ITERATION};
	const struct step_rule other = {.boundary = PT_CLASS_BACKWARD};

	for (size_t i = 0; i < plan.cnt; i++) {
		cr_expect(timer_only__needs(&plan, &by_frame, &frames[i]));
		cr_expect_not(timer_only__needs(&plan, &other, &frames[i]));
	}
}
