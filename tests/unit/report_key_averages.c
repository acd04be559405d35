// SPDX-License-Identifier: BSD-2-Clause
/* key_averages: self and total times, memory, shapes, and its orders. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "model_synth.h"

#define NS(...) (&(struct report_opts){.style.unit = UNIT_NS, __VA_ARGS__})

/* mm [10,40) in linear [0,50). linear launches 5 ns of kernel itself and 20 ns in mm. */
static struct synth linear(void)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	uint32_t stream = synth__stream(&s, 0, 7);

	synth__launch(&s, s.main, 1, 20, 30);
	synth__span(&s, s.main, CAT_OPERATOR, "aten::mm", 10, 40);
	synth__launch(&s, s.main, 2, 42, 48);
	synth__span(&s, s.main, CAT_OPERATOR, "aten::linear", 0, 50);
	synth__kernel(&s, stream, CAT_KERNEL, "gemm", 1, 30, 50);
	synth__kernel(&s, stream, CAT_KERNEL, "bias", 2, 50, 55);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	return s;
}

Test(report_key_averages, self_and_total_on_both_sides)
{
	struct synth s = linear();

	EXPECT_LINES(
		&s, "key_averages", NS(.style.width = 100),
		"Name          S.CPU%  Self CPU  CPU total  CPU avg  Self GPU  S.GPU%  GPU total  "
		"GPU avg  Calls",
		"aten::linear  28.00   14        50         50       5         20.00   25         "
		"25       1",
		"aten::mm      40.00   20        30         30       20        80.00   20         "
		"20       1",
		"launch        32.00   16        16         8        0         0.00    0          "
		"0        2",
		"gemm          0.00    0         0          0        20        80.00   20         "
		"20       1",
		"Self CPU time total: 50 ns", "Self GPU time total: 25 ns");
	synth__free(&s);
}

static void expect_first(struct synth *s, const char *word, bool ascending, const char *name)
{
	const struct report_opts opts = {.tables = "key_averages",
					 .sort_word = word,
					 .ascending = ascending,
					 .style = {.unit = UNIT_NS, .row_limit = 1}};
	char *text = synth__report(s, &opts), *line;

	line = strstr(text, "\nName");
	cr_assert_not_null(line, "%s", text);
	line = strchr(strchr(line + 1, '\n') + 1, '\n') + 1;
	cr_expect(!strncmp(line, name, strlen(name)), "by %s:\n%s", word, text);
	free(text);
}

Test(report_key_averages, every_order_of_the_profiler)
{
	struct synth s = linear();

	expect_first(&s, NULL, false, "aten::linear ");
	expect_first(&s, "cpu_time_total", false, "aten::linear ");
	expect_first(&s, "cpu_time", false, "aten::linear ");
	expect_first(&s, "self_cpu_time_total", false, "aten::mm ");
	expect_first(&s, "cuda_time_total", false, "aten::linear ");
	expect_first(&s, "device_time", false, "aten::linear ");
	expect_first(&s, "self_cuda_time_total", false, "aten::mm ");
	expect_first(&s, "self_device_time_total", true, "launch ");
	expect_first(&s, "count", false, "launch ");
	expect_first(&s, "cpu_time_total", true, "bias ");
	synth__free(&s);
}

Test(report_key_averages, an_order_by_what_was_not_recorded_is_the_usual_one)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");

	synth__span(&s, s.main, CAT_OPERATOR, "a", 0, 10);
	synth__span(&s, s.main, CAT_OPERATOR, "b", 10, 40);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	for (size_t i = 0; i < 2; i++) {
		const char *word = i ? "cuda_memory_usage" : "self_cuda_time_total";
		char note[128];

		expect_first(&s, word, false, "b ");
		snprintf(note, sizeof(note),
			 "Rows are in the order of cpu_time_total: nothing was recorded to sort by "
			 "%s.",
			 word);
		synth__expect_lines(&s, "key_averages", NS(.sort_word = word), 1,
				    (const char *const[]){note});
	}
	synth__free(&s);
}

Test(report_key_averages, memory_of_the_innermost_event_and_of_all_around_it)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");

	synth__memory(&s, s.main, 15, 0x1000, 4096);
	synth__span(&s, s.main, CAT_OPERATOR, "inner", 10, 20);
	synth__memory(&s, s.main, 25, 0x1000, -4096);
	synth__memory(&s, s.main, 26, 0x2000, 512);
	synth__span(&s, s.main, CAT_OPERATOR, "outer", 0, 30);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	EXPECT_LINES(&s, "key_averages",
		     NS(.style.width = 100, .sort_word = "self_cpu_memory_usage"),
		     "inner  33.33   10        33.33   10         10       4.00 KiB  4.00 KiB   1",
		     "outer  66.67   20        100.00  30         30       512 B     -3.50 KiB  1");
	expect_first(&s, "cpu_memory_usage", false, "inner ");
	expect_first(&s, "self_cpu_memory_usage", true, "outer ");
	synth__free(&s);
}

Test(report_key_averages, memory_that_no_event_asked_for)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");

	synth__memory(&s, s.main, 5, 0x1000, 4096);
	synth__span(&s, s.main, CAT_OPERATOR, "op", 10, 20);
	synth__memory(&s, s.main, 25, 0x1000, -4096);
	synth__memory(&s, s.main, 26, 0x2000, 512);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	EXPECT_LINES(&s, "key_averages", NS(),
		     "Outside of all events: 512 bytes of CPU memory, in 3 allocations and frees.");
	synth__free(&s);
}

/* As in torch.profiler, div -> div -> div -> true_div is one div of 50, of which 40 is self
 * time. */
Test(report_key_averages, an_event_that_only_calls_its_own_name_is_one_event)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");

	synth__span(&s, s.main, CAT_OPERATOR, "true_div", 20, 30);
	synth__span(&s, s.main, CAT_OPERATOR, "div", 15, 35);
	synth__span(&s, s.main, CAT_OPERATOR, "div", 5, 45);
	synth__span(&s, s.main, CAT_OPERATOR, "div", 0, 50);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	EXPECT_LINES(
		&s, "key_averages", NS(.group_by = GROUP_BY_STACK, .style.width = 0),
		"div       80.00       40        100.00       50         50            1           "
		"-",
		"true_div  20.00       10        20.00        10         10            1           "
		"div");
	synth__free(&s);
}

Test(report_key_averages, two_inner_events_of_its_name_are_events)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");

	synth__span(&s, s.main, CAT_OPERATOR, "div", 10, 20);
	synth__span(&s, s.main, CAT_OPERATOR, "div", 20, 25);
	synth__span(&s, s.main, CAT_OPERATOR, "div", 0, 50);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	EXPECT_LINES(&s, "key_averages", NS(),
		     "div   100.00      50        130.00       65         22            3");
	synth__free(&s);
}

/* The profiler has no event for the backward pass. Its self time counts for the range around it. */
Test(report_key_averages, the_backward_pass_is_no_event)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");

	synth__span(&s, s.main, CAT_BACKWARD_NODE, "MmBackward0", 10, 40);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 5, 50);
	synth__span(&s, s.main, CAT_USER, "train", 0, 60);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	EXPECT_LINES(&s, "key_averages", NS(.group_by = GROUP_BY_STACK, .style.width = 0),
		     "train        50.00       30        100.00       60         60            1   "
		     "        "
		     "-",
		     "MmBackward0  50.00       30        50.00        30         30            1   "
		     "        "
		     "train",
		     "Self CPU time total: 60 ns");
	synth__free(&s);
}

static void mm(struct synth *s, uint64_t begin, int64_t rows)
{
	struct event e = synth__event(s, s->main, CAT_OPERATOR, "mm", begin, begin + 10);
	struct {
		struct event_tensor a;
		int64_t a_dims[2];
		struct event_tensor scalar;
	} __attribute__((packed)) args = {
		.a = {.arg = 0, .ndim = 2}, .a_dims = {rows, 3}, .scalar = {.arg = 2, .ndim = 0}};

	e.args = &args;
	e.args_len = sizeof(args);
	synth__write(s, &e);
}

Test(report_key_averages, rows_by_shape)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");

	mm(&s, 0, 2);
	mm(&s, 10, 64);
	mm(&s, 20, 64);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	EXPECT_LINES(
		&s, "key_averages", NS(.group_by = GROUP_BY_SHAPE),
		"mm    66.67       20        66.67        20         10            2           "
		"[[64, 3], [], []]",
		"mm    33.33       10        33.33        10         10            1           "
		"[[2, 3], [], []]");
	EXPECT_LINES(&s, "key_averages", NS(),
		     "mm    100.00      30        100.00       30         10            3");
	synth__free(&s);
}

static void operator_of(struct synth *s, const char *name, uint64_t begin, const void *args,
			size_t len)
{
	struct event e = synth__event(s, s->main, CAT_OPERATOR, name, begin, begin + 10);

	e.args = args;
	e.args_len = (uint32_t)len;
	synth__write(s, &e);
}

Test(report_key_averages, flops_of_known_calls_and_how_many_are_not)
{
	struct __attribute__((packed)) {
		struct event_tensor a;
		int64_t a_dims[2];
		struct event_tensor b;
		int64_t b_dims[2];
	} mm = {.a = {.arg = 0, .ndim = 2},
		.a_dims = {1000, 3},
		.b = {.arg = 1, .ndim = 2},
		.b_dims = {3, 500}};
	struct synth s = synth__new("{\"process\": {\"pid\": 100}, \"record_shapes\": true, "
				    "\"detail\": \"inner\"}");

	char *text;

	operator_of(&s, "aten::mm", 0, &mm, sizeof(mm));
	operator_of(&s, "aten::mm", 10, &mm, sizeof(mm));
	operator_of(&s, "aten::bmm", 20, NULL, 0);
	operator_of(&s, "aten::add", 30, &mm, sizeof(mm));
	operator_of(&s, "aten::add", 40, NULL, 0);
	operator_of(&s, "aten::relu", 50, &mm, sizeof(mm));
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	EXPECT_LINES(
		&s, "key_averages", NS(.sort_word = "flops"),
		"Name        Self CPU %  Self CPU (ns)  CPU total %  CPU total (ns)  "
		"CPU time avg (ns)  # of Calls  Total FLOPs  FLOP/s",
		"aten::mm    33.33       20        33.33        20         10            2     "
		"      6.00 M       300.00 T",
		"aten::add   33.33       20        33.33        20         10            2     "
		"      3.00 K       -",
		"aten::bmm   16.67       10        16.67        10         10            1     "
		"      -            -",
		"FLOPs: of aten::conv2d, mm, addmm, bmm, baddbmm, add and mul, as "
		"torch.profiler counts them.",
		"FLOPs of 2 of these calls are missing: what they were given is not all "
		"known.");
	text = synth__tables(&s, "key_averages", &(struct report_opts){.style.format = TABLE_JSON});
	cr_expect(strstr(text, "\"total_flops\": 6000000,"), "%s", text);
	cr_expect(strstr(text, "\"flops_per_s\": 300000000000000\n"), "%s", text);
	free(text);
	synth__free(&s);
}

Test(report_key_averages, what_was_not_recorded)
{
	struct synth s = linear();

	EXPECT_LINES(&s, "key_averages", NS(.group_by = GROUP_BY_SHAPE),
		     "Rows are by name: no shapes were recorded; --record-shapes records them.");
	synth__free(&s);
}

Test(report_key_averages, by_stack_a_row_for_each_chain_of_callers)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	static const char *const levels[] = {"l0", "l1", "l2", "l3", "l4", "l5"};

	synth__span(&s, s.main, CAT_OPERATOR, "mm", 10, 20);
	synth__span(&s, s.main, CAT_OPERATOR, "linear", 5, 30);
	synth__span(&s, s.main, CAT_OPERATOR, "mm", 40, 47);
	synth__span(&s, s.main, CAT_OPERATOR, "linear", 35, 50);
	synth__span(&s, s.main, CAT_OPERATOR, "mm", 60, 63);
	synth__span(&s, s.main, CAT_OPERATOR, "deep", 80, 81);
	for (size_t i = 0; i < 6; i++)
		synth__span(&s, s.main, CAT_USER, levels[5 - i], 79 - i, 82 + i);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	EXPECT_LINES(
		&s, "key_averages", NS(.group_by = GROUP_BY_STACK, .style.width = 0),
		"mm      30.36       17        30.36        17         9             2           "
		"linear",
		"mm      5.36        3         5.36         3          3             1           "
		"-",
		"deep    1.79        1         1.79         1          1             1           "
		"l5 < l4 < l3 < l2 < l1",
		"Called From: the operators and ranges around it, the innermost first; frames of "
		"Python were not recorded (--with-stack).");
	synth__free(&s);
}

Test(report_key_averages, a_name_is_as_wide_as_asked)
{
	struct synth s = linear();

	EXPECT_LINES(
		&s, "key_averages", NS(.style.name_width = 8, .style.row_limit = 1),
		"a...near  28.00       14        100.00       50         50            5         "
		"20.00       25         25            1");
	synth__free(&s);
}

static void expect_refused(const char *tables, const char *word, const char *answer)
{
	int err = report__check_order(tables, word);

	cr_assert_eq(err, -EINVAL);
	cr_expect_not_null(strstr(err__take(err), answer), "%s", answer);
}

Test(report_key_averages, an_order_that_a_table_lacks_is_answered_with_its_own)
{
	cr_expect_eq(report__check_order("key_averages", "self_cuda_time_total"), 0);
	cr_expect_eq(report__check_order("operator,key_averages", "cpu_avg"), 0);
	cr_expect_eq(report__check_order(NULL, "gpu_max"), 0);
	cr_expect_eq(report__check_order(NULL, NULL), 0);
	expect_refused("key_averages", "cpu_avg",
		       "sorted by 'cpu_avg'; --table operator is; known: "
		       "key_averages by cpu_time_total, ");
	expect_refused(NULL, "cuda_time", "operator by cpu_total, ");
	expect_refused("steps", "count", "steps has one order");
	expect_refused("steps", "calls", "steps has one order");
}

/* A line of train.py that called torch's linear.py. Below both is a third line, which is left
 * out. */
static uint32_t line_of(struct synth *s, uint32_t line)
{
	struct recording_writer *w = s->w;
	uint32_t id = recording_writer__frame(
		w, 0, recording_writer__code(w, "/job/train.py", "<module>", 1), 9);

	id = recording_writer__frame(w, id, recording_writer__code(w, "/job/train.py", "step", 40),
				     line);
	return recording_writer__frame(w, id,
				       recording_writer__code(w, "/x/site-packages/torch/linear.py",
							      "Linear.forward", 130),
				       134);
}

static void called_from(struct synth *s, uint32_t stack, uint64_t begin, uint64_t end, uint64_t seq)
{
	struct event e = synth__event(s, s->main, CAT_OPERATOR, "linear", begin, end);

	e.stack = stack;
	e.id = seq;
	synth__write(s, &e);
}

static struct synth with_lines(void)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	struct event e;

	synth__span(&s, s.main, CAT_OPERATOR, "addmm", 12, 18);
	called_from(&s, line_of(&s, 41), 10, 20, 5);
	called_from(&s, line_of(&s, 42), 20, 24, 6);
	called_from(&s, line_of(&s, 41), 30, 35, 7);
	e = synth__event(&s, s.main, CAT_BACKWARD_NODE, "AddmmBackward0", 50, 57);
	e.id = 6;
	synth__write(&s, &e);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	return s;
}

/* A backward node has the stack of the operator that it differentiates. */
Test(report_key_averages, by_lines_of_python_where_they_were_recorded)
{
	struct synth s = with_lines();

	EXPECT_LINES(&s, "key_averages",
		     NS(.group_by = GROUP_BY_STACK, .stack_depth = 2, .style.width = 0),
		     "linear          34.62       9         57.69        15         8             "
		     "2        "
		     "   torch/linear.py(134): forward < train.py(41): step",
		     "linear          15.38       4         15.38        4          4             "
		     "1        "
		     "   torch/linear.py(134): forward < train.py(42): step",
		     "addmm           23.08       6         23.08        6          6             "
		     "1        "
		     "   torch/linear.py(134): forward < train.py(41): step",
		     "AddmmBackward0  26.92       7         26.92        7          7             "
		     "1        "
		     "   torch/linear.py(134): forward < train.py(42): step");
	synth__free(&s);
}

/* The columns by which rows are grouped are shown first. */
Test(report_key_averages, a_narrow_terminal_keeps_the_lines)
{
	struct synth s = with_lines();

	EXPECT_LINES(&s, "key_averages",
		     NS(.group_by = GROUP_BY_STACK, .stack_depth = 1, .style.width = 66),
		     "linear          13        19         3      ...ar.py(134): forward");
	synth__free(&s);
}

Test(report_key_averages, one_frame_joins_the_lines_behind_it)
{
	struct synth s = with_lines();

	EXPECT_LINES(
		&s, "key_averages",
		NS(.group_by = GROUP_BY_STACK, .stack_depth = 1, .style.width = 0),
		"linear          50.00       13        73.08        19         6             3  "
		"         torch/linear.py(134): forward");
	synth__free(&s);
}
