// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/prune_policy.h"
#include <criterion/criterion.h>
#include <string.h>

static const struct prune_policy policy = {
	.steps = 2,
	.max_overhead = 0.05,
	.step_ns = 1000000,
	.hit_ns = 500,
	.inside_ns = 500,
	.peer_hits_per_call = 1.6,
};

static struct prune_input row(uint32_t id, uint64_t spans, uint64_t avg_ns)
{
	return (struct prune_input){
		.row = id, .hits = 2, .stat = {.spans = spans, .clipped_ns = spans * avg_ns}};
}

Test(prune, within_the_budget_nothing_is_dropped)
{
	/* 40 spans a step cost 40 us of 1000 us: 4 % */
	const struct prune_input in[] = {row(1, 80, 2000)};
	bool dropped[8] = {false};

	cr_expect_eq(prune__choose(&policy, in, 1, dropped), 0);
	cr_expect_not(dropped[1]);
}

Test(prune, the_shortest_go_first_and_only_as_many_as_needed)
{
	/* 90 us over a budget of 50: dropping row 2 (60 us) is enough */
	const struct prune_input in[] = {row(1, 60, 4000), row(2, 120, 2000)};
	bool dropped[8] = {false};

	cr_expect_eq(prune__choose(&policy, in, 2, dropped), 1);
	cr_expect(dropped[2]);
	cr_expect_not(dropped[1]);
}

Test(prune, long_functions_stay)
{
	const struct prune_input in[] = {row(1, 400, 50000)};
	bool dropped[8] = {false};

	cr_expect_eq(prune__choose(&policy, in, 1, dropped), 0);
}

Test(prune, rare_functions_stay)
{
	const struct prune_input in[] = {row(1, 400, 50000), row(2, 2, 2000)};
	bool dropped[8] = {false};

	cr_expect_eq(prune__choose(&policy, in, 2, dropped), 0);
}

Test(prune, functions_that_launch_stay)
{
	struct prune_input in[] = {row(1, 400, 2000)};
	bool dropped[8] = {false};

	in[0].stat.launches = 400;
	cr_expect_eq(prune__choose(&policy, in, 1, dropped), 0);
	in[0].stat.launches = 0;
	cr_expect_eq(prune__choose(&policy, in, 1, dropped), 1);
}

Test(prune, what_must_stay_counts_but_stays)
{
	/* 40 us and 40 us: the second has to go. */
	struct prune_input in[] = {row(1, 80, 2000), row(2, 80, 3000)};
	bool dropped[8] = {false};

	in[0].stays = true;
	cr_expect_eq(prune__choose(&policy, in, 2, dropped), 1);
	cr_expect_not(dropped[1]);
	cr_expect(dropped[2]);
}

Test(prune, what_fits_after_a_large_one_went_stays)
{
	/* 20 us that stay, 20 and 60 us: without the 60 there is room for the 20. */
	struct prune_input in[] = {row(1, 40, 2000), row(2, 40, 2000), row(3, 120, 4000)};
	bool dropped[8] = {false};

	in[0].stays = true;
	cr_expect_eq(prune__choose(&policy, in, 3, dropped), 1);
	cr_expect_not(dropped[2]);
	cr_expect(dropped[3]);
}

Test(prune, a_span_with_one_probe_is_worth_twice)
{
	/* 40 us each; alike but for the number of probes */
	struct prune_input in[] = {row(1, 160, 3000), row(2, 80, 3000)};
	bool dropped[8] = {false};

	in[0].hits = 1;
	cr_expect_eq(prune__choose(&policy, in, 2, dropped), 1);
	cr_expect(dropped[2]);
}

Test(prune, repeated_functions_go_down_to_a_quarter_of_the_peer)
{
	/* 3 spans a step of 20 us, 20 times their probes, 200 that stay: 203 us over a budget of
	   50, and over the 0.4 hits for each of 203 calls, 40.6 us. */
	struct prune_input in[] = {row(1, 6, 20000), row(2, 400, 2000)};
	bool dropped[8] = {false};

	in[1].stays = true;
	cr_expect_eq(prune__choose(&policy, in, 2, dropped), 1);
	cr_expect(dropped[1]);
}

Test(prune, where_the_peer_is_not_known_what_is_repeated_stays)
{
	struct prune_input in[] = {row(1, 6, 20000), row(2, 400, 2000)};
	struct prune_policy unknown = policy;
	bool dropped[8] = {false};

	in[1].stays = true;
	unknown.peer_hits_per_call = 0;
	cr_expect_eq(prune__choose(&unknown, in, 2, dropped), 0);
}

Test(prune, below_a_quarter_of_the_peer_what_is_long_or_rare_stays)
{
	/* 23 us, over a budget of 1; less than 0.4 hits for each of 223 calls, 200 of them of
	   functions that are gone. */
	const struct prune_input in[] = {row(1, 400, 2000), row(2, 46, 12000)};
	struct prune_policy strict = policy;
	bool dropped[8] = {false};

	strict.max_overhead = 0.001;
	cr_expect_eq(prune__choose(&strict, in, 2, dropped), 1);
	cr_expect(dropped[1]);
	cr_expect_not(dropped[2]);
}

Test(prune, what_is_called_once_goes_last)
{
	/* 3 us and 1 us, called thrice and once: over a budget of half of one, and over what is
	   left of the 0.4 hits for each of 54 calls. */
	const struct prune_input in[] = {row(1, 100, 2000), row(2, 6, 20000), row(3, 2, 20000)};
	struct prune_policy strict = policy;
	bool dropped[8] = {false};

	strict.max_overhead = 0.0005;
	strict.other_ns = 9000;
	cr_expect_eq(prune__choose(&strict, in, 3, dropped), 2);
	cr_expect_not(dropped[3]);
	strict.other_ns = 10000;
	cr_expect_eq(prune__choose(&strict, in, 3, (bool[8]){false}), 3);
}

Test(prune, what_is_called_once_stays_where_that_would_not_be_enough)
{
	/* 30 us that stay, which is more than the peer allows */
	struct prune_input in[] = {row(1, 60, 2000), row(2, 2, 20000)};
	struct prune_policy strict = policy;
	bool dropped[8] = {false};

	strict.max_overhead = 0.001;
	in[0].stays = true;
	cr_expect_eq(prune__choose(&strict, in, 2, dropped), 0);
}

Test(prune, what_is_called_once_goes_where_steps_alone_take_more)
{
	const struct prune_input in[] = {row(1, 2, 20000), row(2, 2, 20000)};
	struct prune_policy strict = policy;

	strict.max_overhead = 0.001;
	strict.other_ns = 20000;
	cr_expect_eq(prune__choose(&strict, in, 2, (bool[8]){false}), 2);
}

Test(prune, probes_of_steps_take_their_part_of_the_quarter)
{
	/* 3 us, called twice a step; less than 0.4 hits for each of 103 calls, 20.6 us, but not
	   than what the steps' 38 hits leave of that, 1.6 us. */
	const struct prune_input in[] = {row(1, 200, 2000), row(2, 6, 20000)};
	struct prune_policy strict = policy;
	bool dropped[8] = {false};

	strict.max_overhead = 0.001;
	cr_expect_eq(prune__choose(&strict, in, 2, dropped), 1);
	cr_expect_not(dropped[2]);
	strict.other_ns = 19000;
	cr_expect_eq(prune__choose(&strict, in, 2, (bool[8]){false}), 2);
}

Test(prune, probes_of_steps_take_their_part_of_the_budget)
{
	/* 40 us of 50, less than which the steps' 22 hits leave, 39 us */
	const struct prune_input in[] = {row(1, 80, 2000)};
	struct prune_policy with_step = policy;

	with_step.peer_hits_per_call = 0;
	with_step.other_ns = 10000;
	cr_expect_eq(prune__choose(&with_step, in, 1, (bool[8]){false}), 0);
	with_step.other_ns = 11000;
	cr_expect_eq(prune__choose(&with_step, in, 1, (bool[8]){false}), 1);
}

Test(prune, a_budget_that_holds_keeps_what_is_repeated)
{
	const struct prune_input in[] = {row(1, 6, 20000), row(2, 6, 20000)};
	bool dropped[8] = {false};

	cr_expect_eq(prune__choose(&policy, in, 2, dropped), 0);
}

Test(prune, an_interrupted_call_counts_as_a_hundred_hits)
{
	cr_expect_eq(prune__clip_ns(&policy), 50000);
}

Test(prune, what_shows_nothing_goes_first)
{
	/* 90 us of calls without a span, 45 of those that show something: a budget of 50 */
	struct prune_input in[] = {row(1, 90, 4000), row(2, 0, 0)};
	bool dropped[8] = {false};

	in[1].stays = in[1].has_names = true;
	in[1].stat.hits = 180;
	cr_expect_eq(prune__choose(&policy, in, 2, dropped), 1);
	cr_expect(dropped[2]);
	cr_expect_not(dropped[1]);
	in[0].stat.spans = 2;
	dropped[2] = false;
	in[1].stat.hits = 80;
	cr_expect_eq(prune__choose(&policy, in, 2, dropped), 0, "there is room for it");
}

/* Rows 1 and 2 are called by row 3, row 2 by row 4 as well; 3 and 4 have no spans. */
static void call(struct prune_input in[4])
{
	in[0].stat.callers = 1 << 3;
	in[1].stat.callers = 1 << 3 | 1 << 4;
	for (int i = 2; i < 4; i++) {
		in[i].is_caller = in[i].stays = true;
		in[i].stat.hits = 2;
	}
}

Test(prune, a_caller_goes_with_the_last_that_it_called)
{
	struct prune_input in[] = {row(1, 400, 2000), row(2, 46, 60000), row(3, 0, 0),
				   row(4, 0, 0)};
	bool dropped[8] = {false};

	call(in);
	cr_expect_eq(prune__choose(&policy, in, 4, dropped), 1);
	cr_expect(dropped[1]);
	cr_expect_not(dropped[3], "row 2, which stays, ends by it");
	cr_expect_not(dropped[4]);

	memset(dropped, 0, sizeof(dropped));
	in[1].stat.callers = 1 << 4;
	cr_expect_eq(prune__choose(&policy, in, 4, dropped), 2);
	cr_expect(dropped[3]);
	cr_expect_not(dropped[4]);
}

Test(prune, a_caller_of_which_nothing_was_seen_stays)
{
	struct prune_input in[] = {row(1, 400, 2000), row(2, 46, 60000), row(3, 0, 0),
				   row(4, 0, 0)};
	bool dropped[8] = {false};

	call(in);
	in[1].stat.callers = 0;
	in[3].stat.hits = 0;
	cr_expect_eq(prune__choose(&policy, in, 4, dropped), 2);
	cr_expect(dropped[3]);
	cr_expect_not(dropped[4]);
}

Test(prune, what_makes_the_steps_keeps_its_callers)
{
	struct prune_input in[] = {row(1, 400, 2000), row(2, 46, 60000), row(3, 0, 0),
				   row(4, 0, 0)};
	struct prune_policy with_step = policy;
	bool dropped[8] = {false};

	call(in);
	in[1].stat.callers = 0;
	with_step.callers = 1 << 3;
	cr_expect_eq(prune__choose(&with_step, in, 4, dropped), 2);
	cr_expect_not(dropped[3]);
	cr_expect(dropped[4]);
}

/* Rows 1 and 2 are called by row 3, forty times and once a step. */
static void share(struct prune_input in[3])
{
	in[0].stat.callers = in[1].stat.callers = 1 << 3;
	in[0].stat.ends = in[0].stat.spans;
	in[1].stat.ends = in[1].stat.spans;
	in[0].hits = in[1].hits = 1;
	in[2].is_caller = in[2].stays = true;
	in[2].stat.hits = in[0].stat.spans + in[1].stat.spans;
}

Test(prune, the_last_that_a_caller_calls_pays_for_all_of_its_calls)
{
	/* 60 us and 1.5, then 1.5 and the 40 of the calls that are no spans any more */
	struct prune_input in[] = {row(1, 80, 2000), row(2, 2, 150000), row(3, 0, 0)};
	struct prune_policy strict = policy;
	bool dropped[8] = {false};

	share(in);
	cr_expect_eq(prune__choose(&policy, in, 3, dropped), 1);
	cr_expect(dropped[1]);
	cr_expect_not(dropped[2], "there is room for 41.5 us");
	strict.max_overhead = 0.03;
	cr_expect_eq(prune__choose(&strict, in, 3, (bool[8]){false}), 3);
	in[1].stat.clipped_ns *= 4; /* more than half of the step */
	cr_expect_eq(prune__choose(&strict, in, 3, (bool[8]){false}), 1, "it is worth them");
}

Test(prune, callers_stay_where_nothing_goes)
{
	struct prune_input in[] = {row(1, 4, 2000), row(2, 4, 2000), row(3, 0, 0), row(4, 0, 0)};
	bool dropped[8] = {false};

	call(in);
	in[0].stat.callers = in[1].stat.callers = 0;
	cr_expect_eq(prune__choose(&policy, in, 4, dropped), 0);
	cr_expect_not(dropped[3]);
}

Test(prune, a_span_pays_for_the_return_that_ends_it)
{
	/* 20 us each by their own probe; the returns of others add 40 to the second. */
	struct prune_input in[] = {row(1, 80, 3000), row(2, 80, 3100)};
	bool dropped[8] = {false};

	in[0].hits = in[1].hits = 1;
	cr_expect_eq(prune__choose(&policy, in, 2, dropped), 0);
	in[1].stat.ends = 80;
	cr_expect_eq(prune__choose(&policy, in, 2, dropped), 1);
	cr_expect(dropped[2]);
}

static struct prune_input node(uint32_t id, uint64_t spans, uint64_t avg_ns)
{
	struct prune_input in = row(id, spans, avg_ns);

	in.is_node = true;
	return in;
}

/* One long call in each step, that which was under way as the measuring began not in it, and twenty
   short ones: by the whole time of all 13 times its probes. */
Test(prune, a_function_that_takes_a_large_part_of_the_step_stays)
{
	struct prune_input in[] = {row(1, 84, 1000), row(2, 200, 2000)};
	struct prune_policy strict = policy;
	bool dropped[8] = {false};

	strict.steps = 4;
	strict.max_overhead = 0.001;
	in[0].stat.long_spans = 3;
	in[0].stat.span_ns = 1100000;
	cr_expect_eq(prune__choose(&strict, in, 2, dropped), 1);
	cr_expect(dropped[2]);
	strict.step_ns *= 2;
	cr_expect_eq(prune__choose(&strict, in, 2, (bool[8]){false}), 2);
	in[0].stat.long_spans = 2;
	strict.step_ns /= 2;
	cr_expect_eq(prune__choose(&strict, in, 2, (bool[8]){false}), 2, "not in each");
}

/* AccumulateGrad of DDP: one of its calls in each step waits for the other ranks. */
Test(prune, functions_with_a_long_call_in_each_step_stay)
{
	struct prune_input in[] = {row(1, 80, 2000)};
	struct prune_policy tight = policy;
	bool dropped[8] = {false};

	tight.max_overhead = 0.01;
	in[0].stat.span_ns = in[0].stat.clipped_ns + 10000000;
	in[0].stat.long_spans = 1;
	cr_expect_eq(prune__choose(&tight, in, 1, dropped), 1);
	dropped[1] = false;
	in[0].stat.long_spans = 2;
	cr_expect_eq(prune__choose(&tight, in, 1, dropped), 0);
}

/* 24 calls of 2 us, of which two were interrupted for 6 ms each: 858 ms were told of a phase of
 * 291. */
Test(prune, interrupted_calls_are_as_long_as_the_others)
{
	struct prune_policy p = policy;
	struct pt_probe_stat stat = {.spans = 24,
				     .long_spans = 2,
				     .clipped_ns = 22 * 2000 + 2 * 50000,
				     .span_ns = 22 * 2000 + 2 * 6000000};

	p.steps = 6;
	cr_expect_eq(prune__typical_ns(&p, &stat), 24 * 2000);
	/* One of its calls in each step is long. */
	p.steps = 2;
	cr_expect_eq(prune__typical_ns(&p, &stat), stat.span_ns);
	/* A part of a second has no steps. */
	p.by_time = true;
	cr_expect_eq(prune__typical_ns(&p, &stat), 24 * 2000);
	/* A third of the calls is long: not chance. */
	stat.long_spans = 8;
	stat.clipped_ns = 16 * 2000 + 8 * 50000;
	cr_expect_eq(prune__typical_ns(&p, &stat), stat.clipped_ns);
}

/* It would have their time: of LogSoftmaxBackward0 7.2 ms were told where it takes 0.5. */
Test(prune, a_node_goes_where_those_left_out_are_longer)
{
	const struct prune_input in[] = {node(1, 400, 2000), node(2, 2, 300000), node(3, 4, 500000),
					 row(4, 2, 300000)};
	bool dropped[8] = {[1] = true};

	prune__nodes(&policy, in, 4, dropped);
	cr_expect(dropped[2]);
	cr_expect_not(dropped[3]);
	cr_expect_not(dropped[4]);
}

Test(prune, each_node_that_goes_counts_for_the_next)
{
	struct prune_input in[] = {node(1, 400, 2000), node(2, 2, 300000), node(3, 2, 600000)};
	bool dropped[8] = {[1] = true};

	prune__nodes(&policy, in, 3, dropped);
	cr_expect(dropped[2] && dropped[3]);
	dropped[2] = dropped[3] = false;
	in[1].stat.launches = 1;
	prune__nodes(&policy, in, 3, dropped);
	cr_expect_not(dropped[2] || dropped[3]);
}

Test(prune, nodes_stay_where_none_was_left_out)
{
	const struct prune_input in[] = {node(1, 400, 2000), row(2, 400, 2000)};
	bool dropped[8] = {[2] = true};

	prune__nodes(&policy, in, 2, dropped);
	cr_expect_not(dropped[1]);
}

/* Its hooks run before a node's own function: 9.7 ms of a step were told as of the node before. */
Test(prune, all_nodes_stay_where_hooks_of_tensors_matter)
{
	struct prune_input in[] = {node(1, 400, 2000), node(2, 2, 300000), row(3, 400, 2000)};
	bool dropped[8] = {[1] = true, [3] = true};

	in[0].stat.before_ns = 400 * policy.hit_ns + 30000;
	prune__nodes(&policy, in, 3, dropped);
	cr_expect(dropped[1] && dropped[2] && dropped[3]);
	in[1].stat.before_ns = 2 * policy.hit_ns + 20000;
	prune__nodes(&policy, in, 3, dropped);
	cr_expect_not(dropped[1] || dropped[2]);
	cr_expect(dropped[3]);
}
