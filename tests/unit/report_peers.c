// SPDX-License-Identifier: BSD-2-Clause
/* Tables in other profilers' form: the classic Paddle report, MXNet's and MindSpore's. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "model_synth.h"

#define NS(...) (&(struct report_opts){.style.unit = UNIT_NS, __VA_ARGS__})

/* conv [0,60) and [60,100) with a copy of 4 in the first, which launches a kernel of 20. */
static struct synth convs(void)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	uint32_t stream = synth__stream(&s, 0, 7);

	synth__launch(&s, s.main, 1, 5, 10);
	synth__launch(&s, s.main, 2, 15, 20);
	synth__span(&s, s.main, CAT_OPERATOR, "copy", 12, 22);
	synth__span(&s, s.main, CAT_OPERATOR, "conv", 0, 60);
	synth__span(&s, s.main, CAT_OPERATOR, "conv", 60, 100);
	synth__kernel(&s, stream, CAT_KERNEL, "winograd", 1, 30, 50);
	synth__kernel(&s, stream, CAT_MEMCPY, "Memcpy HtoD", 2, 50, 54);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	return s;
}

Test(report_peers, classic_adds_both_sides_up)
{
	struct synth s = convs();

	EXPECT_LINES(&s, "classic", NS(.sort_word = "total"),
		     "conv   2       124       100       0.81     24        0.19     40    84    "
		     "62    0.90",
		     "copy   1       14        10        0.71     4         0.29     14    14    "
		     "14    0.10",
		     "Place: All", "Computation time (kernels): 20 ns",
		     "GpuMemcpy: calls 1, total 4 ns", "  Memcpy HtoD: calls 1, total 4 ns");
	synth__free(&s);
}

Test(report_peers, classic_of_one_side)
{
	struct synth s = convs();

	EXPECT_LINES(&s, "classic", NS(.state = STATE_CPU),
		     "conv   2       100       40    60    50    0.91", "Place: CPU");
	EXPECT_LINES(&s, "classic", NS(.state = STATE_GPU),
		     "conv   2       24        0     24    12    0.86", "Place: GPU");
	synth__free(&s);
}

static void expect_first(struct synth *s, const char *table, const char *word, bool ascending,
			 const char *name)
{
	const struct report_opts opts = {.tables = table,
					 .sort_word = word,
					 .ascending = ascending,
					 .style = {.format = TABLE_JSON}};
	char *text = synth__report(s, &opts);
	json_t *json = json_loads(text, 0, NULL);
	const json_t *row =
		json_array_get(json_object_get(json_object_get(json, table), "rows"), 0);
	const char *got = json_string_value(
		json_object_get(row, strcmp(table, "classic") ? "name" : "event"));

	cr_expect_str_eq(got, name, "%s by %s", table, word ? word : "default");
	json_decref(json);
	free(text);
}

Test(report_peers, classic_orders)
{
	struct synth s = convs();

	expect_first(&s, "classic", NULL, false, "copy"); /* ends first */
	expect_first(&s, "classic", NULL, true, "copy");
	expect_first(&s, "classic", "calls", false, "conv");
	expect_first(&s, "classic", "max", false, "conv");
	expect_first(&s, "classic", "min", false, "conv");
	expect_first(&s, "classic", "min", true, "copy");
	expect_first(&s, "classic", "ave", false, "conv");
	synth__free(&s);
}

Test(report_peers, classic_of_a_device_that_is_not_there)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");

	synth__span(&s, s.main, CAT_OPERATOR, "conv", 0, 60);
	synth__open(&s, "{}");
	EXPECT_LINES(&s, "classic", NS(.state = STATE_GPU), "No device time was recorded.");
	synth__free(&s);
}

Test(report_peers, aggregate_by_category)
{
	struct synth s = convs();

	EXPECT_LINES(&s, "aggregate", NS(.style.width = 80),
		     "conv                       2            100        40         60        50",
		     "copy                       1            10         10         10        10",
		     "winograd                   1            20         20         20        20");
	expect_first(&s, "aggregate", NULL, false, "conv");
	expect_first(&s, "aggregate", "count", true, "copy");
	expect_first(&s, "aggregate", "avg", true, "copy");
	synth__free(&s);
}

Test(report_peers, aggregate_has_the_profilers_own_json)
{
	struct synth s = convs();
	char *text = synth__tables(&s, "aggregate", NS(.style.format = TABLE_JSON));
	json_t *json = json_loads(text, 0, NULL);
	json_t *dumps = json_object_get(json_object_get(json, "aggregate"), "dumps");
	json_t *conv = json_object_get(json_object_get(json_object_get(dumps, "Time"), "operator"),
				       "conv");

	cr_expect_eq(json_integer_value(json_object_get(conv, "Count")), 2, "%s", text);
	cr_expect_float_eq(json_real_value(json_object_get(conv, "Total")), 1e-4, 1e-9);
	cr_expect_float_eq(json_real_value(json_object_get(conv, "Avg")), 5e-5, 1e-9);
	cr_expect_str_eq(
		json_string_value(json_object_get(json_object_get(dumps, "Unit"), "Memory")), "kB");
	json_decref(json);
	free(text);
	synth__free(&s);
}

Test(report_peers, aggregate_of_memory)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");

	synth__memory(&s, s.main, 15, 0x1000, 4000);
	synth__memory(&s, s.main, 25, 0x1000, -4000);
	synth__span(&s, s.main, CAT_OPERATOR, "op", 0, 30);
	synth__open(&s, "{}");
	EXPECT_LINES(
		&s, "aggregate", NS(),
		"Memory: cpu/0: count 2, min use 0.0000 kB, max use 4.0000 kB, avg use 2.0000 kB, "
		"from the window's begin on");
	synth__free(&s);
}

/* As in mx.profiler: operators that the engine runs, and calls that only push them. */
Test(report_peers, aggregate_of_mxnet)
{
	struct synth s = synth__new(
		"{\"process\": {\"pid\": 100}, \"runtime\": {\"framework\": \"mxnet\"}}");
	char *text;

	synth__span(&s, s.main, CAT_OPERATOR, "FullyConnected", 0, 10);
	synth__span(&s, s.main, CAT_OPERATOR, "engine: FullyConnected", 20, 60);
	synth__span(&s, s.main, CAT_NONE, "MXNDArrayWaitAll", 70, 90);
	synth__span(&s, s.main, CAT_USER, "net::task", 100, 200);
	synth__span(&s, s.main, CAT_USER, "lone", 210, 220);
	synth__open(&s, "{}");
	text = synth__tables(&s, "aggregate", NS(.style.format = TABLE_CSV));
	cr_expect(strstr(text, "\nFullyConnected,1,40,40,40,40,0,operator"), "%s", text);
	cr_expect(strstr(text, "\nFullyConnected,1,10,10,10,10,0,push"), "%s", text);
	cr_expect(strstr(text, "\nMXNDArrayWaitAll,1,20,20,20,20,0,MXNET_C_API"), "%s", text);
	cr_expect(strstr(text, "\ntask,1,100,100,100,100,0,net"), "%s", text);
	cr_expect(strstr(text, "\nlone,1,10,10,10,10,0,event"), "%s", text);
	free(text);
	synth__free(&s);
}

static void expect_number(struct synth *s, const char *table, size_t row, const char *key,
			  json_int_t want)
{
	char *text = synth__tables(s, table, NS(.style.format = TABLE_JSON));
	json_t *json = json_loads(text, 0, NULL);
	const json_t *rows = json_object_get(json_object_get(json, table), "rows");

	cr_expect_eq(json_integer_value(json_object_get(json_array_get(rows, row), key)), want,
		     "%s of row %zu in %s", key, row, text);
	json_decref(json);
	free(text);
}

static struct synth two_steps(void)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");

	synth__span(&s, s.main, CAT_FORWARD, "forward", 10, 40);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 45, 80);
	synth__step(&s, 0, 0, 100);
	synth__span(&s, s.main, CAT_FORWARD, "forward", 120, 140);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 140, 160);
	synth__step(&s, 1, 100, 200);
	synth__open(&s, "{}");
	return s;
}

Test(report_peers, step_trace_of_each_step_and_on_average)
{
	struct synth s = two_steps();

	expect_number(&s, "step_trace", 0, "iteration_interval_ns", 10);
	expect_number(&s, "step_trace", 0, "fp_and_bp_ns", 70);
	expect_number(&s, "step_trace", 0, "tail_ns", 20);
	expect_number(&s, "step_trace", 1, "tail_ns", 40);
	expect_number(&s, "step_trace", 2, "iteration_interval_ns", 15);
	expect_number(&s, "step_trace", 2, "fp_and_bp_ns", 55);
	synth__free(&s);
}

Test(report_peers, averages_and_the_perf_summary_are_whole_however_few_rows)
{
	const struct report_opts opts = {.tables = "step_trace,perf",
					 .style = {.format = TABLE_CSV, .row_limit = 1}};
	struct synth s = two_steps();
	char *text = synth__report(&s, &opts);

	cr_expect_not_null(strstr(text, "\naverage,"), "%s", text);
	cr_expect_not_null(strstr(text, "\n# 1 more row left out"), "%s", text);
	cr_expect_not_null(strstr(text, "\nips,"), "%s", text);
	free(text);
	synth__free(&s);
}

Test(report_peers, step_trace_of_steps_without_a_backward_pass)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");

	synth__span(&s, s.main, CAT_OPERATOR, "op", 10, 40);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	EXPECT_LINES(&s, "step_trace", NS(), "No step had a forward and a backward pass.");
	synth__free(&s);
}

Test(report_peers, operators_of_one_type)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");

	synth__span(&s, s.main, CAT_OPERATOR, "Default/net/Conv2D-op1", 0, 10);
	synth__span(&s, s.main, CAT_OPERATOR, "Default/net/Conv2D-op12", 10, 40);
	synth__span(&s, s.main, CAT_OPERATOR, "aten::conv2d", 40, 45);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	expect_number(&s, "op_type", 0, "occurrences", 2);
	expect_number(&s, "op_type", 0, "total_ns", 40);
	expect_number(&s, "op_type", 0, "max_ns", 30);
	expect_number(&s, "op_type", 0, "min_ns", 10);
	expect_number(&s, "op_type", 1, "total_ns", 5);
	expect_number(&s, "op_detail", 0, "total_ns", 30);
	expect_number(&s, "op_detail", 1, "total_ns", 10);
	synth__free(&s);
}

Test(report_peers, operators_of_the_device_by_what_they_launched)
{
	struct synth s = convs();

	/* host: the second conv; device: the first one and the copy */
	expect_number(&s, "op_type", 0, "total_ns", 40);
	expect_number(&s, "op_type", 1, "total_ns", 24);
	expect_number(&s, "op_type", 2, "total_ns", 4);
	synth__free(&s);
}
