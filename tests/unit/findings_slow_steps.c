// SPDX-License-Identifier: BSD-2-Clause
/* Findings about steps that take longer than most, and how these steps differ. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "finding_job.h"

TestSuite(findings_slow_steps);

Test(findings_slow_steps, a_slow_step_and_what_is_longer_in_it)
{
	static const struct step_plan slow = {2, 40, 245, 8, 0};
	struct job j = job__new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = job__begin_step(&j, at, i == 6 ? &slow : &healthy);

		synth__step(&j.s, i, at, end);
		at = end;
	}
	job__expect(&j, "slow_steps", "step 6 295.0 ms; 100 % of the surplus lies in Backward");
}

Test(findings_slow_steps, a_step_of_two_iterations_is_told_as_that)
{
	struct job j = job__new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at;

		if (i == 6)
			end = job__begin_step(&j, end, &healthy);
		end = job__begin_step(&j, end, &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	job__expect(&j, "slow_steps", "they hold 2 backward passes, the others 1");
}

/* A graph's operators come in any order. */
Test(findings_slow_steps, a_pass_in_two_pieces_is_one)
{
	struct job j = job__new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		const uint64_t end = at + (i == 6 ? 300 : 100) * MS;

		synth__span(&j.s, j.s.main, CAT_SCRIPT, "run", at, end);
		synth__span(&j.s, j.s.main, CAT_BACKWARD_NODE, "a_grad", at + MS,
			    i == 6 ? at + 40 * MS : end - 10 * MS);
		if (i == 6) {
			synth__span(&j.s, j.s.main, CAT_OPTIMIZER_OP, "adam", at + 40 * MS,
				    at + 45 * MS);
			synth__span(&j.s, j.s.main, CAT_BACKWARD_NODE, "b_grad", at + 45 * MS,
				    end - 10 * MS);
		}
		synth__span(&j.s, j.s.main, CAT_OPTIMIZER_OP, "adam", end - 10 * MS, end - MS);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	job__expect(&j, "slow_steps", "lies in Backward; 100 % in b_grad itself");
}

Test(findings_slow_steps, not_each_slow_step_need_be_of_two_iterations)
{
	static const struct step_plan slow = {2, 50, 230, 8, 0};
	struct job j = job__new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = at;

		if (i == 4 || i == 6)
			end = job__begin_step(&j, end, &healthy);
		end = job__begin_step(&j, end, i == 8 ? &slow : &healthy);
		synth__step(&j.s, i, at, end);
		at = end;
	}
	job__expect(&j, "slow_steps", "2 of these 3 hold 2 backward passes, a usual one 1");
}

Test(findings_slow_steps, steps_that_are_slow_half_of_the_time_are_usual)
{
	static const struct step_plan slow = {2, 240, 45, 8, 0};
	struct job j = job__new();
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = job__begin_step(&j, at, i % 5 < 3 ? &healthy : &slow);

		synth__step(&j.s, i, at, end);
		at = end;
	}
	job__expect(&j, NULL, NULL);
}

Test(findings_slow_steps, steps_that_alone_have_an_update_are_none)
{
	static const struct step_plan accumulates = {2, 40, 45, 0, 0}, updates = {2, 40, 45, 80, 0};
	static const struct step_plan slow = {2, 40, 145, 0, 0};

	for (int one_is_slow = 0; one_is_slow < 2; one_is_slow++) {
		struct job j = job__new();
		uint64_t at = 0;

		for (uint64_t i = 0; i < STEPS; i++) {
			const struct step_plan *plan = i % 4 == 3 ? &updates : &accumulates;
			uint64_t end =
				job__begin_step(&j, at, one_is_slow && i == 5 ? &slow : plan);

			synth__step(&j.s, i, at, end);
			at = end;
		}
		job__expect(&j, one_is_slow ? "slow_steps" : NULL,
			    one_is_slow ? "3 of 10 steps take more" : NULL);
	}
}

static void slow_operator_steps(struct job *j)
{
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		const bool is_slow = i == 6;
		const struct step_plan plan = {2, is_slow ? 240 : 40, 45, 8, 0};
		const uint64_t mm_ms = is_slow ? 190 : 10;
		uint64_t end;

		synth__span(&j->s, j->s.main, CAT_OPERATOR, "aten::mm", at + 10 * MS,
			    at + (10 + mm_ms) * MS);
		synth__span(&j->s, j->s.main, CAT_OPERATOR, "aten::add", at + (11 + mm_ms) * MS,
			    at + (is_slow ? 31 : 13) * MS + mm_ms * MS);
		job__sched(j, j->s.main, i, SCHED_RUN, is_slow ? 115 : 95);
		job__sched_for(j, j->s.main, i, SCHED_BLOCKED, "read (disk)", is_slow ? 180 : 0);
		synth__memory(&j->s, j->s.main, at + 12 * MS, 0x1000, is_slow ? 90 * MB : MB);
		synth__memory(&j->s, j->s.main, at + 25 * MS, 0x1000, 0);
		end = job__begin_step(j, at, &plan);
		synth__step(&j->s, i, at, end);
		at = end;
	}
}

Test(findings_slow_steps, which_operator_state_and_memory_slow_steps_have_more)
{
	struct job j = job__new();

	slow_operator_steps(&j);
	job__expect(&j, "slow_steps",
		    "100 % of the surplus lies in Forward; 90 % in aten::mm itself; the thread is "
		    "blocked "
		    "for 90 % of it in read (disk); each allocates 90.0 MB, the others 1.0");
}

/* Step 6 is another, in which the thread is ready for `ms`. */
static struct job preempted_job(const struct step_plan *slow, uint64_t ms)
{
	struct job j = job__new();

	for (uint64_t i = 0; i < STEPS; i++) {
		job__sched(&j, j.s.main, i, SCHED_RUN, 50);
		job__sched(&j, j.s.main, i, SCHED_RUNNABLE, i == 6 ? ms : 0);
	}
	job__steps_but(&j, &healthy, 6, slow);
	return j;
}

Test(findings_slow_steps, a_step_without_a_processor_is_told_as_that)
{
	static const struct step_plan slow = {2, 240, 45, 8, 0};
	struct job j = preempted_job(&slow, 180); /* 15.7 % of all */

	job__expect(&j, "cpu_wait", "waits 16 % of the step for a processor");
}

Test(findings_slow_steps, a_step_without_a_processor_is_named_by_cpu_wait)
{
	static const struct step_plan slow = {2, 95, 45, 8, 0};
	struct job j = preempted_job(&slow, 60); /* 6.0 % of all */

	job__expect(&j, "cpu_wait", "100 % of that in 1 of 10 steps (longest 60.00 ms, step 6)");
}

/* 200 ms longer, of which the thread stood ready for 60. */
Test(findings_slow_steps, what_is_left_of_a_slow_step_is_told_without_the_wait)
{
	static const struct step_plan slow = {2, 240, 45, 8, 0};
	struct job j = preempted_job(&slow, 60);

	job__expect_two(&j, "slow_steps", "cpu_wait",
			"median 95.00 ms, step 6 235.0 ms, without waits for a processor");
}
