// SPDX-License-Identifier: BSD-2-Clause
/* Notes of tables that cannot show what was requested, and times in sentences. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "common/util.h"
#include "model_synth.h"

#define US 1000

/* A step of 100 us, and 900 us of the one that the window's end cut. */
static struct synth cut_window_of(const char *detail, double max_overhead, bool operators,
				  bool target_gone)
{
	char meta[128], summary[256];
	struct synth s;

	snprintf(meta, sizeof(meta),
		 "{\"process\": {\"pid\": 100}, \"detail\": \"%s\", \"max_overhead\": %.2f}",
		 detail, max_overhead);
	s = synth__new(meta);
	synth__span(&s, s.main, CAT_DATALOADER, "next", 0, 10 * US);
	if (operators)
		synth__span(&s, s.main, CAT_OPERATOR, "aten::mm", 20 * US, 60 * US);
	synth__step(&s, 0, 0, 100 * US);
	synth__span(&s, s.main, CAT_DATALOADER, "next", 100 * US, 110 * US);
	if (operators)
		synth__span(&s, s.main, CAT_OPERATOR, "aten::add", 120 * US, 1000 * US);
	snprintf(summary, sizeof(summary),
		 "{\"windows\": [{\"begin_ns\": 0, \"end_ns\": 1000000}],"
		 " \"loss\": {\"target_gone\": %s},"
		 " \"cost\": {\"hits\": 9, \"probe_ns\": 50000, \"loader_cpu_ns\": 1}}",
		 target_gone ? "true" : "false");
	synth__open(&s, summary);
	return s;
}

static struct synth cut_window(const char *detail, bool operators)
{
	return cut_window_of(detail, 0, operators, false);
}

static void expect(const char *detail, bool operators, struct report_opts opts, const char *line,
		   bool is_there)
{
	struct synth s = cut_window(detail, operators);
	char *text = synth__report(&s, &opts);

	if (is_there)
		synth__expect_line(text, line);
	else
		cr_expect_null(strstr(text, line), "%s", text);
	free(text);
	synth__free(&s);
}

#define OPTS(...) ((struct report_opts){.style.unit = UNIT_US, __VA_ARGS__})

Test(report_notes, ratios_are_of_the_whole_steps)
{
	const struct report_opts opts = OPTS(.tables = "overview");

	expect("operator", true, opts,
	       "ProfileStep                1           100.00           100.00", true);
	expect("operator", true, opts,
	       "  Operator                 1           40.00            40.00", true);
	expect("operator", true, opts,
	       "  Dataloader               1           10.00            10.00", true);
	expect("operator", true, opts, "Left out here, being in no whole step: 2 events.", true);
	expect("operator", true, opts, "estimated added time: 5.00 %", true);
}

Test(report_notes, what_a_target_does_until_it_ends_does_not_dilute_the_cost)
{
	struct synth s = cut_window_of("operator", 0, true, true);
	char *text = synth__report(&s, &OPTS(.tables = "overview"));

	synth__expect_line(text, "estimated added time: 50.00 %");
	free(text);
	synth__free(&s);
}

Test(report_notes, a_budget_that_was_not_kept)
{
	const struct report_opts opts = OPTS(.tables = "overview");
	static const double wanted[] = {0.04, 0.02};

	for (size_t i = 0; i < 2; i++) {
		struct synth s = cut_window_of("operator", wanted[i], true, false);
		char *text = synth__report(&s, &opts);

		cr_expect_eq(strstr(text, "The estimate is more than --max-overhead 2%: ") != NULL,
			     i == 1, "%s", text);
		free(text);
		synth__free(&s);
	}
}

Test(report_notes, operators_that_the_level_of_detail_leaves_out)
{
	const struct report_opts opts = OPTS(.tables = "operator");
	static const char phase[] = "No operators were recorded: --detail phase leaves them out, "
				    "--detail operator records them.";

	expect("phase", false, opts, phase, true);
	expect("operator", false, opts, "No operator was seen in the window.", true);
	expect("operator", true, opts, "No operator", false);
}

/* Gradient checkpointing does this: it runs the forward pass again, within the node that needs
 * it. */
Test(report_notes, operators_called_within_backward_nodes)
{
	static const char note[] =
		"Within backward nodes 1 operator was called, 30 ns, which are in the nodes' "
		"times alone (gradient checkpointing, hooks); --op-detail has them.";
	static const char *const meta[] = {"{\"detail\": \"operator\"}", "{\"detail\": \"inner\"}"};
	const struct report_opts opts = OPTS(.tables = "operator");

	for (size_t i = 0; i < ARRAY_SIZE(meta); i++) {
		struct synth s = synth__new(meta[i]);
		struct event node =
			synth__event(&s, s.main, CAT_BACKWARD_NODE, "AddmmBackward0", 10, 90);
		char *text;

		node.id = 7;
		synth__span(&s, s.main, CAT_OPERATOR, "aten::linear", 20, 50);
		synth__write(&s, &node);
		synth__step(&s, 0, 0, 100);
		synth__open(&s, "{}");
		text = synth__report(&s, &opts);
		cr_expect_eq(strstr(text, note) != NULL, i == 0, "%s", text);
		free(text);
		synth__free(&s);
	}
}

/* LBFGS: of 434 ms of a step the closure's forward pass had 12, Forward 312. */
Test(report_notes, what_an_optimizer_computes_between_runs_of_its_closure)
{
	static const char note[] = "what it computes between two runs is in Forward.";
	const struct report_opts opts = OPTS(.tables = "model");

	for (uint64_t runs = 1; runs <= 3; runs++) {
		struct synth s = synth__new("{}");
		char *text;

		synth__span(&s, s.main, CAT_DATALOADER, "next", 0, 10);
		for (uint64_t i = 0; i < runs; i++) {
			if (runs == 3) /* the closure begins like this; earlier work is not the
					  closure's */
				synth__span(&s, s.main, CAT_ZERO_GRAD, "zero", 16 + 20 * i,
					    17 + 20 * i);
			synth__span(&s, s.main, CAT_BACKWARD, "run", 22 + 20 * i, 30 + 20 * i);
		}
		synth__span(&s, s.main, CAT_OPTIMIZER, "LBFGS.step", 15, 90);
		synth__step(&s, 0, 0, 100);
		synth__open(&s, "{}");
		text = synth__report(&s, &opts);
		cr_expect_eq(strstr(text, note) != NULL, runs == 2, "%s", text);
		free(text);
		synth__free(&s);
	}
}

Test(report_notes, an_optimizer_of_which_only_operators_were_seen)
{
	static const char note[] = "No call of the optimizer was seen: Optimization is from the";
	static const enum span_category begins[] = {CAT_NONE, CAT_OPTIMIZER, CAT_OPTIMIZER_BEGIN};
	const struct report_opts opts = OPTS(.tables = "model");

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++) {
		struct synth s = synth__new("{}");
		char *text;

		synth__span(&s, s.main, CAT_BACKWARD, "backward", 10, 50);
		if (begins[i])
			synth__span(&s, s.main, begins[i], "step", 55,
				    begins[i] == CAT_OPTIMIZER ? 80 : 55);
		synth__span(&s, s.main, CAT_OPTIMIZER_OP, "adam", 60, 70);
		synth__step(&s, 0, 0, 100);
		synth__open(&s, "{}");
		text = synth__report(&s, &opts);
		cr_expect_eq(strstr(text, note) != NULL, !begins[i], "%s", text);
		free(text);
		synth__free(&s);
	}
}

Test(report_notes, an_optimizer_that_begins_and_has_no_operators)
{
	static const char note[] =
		"In 1 of 1 steps the optimizer was seen to begin, but none of its";
	const struct report_opts opts = OPTS(.tables = "model");
	struct synth s = synth__new("{}");
	char *text;

	synth__span(&s, s.main, CAT_BACKWARD, "backward", 10, 50);
	synth__span(&s, s.main, CAT_OPTIMIZER_BEGIN, "step", 55, 55);
	synth__span(&s, s.main, CAT_OPERATOR, "square", 60, 70);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	text = synth__report(&s, &opts);
	cr_expect_not_null(strstr(text, note), "%s", text);
	cr_expect_null(strstr(text, "No step of an optimizer was seen"), "%s", text);
	free(text);
	synth__free(&s);
}

/* A forward pass that the framework shows (MXNet's autograd.record()) holds no batches. */
Test(report_notes, what_forward_is_without_a_data_loader)
{
	static const char note[] = "No data loader was seen: Forward is all";
	static const struct {
		bool loads, shown, noted;
	} cases[] = {{false, false, true}, {true, false, false}, {false, true, false}};
	const struct report_opts opts = OPTS(.tables = "model");

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct synth s = synth__new("{}");
		char *text;

		if (cases[i].loads)
			synth__span(&s, s.main, CAT_DATALOADER, "next", 0, 10);
		if (cases[i].shown)
			synth__span(&s, s.main, CAT_FORWARD, "forward", 10, 40);
		synth__span(&s, s.main, CAT_BACKWARD, "backward", 40, 90);
		synth__step(&s, 0, 0, 100);
		synth__open(&s, "{}");
		text = synth__report(&s, &opts);
		cr_expect(strstr(text, "Forward "), "%s", text);
		cr_expect_eq(strstr(text, note) != NULL, cases[i].noted, "%s", text);
		free(text);
		synth__free(&s);
	}
}

/* Steps of 100 ns each, of which operator `odd` is in every turn's first; whole: in all but the
 * last. */
static char *of_turns(size_t turn, size_t steps, bool loads, bool whole)
{
	const struct report_opts opts = OPTS(.tables = "model");
	struct synth s = synth__new("{}");
	char *text;

	for (size_t i = 0; i < steps; i++) {
		const uint64_t begin = 100 * i;
		const bool first = i % turn == 0 && (whole || i + 1 < steps);

		if (loads)
			synth__span(&s, s.main, CAT_DATALOADER, "next", begin, begin + 5);
		synth__span(&s, s.main, CAT_OPERATOR, first ? "odd" : "even", begin + 15,
			    begin + 20);
		synth__span(&s, s.main, CAT_FORWARD, "forward", begin + 10, begin + 40);
		synth__span(&s, s.main, CAT_BACKWARD, "backward", begin + 40, begin + 90);
		synth__step(&s, i, begin, begin + 100);
	}
	synth__open(&s, "{}");
	text = synth__report(&s, &opts);
	synth__free(&s);
	return text;
}

static void expect_turns(char *text, const char *note)
{
	if (note)
		cr_expect(strstr(text, note) != NULL, "%s", text);
	else
		cr_expect_not(strstr(text, "in turns of") != NULL, "%s", text);
	free(text);
}

Test(report_notes, steps_that_come_in_turns)
{
	expect_turns(of_turns(2, 8, false, true), "The steps come in turns of 2,");
	expect_turns(of_turns(3, 7, false, true), "The steps come in turns of 3,");
	expect_turns(of_turns(1, 8, false, true), NULL);
	expect_turns(of_turns(4, 7, false, true), NULL); /* seen once */
	expect_turns(of_turns(2, 4, false, true), NULL);
	expect_turns(of_turns(2, 9, false, false), NULL);
	expect_turns(of_turns(2, 8, true, true), NULL); /* the loader shows the steps */
}

Test(report_notes, an_optimizer_that_is_not_the_frameworks)
{
	static const char note[] = "No step of an optimizer was seen";
	const struct report_opts opts = OPTS(.tables = "model");

	for (int seen = 0; seen < 2; seen++) {
		struct synth s = synth__new("{}");
		char *text;

		synth__span(&s, s.main, CAT_BACKWARD, "backward", 40, 80);
		if (seen)
			synth__span(&s, s.main, CAT_OPTIMIZER, "step", 80, 90);
		synth__step(&s, 0, 0, 100);
		synth__open(&s, "{}");
		text = synth__report(&s, &opts);
		cr_expect_eq(strstr(text, note) != NULL, !seen, "%s", text);
		free(text);
		synth__free(&s);
	}
}

Test(report_notes, steps_without_an_update)
{
	static const char note[] = "6 of 8 steps have a backward pass and no optimizer's step";
	const struct report_opts opts = OPTS(.tables = "model");

	for (uint64_t every = 1; every <= 4; every += 3) {
		struct synth s = synth__new("{}");
		char *text;

		for (uint64_t i = 0; i < 8; i++) {
			synth__span(&s, s.main, CAT_BACKWARD, "backward", 100 * i + 40,
				    100 * i + 80);
			if (i % every == every - 1)
				synth__span(&s, s.main, CAT_OPTIMIZER, "step", 100 * i + 80,
					    100 * i + 90);
			synth__step(&s, i, 100 * i, 100 * i + 100);
		}
		synth__open(&s, "{}");
		text = synth__report(&s, &opts);
		cr_expect_eq(strstr(text, note) != NULL, every == 4, "%s", text);
		free(text);
		synth__free(&s);
	}
}

Test(report_notes, steps_without_any_phase)
{
	static const char note[] = "6 of 8 steps have none of these phases: a run of a graph";
	const struct report_opts opts = OPTS(.tables = "model,findings");

	for (uint64_t every = 1; every <= 4; every += 3) {
		struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
		char *text;

		for (uint64_t i = 0; i < 8; i++) {
			if (i % every == every - 1)
				synth__span(&s, s.main, CAT_BACKWARD, "backward", 100 * i,
					    100 * i + 95);
			synth__step(&s, i, 100 * i, 100 * i + 100);
		}
		synth__open(&s, "{}");
		text = synth__report(&s, &opts);
		cr_expect_eq(strstr(text, note) != NULL, every == 4, "%s", text);
		cr_expect_not(strstr(text, "of the step is neither"), "%s", text);
		free(text);
		synth__free(&s);
	}
}

Test(report_notes, an_optimizer_in_the_hooks_of_gradients)
{
	static const char note[] = "The optimizer runs within the backward pass, in the hooks of "
				   "gradients: Backward has its time.";
	const struct report_opts opts = OPTS(.tables = "model");
	struct synth s = synth__new("{}");
	char *text;

	synth__span(&s, s.main, CAT_OPTIMIZER, "step", 50, 60);
	synth__span(&s, s.main, CAT_BACKWARD_NODE, "AccumulateGrad", 45, 65);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 40, 80);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	text = synth__report(&s, &opts);
	cr_expect(strstr(text, note), "%s", text);
	cr_expect_not(strstr(text, "No step of an optimizer was seen"), "%s", text);
	free(text);
	synth__free(&s);
}

Test(report_notes, detail_that_was_not_recorded)
{
	static const char nothing[] =
		"--op-detail shows nothing more: nothing that these operators called or launched "
		"was recorded";

	expect("operator", true, OPTS(.tables = "operator", .op_detail = true),
	       "--op-detail shows nothing more: nothing that these operators called or launched "
	       "was "
	       "recorded; --detail inner records what they call.",
	       true);
	expect("inner", true, OPTS(.tables = "operator", .op_detail = true),
	       "--op-detail shows nothing more: nothing that these operators called or launched "
	       "was "
	       "recorded.",
	       true);
	expect("operator", true, OPTS(.tables = "operator"), nothing, false);
}

Test(report_notes, an_order_by_times_that_there_are_none_of)
{
	static const char order[] = "Rows are in the order of cpu_total, for no device time was "
				    "recorded to sort by.";

	static const char *const words[] = {"gpu_total", "gpu_avg", "gpu_max", "gpu_min"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		expect("operator", true, OPTS(.tables = "operator", .sort_word = words[i]), order,
		       true);
	expect("operator", true, OPTS(.tables = "operator", .sort_word = "calls"), order, false);
}

Test(report_notes, an_order_that_another_table_has)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	const uint32_t stream = synth__stream(&s, 0, 7);
	const struct report_opts opts = OPTS(.tables = "operator,kernel", .sort_word = "cpu_max");
	char *text;

	synth__span(&s, s.main, CAT_OPERATOR, "aten::mm", 20 * US, 60 * US);
	synth__launch(&s, s.main, 1, 30 * US, 40 * US);
	synth__kernel(&s, stream, CAT_KERNEL, "gemm", 1, 40 * US, 50 * US);
	synth__step(&s, 0, 0, 100 * US);
	synth__open(&s, "{}");
	text = synth__report(&s, &opts);
	synth__expect_line(text,
			   "Rows are in the order of gpu_total: this table has no 'cpu_max'.");
	free(text);
	synth__free(&s);
}

Test(report_notes, times_in_prose_have_the_unit_asked_for_or_one_that_suits)
{
	static const struct {
		enum time_unit unit;
		const char *line;
	} chosen[] = {
		{UNIT_S, "window: steps [0,1), 0.001 s"},
		{UNIT_MS, "window: steps [0,1), 1.000 ms"},
		{UNIT_US, "window: steps [0,1), 1000.000 us"},
		{UNIT_NS, "window: steps [0,1), 1000000 ns"},
	};

	for (size_t i = 0; i < sizeof(chosen) / sizeof(*chosen); i++)
		expect("operator", true,
		       (struct report_opts){.tables = "perf",
					    .style = {.unit = chosen[i].unit, .unit_chosen = true}},
		       chosen[i].line, true);
	expect("operator", true, OPTS(.tables = "perf"), "window: steps [0,1), 1.000 ms", true);
}

Test(report_notes, processors_of_a_recording_that_was_cut_off)
{
	const char *const says[] = {"CPU: not known (the recording was cut off).",
				    "CPU: not known (CPU time was not recorded)."};
	struct report_opts opts = OPTS(.tables = "device");

	for (int i = 0; i < 2; i++) {
		struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
		char *text;

		synth__step(&s, 0, 0, 100 * US);
		synth__open(&s, i ? "{}" : NULL);
		text = synth__report(&s, &opts);
		synth__expect_line(text, says[i]);
		free(text);
		synth__free(&s);
	}
}

Test(report_notes, what_is_not_known_keeps_its_key)
{
	const struct report_opts json = {.style.format = TABLE_JSON};
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	char *text;

	synth__span(&s, s.main, CAT_OPERATOR, "aten::mm", 20 * US, 60 * US);
	synth__open(&s, "{\"windows\": [{\"begin_ns\": 0, \"end_ns\": 1000000}],"
			" \"cost\": {\"hits\": 9, \"probe_ns\": 50000, \"loader_cpu_ns\": 1}}");
	text = synth__tables(&s, "cost", &json);
	cr_expect_not_null(strstr(text, "\"added_per_step_ns\": null"), "%s", text);
	cr_expect_not_null(strstr(text, "\"added_per_step_ns\": \"it has no whole step\""));
	free(text);
	synth__free(&s);
}

Test(report_notes, what_the_tracepoints_took_is_part_of_the_estimate)
{
	const struct report_opts us = {.style.unit = UNIT_US};
	struct synth s = synth__new("{\"process\": {\"pid\": 100}, \"max_overhead\": 0.01}");
	char *text;

	synth__step(&s, 0, 0, 100 * US);
	synth__open(&s, "{\"windows\": [{\"begin_ns\": 0, \"end_ns\": 100000}],"
			" \"cost\": {\"hits\": 9, \"probe_ns\": 5000, \"loader_cpu_ns\": 1,"
			" \"tracepoint_ns\": 4500}}");
	text = synth__tables(&s, "cost", &us);
	synth__expect_line(text, "estimated added time per step: 5.000 us");
	synth__expect_line(text, "of it by the kernel's tracepoints: 4.500 us");
	/* 5 %, but of what may be left out no more than 0.5 % */
	cr_expect_null(strstr(text, "--max-overhead"), "%s", text);
	free(text);
	synth__free(&s);
}

Test(report_notes, what_adds_more_than_it_may_says_what_adds_less)
{
	static const struct {
		const char *meta, *cost;
		bool low, over, helps;
	} cases[] = {
		{"0.01", "\"probe_ns\": 400", false, false, false},
		{"0.01", "\"probe_ns\": 5000", true, true, false},
		{"0.01", "\"probe_ns\": 5000, \"inject_helps\": true", true, true, true},
		/* --no-prune */
		{"0", "\"probe_ns\": 400, \"inject_helps\": true", false, false, false},
		{"0", "\"probe_ns\": 5000, \"inject_helps\": true", true, false, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char meta[128], summary[256], *text;
		struct synth s;

		snprintf(meta, sizeof(meta), "{\"process\": {\"pid\": 100}, \"max_overhead\": %s}",
			 cases[i].meta);
		s = synth__new(meta);
		snprintf(summary, sizeof(summary),
			 "{\"windows\": [{\"begin_ns\": 0, \"end_ns\": 100000}],"
			 " \"cost\": {\"hits\": 9, \"loader_cpu_ns\": 1, %s}}",
			 cases[i].cost);
		synth__step(&s, 0, 0, 100 * US);
		synth__open(&s, summary);
		text = synth__tables(&s, "cost", &(struct report_opts){.style.unit = UNIT_US});
		cr_expect_eq(!!strstr(text, "The estimate may be low: "), cases[i].low, "%s", text);
		cr_expect_eq(!!strstr(text, "--detail phase adds less."), cases[i].over, "%s",
			     text);
		cr_expect_eq(!!strstr(text, "--inject (our library sees "), cases[i].helps, "%s",
			     text);
		free(text);
		synth__free(&s);
	}
}

Test(report_notes, what_cupti_takes_is_not_in_the_estimate)
{
	const struct report_opts us = {.style.unit = UNIT_US};
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	char *text;

	synth__step(&s, 0, 0, 100 * US);
	synth__open(&s, "{\"cost\": {\"hits\": 9, \"probe_ns\": 500, \"loader_cpu_ns\": 1},"
			" \"device\": {\"source\": \"CUPTI\", \"calls\": 7, \"activities\": 1}}");
	text = synth__tables(&s, "cost", &us);
	synth__expect_line(text,
			   "Not in the estimate: what CUPTI itself takes of 7 calls of CUDA's and "
			   "1 activity of the device, which it does not tell.");
	free(text);
	synth__free(&s);
}
