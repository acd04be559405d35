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

/* A reentrant checkpoint has a pass of its own in each; attached between the two optimizers. */
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

/* Each was in its optimizer's step, or before it, when the probes came in. */
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
	const struct step_rule rule = step_rule__frames();

	cr_expect_eq(rule.boundary, PT_CLASS_FRAME);
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

/* Calls of `rows`, `times` over, with a pause before each repetition. */
static size_t repeat(struct step_call *out, const uint32_t *rows, size_t row_cnt, size_t times)
{
	uint64_t now = 1000;
	size_t cnt = 0;

	for (size_t t = 0; t < times; t++) {
		now += 5000;
		for (size_t i = 0; i < row_cnt; i++, now += 110)
			out[cnt++] = (struct step_call){rows[i], 1, now, now + 100};
	}
	return cnt;
}

Test(steps, the_period_opens_after_the_pause)
{
	const uint32_t rows[] = {7, 3, 3, 9, 4};
	struct step_call calls[100];

	cr_expect_eq(steps__period(calls, repeat(calls, rows, 5, 10)).op, 7);
}

Test(steps, a_row_that_comes_twice_a_period_does_not_open_it)
{
	const uint32_t rows[] = {3, 3, 9, 3};
	struct step_call calls[100];

	cr_expect_eq(steps__period(calls, repeat(calls, rows, 4, 10)).op, 9);
}

Test(steps, no_period_in_noise)
{
	struct step_call calls[200];
	uint32_t x = 12345;

	for (size_t i = 0; i < 200; i++) {
		x = x * 1103515245 + 12345;
		calls[i] = (struct step_call){1 + (x >> 16) % 5, 1, i * 100, i * 100 + 50};
	}
	cr_expect_eq(steps__period(calls, 200).op, 0);
}

Test(steps, three_repetitions_are_not_enough)
{
	const uint32_t rows[] = {1, 2, 3};
	struct step_call calls[16];

	cr_expect_eq(steps__period(calls, repeat(calls, rows, 3, 3)).op, 0);
}

/* Requests of a server, each after a pause: rows that end with 0. */
static size_t requests(struct step_call *calls, const uint32_t *const kinds[], const int *turns,
		       size_t cnt)
{
	uint64_t now = 1000;
	size_t n = 0;

	for (size_t i = 0; i < cnt; i++) {
		now += 5000;
		for (const uint32_t *row = kinds[turns[i]]; *row; row++, now += 110)
			calls[n++] = (struct step_call){*row, 1, now, now + 100};
	}
	return n;
}

static const uint32_t linear[] = {1, 2, 3, 2, 0}, conv[] = {1, 4, 5, 4, 6, 0};
static const uint32_t *const kinds[] = {linear, conv};

Test(steps, what_opens_each_of_two_requests_in_turn_is_told)
{
	const int turns[] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
	struct step_call calls[100];
	struct step_period period = steps__period(calls, requests(calls, kinds, turns, 16));

	cr_expect_neq(period.op, 0);
	cr_expect_neq(period.op, 1);
	cr_expect_eq(period.pausing, 1);
	cr_expect_eq(period.pausing_cnt, 2);
}

Test(steps, what_opens_requests_in_no_order_is_told)
{
	const int turns[] = {0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1};
	struct step_call calls[100];
	struct step_period period = steps__period(calls, requests(calls, kinds, turns, 16));

	cr_expect_eq(period.op, 0);
	cr_expect_eq(period.pausing, 1);
	cr_expect_eq(period.pausing_cnt, 0);
}

Test(steps, nothing_but_the_step_itself_pauses_in_a_plain_loop)
{
	const uint32_t rows[] = {7, 3, 3, 9, 3};
	const int turns[16] = {0};
	struct step_call calls[100];

	cr_expect_eq(steps__period(calls, requests(calls, kinds, turns, 16)).pausing, 0);
	cr_expect_eq(steps__period(calls, repeat(calls, rows, 5, 10)).pausing, 0);
}

Test(steps, layers_of_one_kind_are_not_requests)
{
	static const uint32_t layers[] = {1, 1, 1, 1, 1, 1, 2, 0};
	const uint32_t *const one_kind[] = {layers};
	const int turns[16] = {0};
	struct step_call calls[200];
	struct step_period period = steps__period(calls, requests(calls, one_kind, turns, 16));

	cr_expect_eq(period.op, 2);
	cr_expect_eq(period.pausing, 0);
}

Test(steps, many_layers_of_one_kind_are_no_steps)
{
	static const uint32_t layers[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 0};
	const uint32_t *const one_kind[] = {layers};
	const int turns[16] = {0};
	struct step_call calls[300];
	size_t cnt = requests(calls, one_kind, turns, 16);

	cr_expect_eq(steps__period(calls, cnt).op, 2);
	/* In a tight loop, where Python takes longest between the layers. */
	for (size_t i = 0; i < cnt; i++)
		calls[i].end_ns = calls[i].ts_ns = 1000 * i;
	for (size_t i = 0; i < cnt; i++)
		calls[i].end_ns += calls[i].op == 1 ? 500 : 200;
	for (size_t i = 1; i < cnt; i++)
		if (calls[i].op == 2)
			calls[i].ts_ns -= 300;
	cr_expect_eq(steps__period(calls, cnt).op, 2);
}

Test(steps, requests_that_are_logged_now_and_then_stay_steps)
{
	const int turns[60] = {[11] = 1, [23] = 1, [35] = 1, [47] = 1, [59] = 1};
	static const uint32_t request[] = {1, 2, 3, 0}, logged[] = {1, 2, 3, 4, 0};
	const uint32_t *const either[] = {request, logged};
	struct step_call calls[300];

	cr_expect_eq(steps__period(calls, requests(calls, either, turns, 60)).op, 1);
}

/* As spans arrive: what is inside ends first. */
Test(steps, the_period_opens_at_the_outermost_operator)
{
	struct step_call calls[60];
	size_t cnt = 0;

	for (uint64_t now = 1000; cnt < 60; now += 5000) {
		calls[cnt++] = (struct step_call){5, 1, now + 10, now + 20};
		calls[cnt++] = (struct step_call){6, 1, now + 5, now + 80};
		calls[cnt++] = (struct step_call){7, 1, now, now + 1000};
	}
	cr_expect_eq(steps__period(calls, cnt).op, 7);
}

Test(steps, the_busiest_thread_makes_the_period)
{
	const uint32_t rows[] = {7, 3, 9};
	struct step_call calls[60];
	size_t cnt = repeat(calls, rows, 3, 10);
	struct step_period period;

	for (size_t i = 0; i < 20; i++, cnt++)
		calls[cnt] =
			(struct step_call){20 + (uint32_t)i % 2, 2, 900 + i * 333, 950 + i * 333};
	period = steps__period(calls, cnt);
	cr_expect_eq(period.op, 7);
	cr_expect_eq(period.tid, 1);
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
