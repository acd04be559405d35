// SPDX-License-Identifier: BSD-2-Clause
/* Given these events, this tree. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "model_synth.h"

TestSuite(model_tree);

Test(model_tree, children_come_before_parents)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_OPERATOR, "addmm", 20, 30);
	synth__span(&s, s.main, CAT_OPERATOR, "relu", 30, 35);
	synth__span(&s, s.main, CAT_OPERATOR, "linear", 10, 40);
	synth__span(&s, s.main, CAT_USER, "mine", 5, 45);
	synth__span(&s, s.other, CAT_OPERATOR, "mul", 12, 14);
	synth__step(&s, 7, 0, 50);
	synth__expect_tree(&s, "step 7 [0,50) cpu 50 D 0 F 0 B 0 O 0 other 50\n"
			       " track 1\n"
			       "  UserDefined mine [5,45) cpu 40 self 10\n"
			       "    Operator linear [10,40) cpu 30 self 15\n"
			       "      OperatorInner addmm [20,30) cpu 10 self 10\n"
			       "      OperatorInner relu [30,35) cpu 5 self 5\n"
			       " track 2\n"
			       "  Operator mul [12,14) cpu 2 self 2\n");
}

Test(model_tree, probe_cost_is_taken_off_but_never_below_the_children)
{
	struct synth s =
		synth__new("{\"probe_cost\": {\"span_inside_ns\": 2, \"span_total_ns\": 5}}");
	struct model_stats stats;
	const struct model_opts opts = {.stats = &stats}, raw = {.raw_times = true};

	synth__span(&s, s.main, CAT_OPERATOR, "a", 20, 30);
	synth__span(&s, s.main, CAT_OPERATOR, "b", 10, 35);
	synth__span(&s, s.main, CAT_OPERATOR, "c", 40, 90);
	synth__span(&s, s.main, CAT_OPERATOR, "d", 38, 92);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, NULL);
	/* b: 25 - 2 - 5; c: 50 - 2; d: 54 - 2 - 5 would be less than c. */
	synth__expect(synth__tree(&s, &opts), "step 0 [0,100) cpu 80 D 0 F 0 B 0 O 0 other 80\n"
					      " track 1\n"
					      "  Operator b [10,35) cpu 18 self 10\n"
					      "    OperatorInner a [20,30) cpu 8 self 8\n"
					      "  Operator d [38,92) cpu 48 self 0\n"
					      "    OperatorInner c [40,90) cpu 48 self 48\n");
	cr_expect_eq(stats.subtracted_ns, 20);
	synth__expect(synth__tree(&s, &raw), "step 0 [0,100) cpu 100 D 0 F 0 B 0 O 0 other 100\n"
					     " track 1\n"
					     "  Operator b [10,35) cpu 25 self 15\n"
					     "    OperatorInner a [20,30) cpu 10 self 10\n"
					     "  Operator d [38,92) cpu 54 self 4\n"
					     "    OperatorInner c [40,90) cpu 50 self 50\n");
	synth__free(&s);
}

Test(model_tree, a_node_is_an_operator_and_what_it_calls_is_inner)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_OPERATOR, "mm", 12, 18);
	synth__span(&s, s.main, CAT_BACKWARD_NODE, "MmBackward0", 10, 20);
	synth__span(&s, s.main, CAT_OPERATOR, "exp", 22, 24);
	synth__span(&s, s.main, CAT_PYTHON_OP, "MyExp", 21, 25);
	synth__expect_tree(&s, "no step\n"
			       " track 1\n"
			       "  Operator MmBackward0 [10,20) cpu 10 self 4\n"
			       "    OperatorInner mm [12,18) cpu 6 self 6\n"
			       "  PythonOp MyExp [21,25) cpu 4 self 2\n"
			       "    Operator exp [22,24) cpu 2 self 2\n");
}

/* A reentrant checkpoint runs a backward pass in its node. AccumulateGrad there is a node too. */
Test(model_tree, a_node_without_a_number_is_a_part_of_an_operator_and_not_of_a_numbered_node)
{
	struct synth s = synth__new("{}");
	struct event e = synth__event(&s, s.main, CAT_BACKWARD_NODE, "Checkpoint", 10, 30);

	e.id = 7;
	synth__span(&s, s.main, CAT_BACKWARD_NODE, "AccumulateGrad", 12, 18);
	synth__write(&s, &e);
	synth__span(&s, s.main, CAT_BACKWARD_NODE, "MatMulGrad", 42, 48);
	synth__span(&s, s.main, CAT_OPERATOR, "PyboostMatMulGrad", 40, 50);
	synth__expect_tree(&s, "no step\n"
			       " track 1\n"
			       "  Operator Checkpoint [10,30) cpu 20 self 14\n"
			       "    Operator AccumulateGrad [12,18) cpu 6 self 6\n"
			       "  Operator PyboostMatMulGrad [40,50) cpu 10 self 4\n"
			       "    OperatorInner MatMulGrad [42,48) cpu 6 self 6\n");
}

Test(model_tree, cut_and_inferred_spans_are_kept_and_marked)
{
	struct synth s = synth__new("{}");
	struct event e = synth__event(&s, s.main, CAT_USER, "open at the begin", 0, 10);

	e.flags = EVENT_CUT_BEGIN;
	synth__write(&s, &e);
	e = synth__event(&s, s.main, CAT_BACKWARD_NODE, "node", 12, 20);
	e.end = END_INFERRED;
	synth__write(&s, &e);
	e = synth__event(&s, s.main, CAT_USER, "open at the end", 20, 30);
	e.flags = EVENT_CUT_END;
	synth__write(&s, &e);
	synth__step(&s, 0, 0, 30);
	synth__expect_tree(&s, "step 0 [0,30) cpu 30 D 0 F 0 B 0 O 0 other 30\n"
			       " track 1\n"
			       "  UserDefined open at the begin [0,10) cpu 10 self 10 cut begin\n"
			       "  Operator node [12,20) cpu 8 self 8 inferred\n"
			       "  UserDefined open at the end [20,30) cpu 10 self 10 cut end\n");
}

Test(model_tree, a_span_of_another_thread_that_crosses_a_step_finds_its_children)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.other, CAT_OPERATOR, "early", 80, 90);
	synth__step(&s, 0, 0, 100);
	synth__span(&s, s.other, CAT_OPERATOR, "late", 110, 120);
	synth__span(&s, s.other, CAT_USER, "crossing", 70, 130);
	synth__step(&s, 1, 100, 200);
	synth__expect_tree(&s, "step 0 [0,100) cpu 100 D 0 F 0 B 0 O 0 other 100\n"
			       "step 1 [100,200) cpu 100 D 0 F 0 B 0 O 0 other 100\n"
			       " track 2\n"
			       "  UserDefined crossing [70,130) cpu 60 self 40\n"
			       "    Operator early [80,90) cpu 10 self 10\n"
			       "    Operator late [110,120) cpu 10 self 10\n");
}

Test(model_tree, what_lies_between_windows_is_in_no_step)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_OPERATOR, "before", 0, 5);
	synth__span(&s, s.main, CAT_OPERATOR, "in", 10, 15);
	synth__step(&s, 3, 8, 20);
	synth__span(&s, s.main, CAT_OPERATOR, "after", 25, 28);
	synth__expect_tree(&s, "no step\n"
			       " track 1\n"
			       "  Operator before [0,5) cpu 5 self 5\n"
			       "step 3 [8,20) cpu 12 D 0 F 0 B 0 O 0 other 12\n"
			       " track 1\n"
			       "  Operator in [10,15) cpu 5 self 5\n"
			       "no step\n"
			       " track 1\n"
			       "  Operator after [25,28) cpu 3 self 3\n");
}

Test(model_tree, an_overlap_moves_an_inferred_end_else_the_later_end)
{
	struct synth s = synth__new("{}");
	struct model_stats stats;
	const struct model_opts opts = {.stats = &stats};
	struct event e = synth__event(&s, s.main, CAT_OPERATOR, "guessed", 0, 10);

	e.end = END_INFERRED;
	synth__write(&s, &e);
	synth__span(&s, s.main, CAT_OPERATOR, "after", 5, 20);
	synth__span(&s, s.main, CAT_OPERATOR, "seen", 30, 40);
	synth__span(&s, s.main, CAT_OPERATOR, "astride", 35, 50);
	synth__open(&s, NULL);
	synth__expect(synth__tree(&s, &opts), "no step\n"
					      " track 1\n"
					      "  Operator guessed [0,5) cpu 5 self 5 inferred\n"
					      "  Operator after [5,20) cpu 15 self 15\n"
					      "  Operator seen [30,40) cpu 10 self 5\n"
					      "    OperatorInner astride [35,40) cpu 5 self 5\n");
	cr_expect_eq(stats.clipped, 2);
	synth__free(&s);
}

Test(model_tree, a_parent_before_its_child_is_sorted_out)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_OPERATOR, "parent", 0, 20);
	synth__span(&s, s.main, CAT_OPERATOR, "child", 5, 10);
	synth__span(&s, s.main, CAT_OPERATOR, "next", 20, 30);
	synth__expect_tree(&s, "no step\n"
			       " track 1\n"
			       "  Operator parent [0,20) cpu 20 self 15\n"
			       "    OperatorInner child [5,10) cpu 5 self 5\n"
			       "  Operator next [20,30) cpu 10 self 10\n");
}

Test(model_tree, depth_is_bounded)
{
	const uint64_t cnt = 100000;
	struct synth s = synth__new("{}");
	struct model_stats stats;
	const struct model_opts opts = {.stats = &stats};

	for (uint64_t i = 0; i < cnt; i++)
		synth__span(&s, s.main, CAT_USER, "deep", cnt - i, cnt + 1 + i);
	synth__open(&s, NULL);
	free(synth__tree(&s, &opts));
	cr_expect_eq(stats.spans, cnt);
	cr_expect_eq(stats.too_deep, cnt - MODEL_MAX_DEPTH);
	synth__free(&s);
}

Test(model_tree, hostile_events_are_left_out_and_counted)
{
	struct synth s = synth__new("{}");
	struct model_stats stats;
	const struct model_opts opts = {.stats = &stats};
	uint32_t stream = synth__stream(&s, 0, 7);
	struct event e = synth__event(&s, 9999, CAT_OPERATOR, "no such track", 0, 10);

	synth__write(&s, &e);
	e = synth__event(&s, stream, CAT_OPERATOR, "span on a device", 0, 10);
	synth__write(&s, &e);
	synth__kernel(&s, s.main, CAT_KERNEL, "kernel on a thread", 1, 0, 10);
	synth__step(&s, 0, 0, 100);
	synth__step(&s, 1, 0, 50);
	e = synth__event(&s, s.main, CAT_OPERATOR, "endless", 5, 10);
	e.dur_ns = UINT64_MAX - 2;
	synth__write(&s, &e);
	e.name = 12345;
	e.dur_ns = 1;
	synth__write(&s, &e);
	synth__open(&s, NULL);
	synth__expect(synth__tree(&s, &opts), "step 0 [0,100) cpu 100 D 0 F 0 B 0 O 0 other 100\n"
					      " track 1\n"
					      "  Other Other [5,6) cpu 1 self 1\n");
	cr_expect_eq(stats.malformed, 5);
	synth__free(&s);
}

Test(model_tree, an_empty_recording_has_no_batch)
{
	struct synth s = synth__new("{}");

	synth__expect_tree(&s, "");
}

static int count_batches(const struct batch *b, void *ctx)
{
	size_t *counts = ctx;
	size_t spans = 0;

	for (size_t i = 0; i < b->track_cnt; i++)
		for (const struct span *s = b->tracks[i].roots; s; s = s->next_sibling)
			spans += 1 + s->descendants;
	counts[0]++;
	counts[1] += spans;
	counts[2] = spans > counts[2] ? spans : counts[2];
	return 0;
}

Test(model_tree, without_steps_batches_are_bounded)
{
	const uint64_t cnt = 600000;
	struct synth s = synth__new("{}");
	size_t counts[3] = {};

	for (uint64_t i = 0; i < cnt; i++)
		synth__span(&s, s.main, CAT_OPERATOR, "op", 10 * i, 10 * i + 5);
	synth__open(&s, NULL);
	cr_assert_eq(model__run(s.r, NULL, count_batches, counts), 0);
	cr_expect_gt(counts[0], 4);
	cr_expect_eq(counts[1], cnt);
	cr_expect_leq(counts[2], 1u << 18);
	synth__free(&s);
}

static int stop(const struct batch *b, void *ctx)
{
	return -ECANCELED;
}

Test(model_tree, the_visitor_may_stop)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_OPERATOR, "op", 0, 5);
	synth__open(&s, NULL);
	cr_expect_eq(model__run(s.r, NULL, stop, NULL), -ECANCELED);
	synth__free(&s);
}

/* The output must nest, whatever the input. */
static size_t check_level(const struct span *s, uint64_t begin, uint64_t end, int depth)
{
	size_t cnt = 0;

	cr_assert_lt(depth, MODEL_MAX_DEPTH + 2);
	for (; s; s = s->next_sibling) {
		uint64_t s_end = s->ev.ts_ns + s->ev.dur_ns, children_ns = 0;

		cr_assert_geq(s->ev.ts_ns, begin);
		cr_assert_leq(s_end, end);
		begin = s_end;
		for (const struct span *c = s->first_child; c; c = c->next_sibling)
			children_ns += c->cpu_ns;
		cr_assert_geq(s->cpu_ns, children_ns);
		cr_assert_eq(s->self_ns, s->cpu_ns - children_ns);
		cnt += check_level(s->first_child, s->ev.ts_ns, s_end, depth + 1);
		cnt += s->ev.name != 0;
	}
	return cnt;
}

static int check_batch(const struct batch *b, void *ctx)
{
	for (size_t i = 0; i < b->track_cnt; i++)
		if (b->tracks[i].track->kind == TRACK_THREAD)
			*(size_t *)ctx += check_level(b->tracks[i].roots, 0, UINT64_MAX, 0);
	return 0;
}

static void check_random(unsigned int seed)
{
	static const enum span_category cats[] = {CAT_OPERATOR,	  CAT_BACKWARD_NODE, CAT_USER,
						  CAT_DATALOADER, CAT_BACKWARD,	     CAT_OPTIMIZER,
						  CAT_ZERO_GRAD,  CAT_RUNTIME};
	struct synth s =
		synth__new("{\"probe_cost\": {\"span_inside_ns\": 1, \"span_total_ns\": 3}}");
	struct model_stats stats;
	const struct model_opts opts = {.stats = &stats};
	size_t seen = 0;

	srand(seed);
	for (uint64_t i = 0, t = 0; i < 3000; i++) {
		uint64_t begin = t + (uint64_t)rand() % 100;
		struct event e = synth__event(&s, rand() % 2 ? s.main : s.other, cats[rand() % 8],
					      "random", begin, begin + (uint64_t)rand() % 200);

		e.end = rand() % 4;
		synth__write(&s, &e);
		t += (uint64_t)rand() % 30;
		if (rand() % 50 == 0)
			synth__step(&s, i, t > 500 ? t - (uint64_t)rand() % 500 : 0, t);
	}
	synth__open(&s, NULL);
	cr_assert_eq(model__run(s.r, &opts, check_batch, &seen), 0);
	cr_expect_eq(seen + stats.too_deep, stats.spans, "seed %u", seed);
	synth__free(&s);
}

Test(model_tree, any_input_gives_trees_that_nest)
{
	for (unsigned int seed = 1; seed <= 100; seed++)
		check_random(seed);
}

Test(model_tree, a_function_of_the_users_is_no_framework_operator)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_FUNCTION, "layer", 20, 30);
	synth__span(&s, s.main, CAT_OPERATOR, "aten::mm", 40, 50);
	synth__span(&s, s.main, CAT_FUNCTION, "handle", 10, 60);
	synth__span(&s, s.main, CAT_FUNCTION, "kernel", 80, 90);
	synth__span(&s, s.main, CAT_OPERATOR, "aten::add", 70, 100);
	synth__expect_tree(&s, "no step\n"
			       " track 1\n"
			       "  Operator handle [10,60) cpu 50 self 30\n"
			       "    OperatorInner layer [20,30) cpu 10 self 10\n"
			       "    Operator aten::mm [40,50) cpu 10 self 10\n"
			       "  Operator aten::add [70,100) cpu 30 self 20\n"
			       "    OperatorInner kernel [80,90) cpu 10 self 10\n");
}

static int count_step(const struct batch *b, void *ctx)
{
	*(uint64_t *)ctx += b->step != NULL;
	return 0;
}

/* Returns how many of four steps are seen after so many spans. */
static uint64_t late_steps(const char *meta, uint64_t spans)
{
	const struct model_opts opts = {0};
	struct synth s = synth__new(meta);
	uint64_t steps = 0;

	for (uint64_t i = 0; i < spans; i++)
		synth__span(&s, s.main, CAT_OPERATOR, "mm", 10 * i, 10 * i + 5);
	for (uint64_t i = 0; i < 4; i++)
		synth__step(&s, i, i * spans * 10 / 4, (i + 1) * spans * 10 / 4);
	synth__open(&s, NULL);
	cr_expect_eq(model__run(s.r, &opts, count_step, &steps), 0);
	synth__free(&s);
	return steps;
}

/* proftrace had no processor for two seconds, while the job made 150 000 calls a second. */
Test(model_tree, steps_that_come_late_are_waited_for_where_they_are_to_come)
{
	cr_expect_eq(late_steps("{\"steps\": {\"source\": \"optimizer\"}}", 300000), 4);
	cr_expect_lt(late_steps("{}", 300000), 4);
}

Test(model_tree, what_begins_before_its_launch_is_counted)
{
	struct synth s = synth__new("{}");
	struct model_stats stats;
	const struct model_opts opts = {.stats = &stats};
	uint32_t stream = synth__stream(&s, 1, 7);

	for (uint64_t id = 1; id <= 3; id++)
		synth__launch(&s, s.main, id, id * 100000, id * 100000 + 5000);
	for (uint64_t id = 1; id <= 3; id++)
		synth__kernel(&s, stream, CAT_KERNEL, "gemm", id, id * 91000, id * 100000 + 2000);
	synth__open(&s, NULL);
	free(synth__tree(&s, &opts));
	cr_expect_eq(stats.linked, 3);
	cr_expect_eq(stats.before_launch, 2, "less than the clocks may differ is none");
	cr_expect_eq(stats.before_launch_ns, 27000);
	synth__free(&s);
}

/* A kernel outside of operators, such as an optimizer's copy. */
Test(model_tree, parts_of_paddles_operators_are_none)
{
	struct synth s = synth__new(
		"{\"process\": {\"pid\": 100}, \"runtime\": {\"framework\": \"paddle\"}}");
	char *tree;

	synth__span(&s, s.main, CAT_OPERATOR, "full kernel launch", 20, 30);
	synth__span(&s, s.main, CAT_OPERATOR, "relu infer_meta", 42, 44);
	synth__span(&s, s.main, CAT_OPERATOR, "relu dygraph", 40, 50);
	synth__open(&s, "{}");
	tree = synth__tree(&s, NULL);
	cr_expect_not_null(strstr(tree, "OperatorInner full kernel launch ["), "%s", tree);
	cr_expect_not_null(strstr(tree, "OperatorInner relu infer_meta ["), "%s", tree);
	cr_expect_not_null(strstr(tree, "Operator relu dygraph ["), "%s", tree);
	free(tree);
	synth__free(&s);
}
