// SPDX-License-Identifier: BSD-2-Clause
#include "capture/steps/steps.h"
#include <criterion/criterion.h>
#include <string.h>

#define SECOND 1000000000ull

static struct step_rule decide(const __u64 seen[PT_CLASS_CNT], uint64_t elapsed_ns)
{
	const uint64_t updates = seen[PT_CLASS_OPTIMIZER], passes = seen[PT_CLASS_BACKWARD];
	const struct step_evidence e = {.seen = seen,
					.elapsed_ns = elapsed_ns,
					.updates_again = updates > passes ? updates - passes : 0};
	struct step_rule rule = {PT_CLASS_NONE};

	if (!step_rule__decide(&e, &rule))
		rule.boundary = PT_CLASS_NONE;
	return rule;
}

Test(steps, nothing_seen_decides_nothing)
{
	cr_expect_eq(decide((__u64[PT_CLASS_CNT]){0}, 60 * SECOND).boundary, PT_CLASS_NONE);
}

Test(steps, loader_and_optimizer_make_steps_at_the_loader)
{
	struct step_rule rule = decide((__u64[PT_CLASS_CNT]){[PT_CLASS_DATALOADER] = 2,
							     [PT_CLASS_OPTIMIZER] = 1,
							     [PT_CLASS_BACKWARD] = 1},
				       1);

	cr_expect_eq(rule.boundary, PT_CLASS_DATALOADER);
	cr_expect_eq(rule.needs, PT_CLASS_OPTIMIZER);
	cr_expect_not(rule.at_end);
}

Test(steps, gradient_accumulation_waits_for_its_optimizer)
{
	__u64 seen[PT_CLASS_CNT] = {[PT_CLASS_DATALOADER] = 8, [PT_CLASS_BACKWARD] = 8};

	cr_expect_eq(decide(seen, SECOND).boundary, PT_CLASS_NONE);
	seen[PT_CLASS_OPTIMIZER] = 1;
	cr_expect_eq(decide(seen, SECOND).needs, PT_CLASS_OPTIMIZER);
}

Test(steps, an_optimizer_that_cannot_be_seen_is_not_waited_for_for_ever)
{
	__u64 seen[PT_CLASS_CNT] = {[PT_CLASS_DATALOADER] = 8, [PT_CLASS_BACKWARD] = 8};

	cr_expect_eq(decide(seen, 9 * SECOND).boundary, PT_CLASS_NONE, "it may be accumulated");
	cr_expect_eq(decide(seen, 10 * SECOND).boundary, PT_CLASS_DATALOADER);
	cr_expect_eq(decide(seen, 10 * SECOND).needs, PT_CLASS_BACKWARD);
	seen[PT_CLASS_DATALOADER] = seen[PT_CLASS_BACKWARD] = 80;
	cr_expect_eq(decide(seen, 2 * SECOND).boundary, PT_CLASS_NONE);
	cr_expect_eq(decide(seen, 3 * SECOND).needs, PT_CLASS_BACKWARD);
}

Test(steps, an_optimizer_that_shows_late_refutes_the_steps_without_it)
{
	__u64 seen[PT_CLASS_CNT] = {[PT_CLASS_DATALOADER] = 8, [PT_CLASS_BACKWARD] = 8};
	struct step_rule rule = decide(seen, 10 * SECOND);

	seen[PT_CLASS_DATALOADER] = seen[PT_CLASS_BACKWARD] = 80;
	cr_expect_not(step_rule__is_refuted(&rule, seen));
	cr_expect_not(step_rule__is_refuted_by(&rule, seen, PT_CLASS_OPTIMIZER));
	seen[PT_CLASS_OPTIMIZER] = 1;
	cr_expect(step_rule__is_refuted(&rule, seen));
	cr_expect(step_rule__is_refuted_by(&rule, seen, PT_CLASS_OPTIMIZER));

	rule = decide(seen, 10 * SECOND);
	cr_expect_eq(rule.needs, PT_CLASS_OPTIMIZER);
	cr_expect_not(step_rule__is_refuted(&rule, seen));
}

Test(steps, a_backward_pass_refutes_those_of_an_evaluation)
{
	__u64 seen[PT_CLASS_CNT] = {[PT_CLASS_DATALOADER] = 8};
	struct step_rule rule = decide(seen, 10 * SECOND);

	seen[PT_CLASS_BACKWARD] = 1;
	cr_expect(step_rule__is_refuted(&rule, seen));
	cr_expect_not(step_rule__is_refuted_by(&rule, seen, PT_CLASS_OPTIMIZER));
}

Test(steps, a_loader_that_shows_late_may_be_that_of_an_evaluation)
{
	__u64 seen[PT_CLASS_CNT] = {[PT_CLASS_OPTIMIZER] = 4, [PT_CLASS_BACKWARD] = 4};
	struct step_rule rule = decide(seen, SECOND);

	seen[PT_CLASS_DATALOADER] = 40;
	cr_expect_not(step_rule__is_refuted(&rule, seen));
}

Test(steps, what_was_chosen_is_not_refuted)
{
	__u64 seen[PT_CLASS_CNT] = {0};
	const struct step_evidence e = {.seen = seen, .user_range = true};
	struct step_rule rule = {PT_CLASS_NONE};

	cr_assert(step_rule__decide(&e, &rule));
	for (int c = 1; c < PT_CLASS_CNT; c++)
		seen[c] = 100;
	cr_expect_not(step_rule__is_refuted(&rule, seen));
}

Test(steps, several_optimizers_in_a_step_do_not_hide_the_loader)
{
	__u64 seen[PT_CLASS_CNT] = {[PT_CLASS_OPTIMIZER] = 8, [PT_CLASS_BACKWARD] = 2};

	cr_expect_eq(decide(seen, SECOND).boundary, PT_CLASS_NONE, "one for each parameter");
	seen[PT_CLASS_DATALOADER] = 1;
	cr_expect_eq(decide(seen, SECOND).boundary, PT_CLASS_NONE);
	seen[PT_CLASS_DATALOADER] = 2;
	cr_expect_eq(decide(seen, SECOND).boundary, PT_CLASS_DATALOADER);
}

Test(steps, several_optimizers_behind_a_pass_are_one_step)
{
	/* Attached between the two. */
	__u64 seen[PT_CLASS_CNT] = {[PT_CLASS_OPTIMIZER] = 7, [PT_CLASS_BACKWARD] = 4};

	cr_expect_eq(decide(seen, 1).boundary, PT_CLASS_OPTIMIZER);
	cr_expect_eq(decide(seen, 1).needs, PT_CLASS_BACKWARD);
	cr_expect_not(decide(seen, 1).at_end);
	seen[PT_CLASS_OPTIMIZER] = 5;
	cr_expect_eq(decide(seen, 1).needs, PT_CLASS_NONE, "one each, attached behind the pass");
	cr_expect(decide(seen, 1).at_end);
	seen[PT_CLASS_DATALOADER] = 1;
	seen[PT_CLASS_OPTIMIZER] = 24;
	cr_expect_eq(decide(seen, 1).needs, PT_CLASS_BACKWARD);
	seen[PT_CLASS_BACKWARD] = 24;
	cr_expect_eq(decide(seen, 1).needs, PT_CLASS_NONE);
}

static bool decides(uint64_t updates, uint64_t again, uint64_t passes, struct step_rule *rule)
{
	const __u64 seen[PT_CLASS_CNT] = {
		[PT_CLASS_OPTIMIZER] = updates, [PT_CLASS_BACKWARD] = passes};
	const struct step_evidence e = {.seen = seen, .elapsed_ns = SECOND, .updates_again = again};

	return step_rule__decide(&e, rule);
}

/* Each reentrant checkpoint has its own pass. proftrace attached between the two optimizers. */
Test(steps, passes_within_passes_do_not_hide_several_optimizers)
{
	struct step_rule rule;

	cr_expect_not(decides(4, 1, 4, &rule));
	cr_assert(decides(5, 2, 4, &rule));
	cr_expect_eq(rule.needs, PT_CLASS_BACKWARD);
	cr_assert(decides(4, 0, 8, &rule));
	cr_expect(rule.at_end, "one optimizer");
}

Test(steps, accumulated_passes_do_not_hide_several_optimizers)
{
	struct step_rule rule;

	cr_assert(decides(4, 2, 16, &rule));
	cr_expect_eq(rule.needs, PT_CLASS_BACKWARD);
}

/* Each thread was in its optimizer's step, or before it, when the probes were attached. */
Test(steps, two_threads_that_train_are_not_several_optimizers)
{
	const __u64 seen[PT_CLASS_CNT] = {[PT_CLASS_OPTIMIZER] = 6, [PT_CLASS_BACKWARD] = 4};
	const struct step_evidence e = {.seen = seen, .elapsed_ns = SECOND};
	struct step_rule rule;

	cr_assert(step_rule__decide(&e, &rule));
	cr_expect_eq(rule.boundary, PT_CLASS_OPTIMIZER);
	cr_expect(rule.at_end);
}

Test(steps, a_loader_that_another_thread_asks_makes_no_steps)
{
	const __u64 seen[PT_CLASS_CNT] = {
		[PT_CLASS_DATALOADER] = 40, [PT_CLASS_OPTIMIZER] = 4, [PT_CLASS_BACKWARD] = 4};
	const struct step_evidence e = {
		.seen = seen, .elapsed_ns = SECOND, .loads_elsewhere = true};
	struct step_rule rule;

	cr_assert(step_rule__decide(&e, &rule));
	cr_expect_eq(rule.boundary, PT_CLASS_OPTIMIZER);
	cr_expect(strstr(rule.explain, "another thread") != NULL);
}

/* Evaluates with a data loader, and trains without: attached while it evaluates. */
Test(steps, the_asks_of_an_evaluation_under_way_make_no_steps)
{
	__u64 seen[PT_CLASS_CNT] = {[PT_CLASS_DATALOADER] = 100};
	struct step_evidence e = {.seen = seen, .elapsed_ns = SECOND};
	struct step_rule rule;
	uint64_t asks = 0;

	step_evidence__note_evaluation(&e, &asks);
	cr_expect_not(step_rule__decide(&e, &rule));
	seen[PT_CLASS_DATALOADER] = 120;
	seen[PT_CLASS_BACKWARD] = seen[PT_CLASS_OPTIMIZER] = 1;
	step_evidence__note_evaluation(&e, &asks);
	cr_expect_not(step_rule__decide(&e, &rule));
	seen[PT_CLASS_BACKWARD] = seen[PT_CLASS_OPTIMIZER] = 24;
	step_evidence__note_evaluation(&e, &asks);
	cr_assert(step_rule__decide(&e, &rule));
	cr_expect_eq(rule.boundary, PT_CLASS_OPTIMIZER);
	cr_expect_not_null(strstr(rule.explain, "an evaluation alone"));
	/* One that trains with it asks again. */
	seen[PT_CLASS_BACKWARD] = seen[PT_CLASS_OPTIMIZER] = 1;
	seen[PT_CLASS_DATALOADER] = 121;
	cr_assert(step_rule__decide(&e, &rule));
	cr_expect_eq(rule.boundary, PT_CLASS_DATALOADER);
}

Test(steps, a_loader_that_was_asked_once_is_not_waited_for_for_ever)
{
	cr_expect_eq(
		decide((__u64[PT_CLASS_CNT]){[PT_CLASS_DATALOADER] = 1, [PT_CLASS_OPTIMIZER] = 24},
		       1)
			.boundary,
		PT_CLASS_OPTIMIZER);
}

Test(steps, frames_are_steps_without_a_look)
{
	const struct step_rule rule = step_rule__iterations();

	cr_expect_eq(rule.boundary, PT_CLASS_ITERATION);
	cr_expect_eq(rule.needs, PT_CLASS_NONE);
	cr_expect_str_eq(rule.source, "frame");
}

Test(steps, inference_with_a_loader)
{
	const __u64 asks[PT_CLASS_CNT] = {[PT_CLASS_DATALOADER] = 4};

	/* It may be an evaluation: a while without a backward pass first. */
	cr_expect_eq(decide(asks, 1).boundary, PT_CLASS_NONE);
	cr_expect_eq(decide(asks, 2 * 1000000000ull).boundary, PT_CLASS_DATALOADER);
}

Test(steps, graphs_that_evaluate_make_no_steps_beside_others)
{
	__u64 seen[PT_CLASS_CNT] = {[PT_CLASS_DATALOADER] = 40, [PT_CLASS_EVALUATION] = 40};

	/* More than an evaluation may come. */
	cr_expect_eq(decide(seen, SECOND).boundary, PT_CLASS_NONE);
	cr_expect_eq(decide(seen, 2 * SECOND).boundary, PT_CLASS_DATALOADER);
	cr_expect_eq(decide(seen, 2 * SECOND).needs, PT_CLASS_EVALUATION);
	seen[PT_CLASS_GRAPH] = 1;
	cr_expect_eq(decide(seen, 1).needs, PT_CLASS_GRAPH);
}

Test(steps, a_graph_of_gradients_and_one_that_updates_are_one_step)
{
	__u64 seen[PT_CLASS_CNT] = {[PT_CLASS_GRADIENTS] = 4};

	cr_expect_eq(decide(seen, SECOND).boundary, PT_CLASS_NONE);
	cr_expect_eq(decide(seen, 2 * SECOND).boundary, PT_CLASS_GRADIENTS);
	cr_expect_eq(decide(seen, 2 * SECOND).needs, PT_CLASS_NONE);
	seen[PT_CLASS_GRAPH] = 4;
	cr_expect_eq(decide(seen, 1).boundary, PT_CLASS_GRADIENTS);
	cr_expect_eq(decide(seen, 1).needs, PT_CLASS_GRAPH);
	seen[PT_CLASS_DATALOADER] = 4;
	cr_expect_eq(decide(seen, 1).boundary, PT_CLASS_DATALOADER);
	cr_expect_eq(decide(seen, 1).needs, PT_CLASS_GRAPH);
	seen[PT_CLASS_GRAPH] = 0;
	cr_expect_eq(decide(seen, 1).needs, PT_CLASS_GRADIENTS);
}

Test(steps, without_a_loader_the_optimizer_ends_a_step)
{
	struct step_rule rule =
		decide((__u64[PT_CLASS_CNT]){[PT_CLASS_OPTIMIZER] = 4, [PT_CLASS_BACKWARD] = 4}, 1);

	cr_expect_eq(rule.boundary, PT_CLASS_OPTIMIZER);
	cr_expect(rule.at_end);
}

Test(steps, backward_alone)
{
	__u64 seen[PT_CLASS_CNT] = {[PT_CLASS_BACKWARD] = 30};

	cr_expect_eq(decide(seen, SECOND).boundary, PT_CLASS_NONE);
	cr_expect_eq(decide(seen, 3 * SECOND).boundary, PT_CLASS_BACKWARD);
}

Test(steps, forward_passes_that_a_framework_shows)
{
	__u64 seen[PT_CLASS_CNT] = {[PT_CLASS_FORWARD] = 3, [PT_CLASS_BACKWARD] = 2};
	struct step_rule rule = decide(seen, 1);

	cr_expect_eq(rule.boundary, PT_CLASS_FORWARD);
	cr_expect_eq(rule.needs, PT_CLASS_BACKWARD);
	cr_expect_not(rule.at_end);
	seen[PT_CLASS_DATALOADER] = 3;
	rule = decide(seen, 1);
	cr_expect_eq(rule.boundary, PT_CLASS_DATALOADER);
	cr_expect_eq(rule.needs, PT_CLASS_BACKWARD);
}

Test(steps, forward_passes_alone)
{
	__u64 seen[PT_CLASS_CNT] = {[PT_CLASS_FORWARD] = 30};

	cr_expect_eq(decide(seen, SECOND).boundary, PT_CLASS_NONE);
	cr_expect_eq(decide(seen, 3 * SECOND).boundary, PT_CLASS_FORWARD);
	cr_expect_eq(decide(seen, 3 * SECOND).needs, PT_CLASS_NONE);
}

Test(steps, a_running_profiler_knows_best)
{
	cr_expect_eq(decide((__u64[PT_CLASS_CNT]){[PT_CLASS_PROFILER_STEP] = 1,
						  [PT_CLASS_DATALOADER] = 9,
						  [PT_CLASS_OPTIMIZER] = 9},
			    1)
			     .boundary,
		     PT_CLASS_PROFILER_STEP);
}

Test(steps, an_optimizer_may_show_as_its_operators)
{
	__u64 seen[PT_CLASS_CNT] = {[PT_CLASS_OPTIMIZER_OP] = 8, [PT_CLASS_BACKWARD] = 1};

	cr_expect_eq(decide(seen, SECOND).boundary, PT_CLASS_NONE);
	seen[PT_CLASS_BACKWARD] = 3;
	cr_expect_eq(decide(seen, SECOND).boundary, PT_CLASS_OPTIMIZER_OP);
	cr_expect_eq(decide(seen, SECOND).needs, PT_CLASS_BACKWARD);
	seen[PT_CLASS_DATALOADER] = 3;
	cr_expect_eq(decide(seen, SECOND).boundary, PT_CLASS_DATALOADER);
	cr_expect_eq(decide(seen, SECOND).needs, PT_CLASS_OPTIMIZER_OP);
}
