// SPDX-License-Identifier: BSD-2-Clause
/* Tables of device work: kernels, copies, communication, memory of devices. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "common/util.h"
#include "model_synth.h"

TestSuite(report_device);

static const struct report_opts ns = {.style.unit = UNIT_NS};
static const struct report_opts by_device = {.by_device = true, .style.unit = UNIT_NS};

/* A device of 10 multiprocessors for 2048 threads each. */
static const char summary[] =
	"{\"device\": {\"devices\": [{\"id\": 1, \"name\": \"GPU\", \"major\": 9, "
	"\"multiprocessors\": "
	"10, \"threads_per_multiprocessor\": 2048, \"registers_per_multiprocessor\": 65536, "
	"\"shared_per_multiprocessor\": 233472, \"warp_size\": 32, \"blocks_per_multiprocessor\": "
	"32}]}}";

static void kernel(struct synth *s, uint32_t track, const char *name, uint64_t id, uint64_t begin,
		   uint64_t end, uint32_t blocks)
{
	const struct event_kernel args = {.grid = {blocks, 1, 1},
					  .block = {256, 1, 1},
					  .registers = 32,
					  .static_shared_bytes = 512,
					  .dynamic_shared_bytes = 1024};
	struct event e = synth__event(s, track, CAT_KERNEL, name, begin, end);

	e.type = EVENT_DEVICE;
	e.id = id;
	e.args = &args;
	e.args_len = sizeof(args);
	synth__write(s, &e);
}

static void copy(struct synth *s, uint32_t track, uint64_t id, uint64_t begin, uint64_t end,
		 int64_t bytes)
{
	struct event e =
		synth__event(s, track, CAT_MEMCPY, "Memcpy HtoD (Pinned -> Device)", begin, end);

	e.type = EVENT_DEVICE;
	e.id = id;
	e.value = bytes;
	synth__write(s, &e);
}

/* Two streams of device 1: computation on 7, and on 20 a collective that the computation half
 * hides. */
static struct synth job_of(uint64_t step_ns)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	uint32_t compute = synth__stream(&s, 1, 7), nccl = synth__stream(&s, 1, 20);

	for (uint64_t id = 1; id <= 5; id++)
		synth__launch(&s, s.main, id, 10 * id, 10 * id + 4);
	synth__span(&s, s.main, CAT_USER, "GpuMemcpyAsync:CPU->GPU", 40, 47);
	synth__span(&s, s.main, CAT_OPERATOR, "mm", 5, 60);
	kernel(&s, compute, "gemm", 1, 20, 120, 40);
	kernel(&s, compute, "gemm", 2, 120, 420, 40);
	kernel(&s, nccl, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(a)", 3, 400, 440, 10);
	copy(&s, compute, 4, 420, 424, 100);
	copy(&s, compute, 5, 430, 436, 500);
	synth__step(&s, 0, 0, step_ns);
	synth__open(&s, summary);
	return s;
}

static struct synth job(void)
{
	return job_of(1000);
}

Test(report_device, kernels_have_their_times_and_how_they_fill_the_device)
{
	struct synth s = job();

	EXPECT_LINES(&s, "kernel", &ns,
		     "gemm                                        2       "
		     "400  90.91  200  300  100             50.00       4.00       32         "
		     "1.50 KiB       51",
		     "ncclDevKernel_AllReduce_Sum_f32_RING_LL(a)  1       "
		     "40  9.09  40  40  40                  12.50       1.00       32         "
		     "1.50 KiB       366");
	EXPECT_LINES(&s, "kernel,device", &by_device, "GPU1                            42.00",
		     "  stream 7                      40.00",
		     "  stream 20                     4.00");
	synth__free(&s);
}

/* A device that begins a step's work after the step ended. Work behind the steps does not count for
 * them. */
Test(report_device, a_device_is_never_busier_than_all_the_time)
{
	struct synth s = job_of(300);

	EXPECT_LINES(&s, "device", &by_device, "GPU1                            93.33",
		     "  stream 7                      93.33");
	synth__free(&s);
}

/* Its first work waited for 100 ms for work launched before the window. Nothing is known about that
 * time. */
Test(report_device, work_of_before_the_window_is_not_idle_time)
{
	static const struct report_opts csv = {.style = {.format = TABLE_CSV}};
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	const uint32_t stream = synth__stream(&s, 0, 7);

	synth__launch(&s, s.main, 1, 1000000, 1005000);
	kernel(&s, stream, "gemm", 1, 101000000, 151000000, 40);
	synth__step(&s, 0, 1000000, 51000000);
	synth__step(&s, 1, 51000000, 201000000);
	synth__open(&s, summary);
	EXPECT_LINES(&s, "device", &csv, "GPU0,50,0",
		     "# GPU0: not known for the first 100.0 ms, in which it did what was launched "
		     "before the window.");
	EXPECT_LINES(&s, "findings", &csv,
		     "GPU0 is idle for 25 % of the step.,\"idle 25.00 ms of a step; 0 kernels a "
		     "step, of 50.00 ms on average\",25000000,25,\"the host is busy with other "
		     "things than launching: see the Model table for the phase, and `--table "
		     "sched` for what its thread waits for\",device_idle,0");
	synth__free(&s);
}

Test(report_device, work_from_before_the_window_counts_for_the_clock_alone)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	uint32_t stream = synth__stream(&s, 1, 7);
	struct event older = synth__event(&s, stream, CAT_KERNEL, "older", 50, 300);

	older.type = EVENT_DEVICE;
	older.id = 1;
	older.flags = EVENT_CUT_BEGIN;
	synth__write(&s, &older);
	synth__launch(&s, s.main, 2, 150, 160);
	kernel(&s, stream, "mine", 2, 600, 700, 40);
	synth__step(&s, 0, 100, 1100);
	synth__open(&s, summary);
	EXPECT_LINES(&s, "device,kernel", &ns, "GPU1                            30.00",
		     "mine                      1       100  100.00  100  100  100            "
		     "50.00       4.00       32         1.50 KiB       440");
	synth__free(&s);
}

/* As autograd does with accumulated gradients: each of two passes of a step has its own kernels.
 * The device runs some of them later. */
Test(report_device, what_another_thread_launched_counts_for_the_call_that_was_under_way)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	uint32_t stream = synth__stream(&s, 1, 7);

	synth__launch(&s, s.other, 1, 120, 124);
	synth__launch(&s, s.other, 2, 320, 324);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 100, 200);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 300, 400);
	kernel(&s, stream, "first", 1, 310, 340, 40);
	kernel(&s, stream, "second", 2, 420, 470, 40);
	synth__step(&s, 0, 0, 1000);
	synth__open(&s, summary);
	EXPECT_LINES(&s, "model", &ns,
		     "  Backward       2       200  20.00  100  100  100             "
		     "80  100.00  40  50  30");
	synth__free(&s);
}

Test(report_device, copies_have_their_bandwidth_and_ranges_a_section)
{
	struct synth s = job();

	EXPECT_LINES(
		&s, "manipulation,userdefined", &ns,
		"Memcpy HtoD (Pinned -> Device)  2       8  0.80  4  4  4                      "
		"10  2.22  5  6  4                     600 B  60.00",
		"GpuMemcpyAsync:CPU->GPU         1       7  0.70  7  7  7                      "
		"4  0.89  4  4  4                      -      -");
	synth__free(&s);
}

Test(report_device, communication_hides_behind_computation)
{
	struct synth s = job();

	EXPECT_LINES(&s, "overview,distributed", &ns,
		     "  Communication            1           -                4.00        40",
		     "ProfileStep                1000                       100.00",
		     "  Communication            40                         4.00",
		     "  Computation              400                        40.00",
		     "  Overlap                  20                         2.00");
	synth__free(&s);
}

Test(report_device, without_kernels_computation_is_not_known)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");

	synth__span(&s, s.main, CAT_COMMUNICATION, "allreduce", 10, 30);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	EXPECT_LINES(&s, "distributed", &ns,
		     "  Communication            20                         20.00",
		     "  Computation              -                          -");
	synth__free(&s);
}

/* The first one spreads a tensor over a shape. The others reach other processes. */
Test(report_device, communication_is_told_by_names_of_collectives)
{
	static const char *const names[] = {"broadcast_sub",	  "_backward_broadcast_add",
					    "aten::broadcast_to", "broadcast_tensors dygraph",
					    "c_broadcast",	  "broadcast_ dygraph",
					    "c_allreduce_sum"};
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");

	for (uint64_t i = 0; i < ARRAY_SIZE(names); i++)
		synth__span(&s, s.main, CAT_OPERATOR, names[i], 10 * i, 10 * i + 5);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	EXPECT_LINES(&s, "distributed", &ns,
		     "  Communication            15                         15.00");
	synth__free(&s);
}

static void memory(struct synth *s, const char *kind, uint64_t ts, uint64_t addr, int64_t bytes,
		   uint64_t allocated, uint64_t reserved)
{
	const struct event_memory args = {allocated, reserved, 1, 0};
	struct event e = synth__event(s, s->main, CAT_ALLOCATION, kind ? kind : "x", ts, ts);

	e.type = EVENT_MEMORY;
	e.name = kind ? e.name : 0;
	e.id = addr;
	e.value = bytes;
	e.args = &args;
	e.args_len = sizeof(args);
	synth__write(s, &e);
}

/* The first block begins where its segment does, but they are different allocations. */
Test(report_device, allocated_and_reserved_memory_are_told_apart)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	const uint64_t none = UINT64_MAX;

	memory(&s, "Device", 10, 0x1000, 4096, none, none);
	memory(&s, NULL, 12, 0x1000, 512, 1512, 8192);
	memory(&s, NULL, 14, 0x1000, -512, 1000, 8192);
	memory(&s, "Device", 16, 0x1000, -4096, none, none);
	synth__span(&s, s.main, CAT_OPERATOR, "mm", 5, 20);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	EXPECT_LINES(&s, "memory", &ns,
		     "mm                                                  1                 1      "
		     "      "
		     "    "
		     "512 B            512 B            0 B",
		     "mm                                                  1                 1      "
		     "      "
		     "    "
		     "4.00 KiB         4.00 KiB         0 B",
		     "GPU0: Peak Allocated Memory: 1.48 KiB (1512 bytes), Peak Reserved Memory: "
		     "8.00 KiB (8192 bytes)");
	synth__free(&s);
}

/* cudaFree() of a block of a pool gives it back to the pool. */
Test(report_device, memory_of_a_pool_is_not_taken_from_the_driver)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	const struct event_memory args = {UINT64_MAX, UINT64_MAX, 1, 0};
	struct event e = synth__event(&s, s.main, CAT_ALLOCATION, "Device", 10, 10);
	char *text;

	e.type = EVENT_MEMORY;
	e.id = 0x1000;
	e.value = 4096;
	e.flags = EVENT_POOLED;
	e.args = &args;
	e.args_len = sizeof(args);
	synth__write(&s, &e);
	e.ts_ns = 12;
	e.value = -4096;
	e.flags = 0;
	synth__write(&s, &e);
	synth__span(&s, s.main, CAT_OPERATOR, "mm", 5, 20);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	text = synth__tables(&s, "memory", &ns);
	cr_expect(strstr(text, "Place: GPU0, Pool"), "%s", text);
	cr_expect(!strstr(text, "Reserved"), "%s", text);
	free(text);
	synth__free(&s);
}

Test(report_device, ranges_that_do_not_nest_are_the_users_too)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	struct event e = synth__event(&s, s.main, CAT_USER, "epoch", 10, 60);

	e.type = EVENT_ASYNC;
	synth__write(&s, &e);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	EXPECT_LINES(&s, "userdefined", &ns, "epoch        1       50  50.00  50  50  50");
	synth__free(&s);
}

Test(report_device, collectives_by_name_with_their_sizes)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	struct event e = synth__event(&s, s.main, CAT_COMMUNICATION, "gloo:all_reduce", 10, 30);

	e.type = EVENT_ASYNC;
	e.value = 40;
	synth__write(&s, &e);
	e.ts_ns = 50;
	e.value = 60;
	synth__write(&s, &e);
	e = synth__event(&s, s.main, CAT_COMMUNICATION, "gloo:barrier", 80, 90);
	e.type = EVENT_ASYNC;
	synth__write(&s, &e);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	EXPECT_LINES(&s, "collectives", &ns,
		     "gloo:all_reduce           2       40  40.00  20  20  20                 "
		     "100 B  2.50",
		     "gloo:barrier              1       10  10.00  10  10  10                 "
		     "-      -");
	synth__free(&s);
}

static const struct report_opts op_detail = {.op_detail = true, .style.unit = UNIT_NS};

/* linear made nodes 7 and 8, and relu 9; to returned what linear had made. */
static void write_nodes(struct synth *s)
{
	static const struct {
		const char *name;
		uint64_t id, begin, end;
		enum span_category category;
	} spans[] = {
		{"linear", 8, 10, 20, CAT_OPERATOR},
		{"to", 8, 20, 25, CAT_OPERATOR},
		{"relu", 9, 25, 30, CAT_OPERATOR},
		{"ReluBackward", 9, 40, 43, CAT_BACKWARD_NODE},
		{"AddBackward", 8, 43, 48, CAT_BACKWARD_NODE},
		{"TBackward", 7, 48, 49, CAT_BACKWARD_NODE},
		{"Accumulate", EVENT_NO_ID, 50, 52, CAT_BACKWARD_NODE},
	};

	for (size_t i = 0; i < sizeof(spans) / sizeof(*spans); i++) {
		struct event e = synth__event(s, s->main, spans[i].category, spans[i].name,
					      spans[i].begin, spans[i].end);

		e.id = spans[i].id;
		synth__write(s, &e);
	}
	synth__step(s, 0, 0, 100);
}

Test(report_device, backward_nodes_are_under_their_operator)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");

	write_nodes(&s);
	synth__open(&s, "{}");
	EXPECT_LINES(
		&s, "operator", &op_detail,
		"linear                                                1       "
		"10  32.26  10  10  10\n"
		"  backward: AddBackward                               1       5  -  5  5  5\n"
		"  backward: TBackward                                 1       1  -  1  1  1",
		"relu                                                  1       5  16.13  5  5  5\n"
		"  backward: ReluBackward                              1       3  -  3  3  3\n"
		"to                                                    1       5  16.13  5  5  5");
	synth__free(&s);
}

/* Node 7 may be of the operator that had no probe. */
Test(report_device, a_node_that_may_be_of_a_function_left_out_is_under_none)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	char *text;

	write_nodes(&s);
	synth__open(&s, "{\"dropped_probes\": [{\"name\": \"aten::t\", \"calls_per_step\": 1.0, "
			"\"avg_ns\": 5.0, \"steps\": 2}]}");
	text = synth__report(&s, &op_detail);
	synth__expect_line(
		text,
		"  backward: AddBackward                               1       5  -  5  5  5");
	cr_expect_null(strstr(text, "backward: TBackward"));
	synth__expect_line(text,
			   "1 call of backward nodes under no operator: theirs may be one that "
			   "was left out (--no-prune leaves out none).");
	free(text);
	synth__free(&s);
}

Test(report_device, without_steps_ratios_are_of_the_window)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	uint32_t stream = synth__stream(&s, 1, 7);
	char *text;

	synth__launch(&s, s.main, 1, 600, 610);
	kernel(&s, stream, "gemm", 1, 620, 720, 40);
	synth__open(&s, "{\"windows\": [{\"begin_ns\": 0, \"end_ns\": 1000}]}");
	text = synth__report(&s, &ns);
	synth__expect_line(text, "GPU1                            10.00");
	synth__expect_line(text,
			   "Window                     0           1000             100.00      -");
	free(text);
	synth__free(&s);
}

/* One kernel of two grids, by two operators, on two streams, and a copy that no operator makes. */
static struct synth activities(void)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	uint32_t first = synth__stream(&s, 1, 7), second = synth__stream(&s, 1, 9);

	for (uint64_t id = 1; id <= 5; id++)
		synth__launch(&s, s.main, id, 10 * id, 10 * id + 4);
	synth__span(&s, s.main, CAT_OPERATOR, "Default/net/MatMul-op1", 18, 28);
	synth__span(&s, s.main, CAT_OPERATOR, "call", 5, 30);
	synth__span(&s, s.main, CAT_OPERATOR, "Default/net/MatMul-op2", 30, 48);
	kernel(&s, first, "gemm", 1, 20, 120, 40);
	kernel(&s, first, "gemm", 2, 120, 420, 40);
	kernel(&s, first, "gemm", 3, 420, 450, 8);
	kernel(&s, first, "gemm", 4, 450, 460, 8);
	copy(&s, second, 5, 460, 464, 100);
	synth__kernel(&s, second, CAT_KERNEL, "fill", 99, 470, 472);
	synth__step(&s, 0, 0, 1000);
	synth__open(&s, "{}");
	return s;
}

Test(report_device, activities_by_operator_stream_and_launch)
{
	struct synth s = activities();

	EXPECT_LINES(
		&s, "activity", &ns,
		"Name                            Type    Operator                Device  Stream  "
		"Block      Grid       Calls   Total (ns)  Avg (ns)  Max (ns)  Min (ns)",
		"gemm                            Kernel  Default/net/MatMul-op1  1       7       "
		"256,1,1    40,1,1     1       300        300       300       300",
		"gemm                            Kernel  call                    1       7       "
		"256,1,1    40,1,1     1       100        100       100       100",
		"gemm                            Kernel  Default/net/MatMul-op2  1       7       "
		"256,1,1    8,1,1      2       40         20        30        10",
		"Memcpy HtoD (Pinned -> Device)  Memcpy  -                       1       9       "
		"-          -          1       4          4         4         4");
	synth__free(&s);
}

static void expect_activity(struct synth *s, const char *word, const char *name, const char *text)
{
	const struct report_opts opts = {
		.tables = "activity", .sort_word = word, .style = {.format = TABLE_JSON}};
	char *printed = synth__report(s, &opts);
	json_t *json = json_loads(printed, 0, NULL);
	json_t *row = json_array_get(json_object_get(json_object_get(json, "activity"), "rows"), 0);

	cr_expect_str_eq(json_string_value(json_object_get(row, "name")), name, "%s", printed);
	cr_expect_not_null(strstr(printed, text), "%s", printed);
	json_decref(json);
	free(printed);
}

Test(report_device, activities_have_orders_and_say_what_they_lack)
{
	struct synth s = activities();

	expect_activity(&s, NULL, "gemm", "\"no operator launched it\"");
	expect_activity(&s, "count", "gemm", "\"its launch was not recorded\"");
	expect_activity(&s, "min", "gemm", "\"how it was launched was not recorded\"");
	expect_activity(&s, "avg", "gemm", "\"copies and sets have no grid\"");
	synth__free(&s);
}

/* The inner operator's time counts for the outer one. The copy and "fill" have no known
 * operator. */
Test(report_device, timeline_counts_operators_and_streams)
{
	struct synth s = activities();

	EXPECT_LINES(
		&s, "timeline", &ns,
		"total_time (ns)  num_of_streams  num_of_ops  op_exe_times  max_scope_name_num",
		"440         2               2           2             2");
	synth__free(&s);
}

Test(report_device, without_a_device_there_are_no_activities)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");

	synth__span(&s, s.main, CAT_OPERATOR, "Default/net/MatMul-op1", 10, 30);
	synth__span(&s, s.main, CAT_OPERATOR, "Default/net/MatMul-op1", 30, 35);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	EXPECT_LINES(&s, "activity", &ns, "No device time was recorded.");
	EXPECT_LINES(&s, "timeline", &ns,
		     "25          -               1           2             2");
	synth__free(&s);
}

/* A step that is under way when a window ends is in no table of steps. */
Test(report_device, work_behind_the_last_step_is_counted_in_a_note)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	uint32_t stream = synth__stream(&s, 1, 7);
	char *text;

	for (uint64_t id = 1; id <= 3; id++) {
		synth__launch(&s, s.main, id, 40 * id, 40 * id + 4);
		kernel(&s, stream, "gemm", id, 40 * id + 10, 40 * id + 20, 40);
		if (id == 2)
			synth__step(&s, 0, 0, 100);
	}
	synth__open(&s, summary);
	text = synth__tables(&s, "kernel", &ns);
	cr_expect_not_null(strstr(text, "1 of 3 kernels, copies and sets belong to no whole step"),
			   "%s", text);
	free(text);
	synth__free(&s);
}

Test(report_device, work_of_whole_steps_has_no_such_note)
{
	struct synth s = job();
	char *text = synth__tables(&s, "kernel,manipulation,operator", &ns);

	cr_expect_null(strstr(text, "no whole step"), "%s", text);
	free(text);
	synth__free(&s);
}
