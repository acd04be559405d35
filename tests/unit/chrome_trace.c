// SPDX-License-Identifier: BSD-2-Clause
/* Tests which trace event each kind of recorded event becomes. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include "chrome_sample.h"
#include "common/util.h"
#include "exporters/chrome/chrome_names.h"

#define MS 1000000ull

static void expect_slice(const json_t *trace, const char *name, double ts, double dur)
{
	const json_t *e = trace__find(trace, name, "X");

	cr_assert_not_null(e, "no %s", name);
	cr_expect_float_eq(trace__number(e, "ts"), ts, 1e-9, "%s ts %f", name,
			   trace__number(e, "ts"));
	cr_expect_float_eq(trace__number(e, "dur"), dur, 1e-9, "%s dur %f", name,
			   trace__number(e, "dur"));
}

static void expect_string(const json_t *value, const char *want)
{
	cr_expect_str_eq(json_string_value(value) ? json_string_value(value) : "(none)", want);
}

Test(chrome_trace, empty_recording_is_a_valid_trace)
{
	struct made s;
	json_t *trace;

	made__begin(&s, NULL);
	trace = made__export(&s, NULL);
	cr_expect_eq(json_integer_value(json_object_get(trace, "schemaVersion")), 1);
	cr_expect(json_is_array(json_object_get(trace, "traceEvents")));
	json_decref(trace);
	made__remove(&s);
}

Test(chrome_trace, metadata_comes_first_and_traceEvents_last)
{
	struct made s;
	json_t *trace, *events;
	const char *key, *last = NULL;
	json_t *value;

	made__begin(&s, json_pack("{s:{s:s},s:{s:i,s:i}}", "process", "comm", "job", "rank", "rank",
				  3, "world_size", 8));
	made__span(&s, CAT_OPERATOR, "aten::add", 1 * MS, 2 * MS, EVENT_NO_ID);
	trace = made__export(&s, NULL);
	events = json_object_get(trace, "traceEvents");
	expect_string(json_object_get(json_array_get(events, 0), "ph"), "M");
	expect_string(trace__arg(trace__find(trace, "process_name", "M"), "name"), "job");
	expect_string(trace__arg(trace__find(trace, "thread_name", "M"), "name"),
		      "thread 11 (py\"thon)");
	json_object_foreach(trace, key, value) last = key;
	cr_expect_str_eq(last, "traceEvents");
	value = json_object_get(trace, "distributedInfo");
	cr_expect_eq(json_integer_value(json_object_get(value, "rank")), 3);
	cr_expect_eq(json_integer_value(json_object_get(value, "world_size")), 8);
	json_decref(trace);
	made__remove(&s);
}

Test(chrome_trace, cpu_times_are_floored_so_that_children_stay_inside)
{
	struct made s;
	json_t *trace;

	made__begin(&s, NULL);
	made__span(&s, CAT_OPERATOR, "inner", 5999, 7001, EVENT_NO_ID);
	made__span(&s, CAT_OPERATOR, "outer", 5500, 7999, EVENT_NO_ID);
	made__span(&s, CAT_OPERATOR, "tiny", 8100, 8900, EVENT_NO_ID);
	trace = made__export(&s, NULL);
	expect_slice(trace, "outer", 0, 2);
	expect_slice(trace, "inner", 0, 2);
	expect_slice(trace, "tiny", 3, 0);
	cr_expect(json_is_integer(json_object_get(trace__find(trace, "tiny", "X"), "ts")));
	json_decref(trace);
	made__remove(&s);
}

Test(chrome_trace, parents_come_before_children)
{
	struct made s;
	json_t *trace, *e;
	const char *last = "";
	size_t i;

	made__begin(&s, NULL);
	made__span(&s, CAT_OPERATOR, "c", 1 * MS, 2 * MS, EVENT_NO_ID);
	made__span(&s, CAT_OPERATOR, "b", 1 * MS, 2 * MS, EVENT_NO_ID);
	made__span(&s, CAT_OPERATOR, "a", 1 * MS, 3 * MS, EVENT_NO_ID);
	trace = made__export(&s, NULL);
	json_array_foreach(json_object_get(trace, "traceEvents"), i, e)
	{
		const char *name = json_string_value(json_object_get(e, "name"));

		if (strcmp(json_string_value(json_object_get(e, "ph")), "X"))
			continue;
		cr_expect_lt(strcmp(last, name), 0, "%s before %s", last, name);
		last = name;
	}
	cr_expect_str_eq(last, "c");
	json_decref(trace);
	made__remove(&s);
}

Test(chrome_trace, children_that_reach_out_are_clipped)
{
	struct made s;
	json_t *trace;

	made__begin(&s, NULL);
	made__span(&s, CAT_OPERATOR, "late end", 1 * MS, 3 * MS, EVENT_NO_ID);
	made__span(&s, CAT_OPERATOR, "parent", 0, 2 * MS + 900000, EVENT_NO_ID);
	/* begins 2 ns before the previous span ends, and keeps its longer part */
	made__span(&s, CAT_OPERATOR, "early begin", 2 * MS + 899998, 9 * MS, EVENT_NO_ID);
	trace = made__export(&s, NULL);
	expect_slice(trace, "parent", 0, 2900);
	expect_slice(trace, "late end", 1000, 1900);
	expect_slice(trace, "early begin", 2900, 6100);
	cr_expect_eq(
		json_integer_value(trace__arg(trace__find(trace, "late end", "X"), "clipped_ns")),
		100000);
	cr_expect_null(trace__arg(trace__find(trace, "parent", "X"), "clipped_ns"));
	json_decref(trace);
	made__remove(&s);
}

Test(chrome_trace, a_span_across_a_step_edge_keeps_its_longest_part)
{
	struct made s;
	json_t *trace;

	made__begin(&s, NULL);
	made__span(&s, CAT_USER, "short tail", 1 * MS, 10 * MS + 5000, EVENT_NO_ID);
	made__step(&s, 4, 0, 10 * MS);
	made__span(&s, CAT_USER, "short head", 9 * MS + 999000, 19 * MS, EVENT_NO_ID);
	made__step(&s, 5, 10 * MS, 20 * MS);
	made__span(&s, CAT_USER, "around all", 0, 21 * MS, EVENT_NO_ID);
	trace = made__export(&s, NULL);
	expect_slice(trace, "ProfilerStep#4", 0, 10000);
	expect_slice(trace, "ProfilerStep#5", 10000, 10000);
	expect_slice(trace, "short tail", 1000, 9000);
	expect_slice(trace, "short head", 10000, 9000);
	expect_slice(trace, "around all", 0, 21000);
	json_decref(trace);
	made__remove(&s);
}

Test(chrome_trace, the_frameworks_own_steps_do_not_mix_with_ours)
{
	struct made s;
	json_t *trace;

	made__begin(&s, NULL);
	made__span(&s, CAT_PROFILER_STEP, "ProfilerStep#31", 0, MS, EVENT_NO_ID);
	made__step(&s, 0, 0, MS);
	trace = made__export(&s, NULL);
	cr_expect_null(trace__find(trace, "ProfilerStep#31", NULL));
	cr_expect_not_null(trace__find(trace, "ProfilerStep 31", "X"));
	json_decref(trace);
	made__remove(&s);
}

Test(chrome_trace, hostile_names_are_escaped)
{
	static const char hostile[] = "a\"]}\\\n\t\x01\x7f</script>\xe2\x82\xac";
	struct made s;
	json_t *trace;

	made__begin(&s, NULL);
	made__span(&s, CAT_USER, hostile, 0, MS, EVENT_NO_ID);
	made__span(&s, CAT_USER, "cut \xe2\x82 alone \xff over \xc0\xaf surrogate \xed\xa0\x80", MS,
		   2 * MS, EVENT_NO_ID);
	trace = made__export(&s, NULL);
	cr_expect_not_null(trace__find(trace, hostile, "X"));
	cr_expect_not_null(trace__find(trace,
				       "cut \\xe2\\x82 alone \\xff over \\xc0\\xaf surrogate "
				       "\\xed\\xa0\\x80",
				       "X"));
	json_decref(trace);
	made__remove(&s);
}

Test(chrome_trace, times_at_the_end_of_64_bits_do_not_wrap)
{
	struct made s;
	json_t *trace;

	made__begin(&s, NULL);
	made__put(&s, &(struct event){.type = EVENT_SPAN,
				      .track = s.thread,
				      .name = made__name(&s, CAT_USER, "endless"),
				      .ts_ns = 1000,
				      .dur_ns = UINT64_MAX,
				      .id = EVENT_NO_ID});
	trace = made__export(&s, NULL);
	expect_slice(trace, "endless", 0, (double)(UINT64_MAX / 1000 - 1));
	json_decref(trace);
	made__remove(&s);
}

Test(chrome_trace, marks_say_how_the_ends_were_seen)
{
	struct made s;
	json_t *trace;
	struct event e = {.type = EVENT_SPAN, .id = EVENT_NO_ID, .dur_ns = 5000};

	made__begin(&s, NULL);
	e.track = s.thread;
	e.name = made__name(&s, CAT_OPERATOR, "guessed");
	e.end = END_INFERRED;
	e.flags = EVENT_CUT_END;
	made__put(&s, &e);
	trace = made__export(&s, NULL);
	expect_string(trace__arg(trace__find(trace, "guessed", "X"), "end"), "inferred");
	expect_string(trace__arg(trace__find(trace, "guessed", "X"), "cut"), "end");
	json_decref(trace);
	made__remove(&s);
}

Test(chrome_trace, forward_and_backward_are_joined_by_sequence_number)
{
	struct made s;
	json_t *trace, *node;

	made__begin(&s, NULL);
	made__span(&s, CAT_OPERATOR, "aten::mm", 10000, 20000, 7);
	made__span(&s, CAT_BACKWARD_NODE, "MmBackward0", 30000, 40000, 7);
	made__span(&s, CAT_BACKWARD_NODE, "LostBackward0", 40000, 50000, 8);
	trace = made__export(&s, NULL);
	cr_expect_eq(trace__count(trace, "fwdbwd"), 2);
	cr_expect_eq(trace__number(trace__find(trace, "fwdbwd", "s"), "ts"), 0);
	cr_expect_eq(trace__number(trace__find(trace, "fwdbwd", "f"), "ts"), 20);
	expect_string(json_object_get(trace__find(trace, "fwdbwd", "f"), "bp"), "e");
	node = trace__find(trace, "MmBackward0", "X");
	cr_expect_eq(json_integer_value(trace__arg(node, "Sequence number")), 7);
	cr_expect_eq(json_integer_value(trace__arg(node, "Fwd thread id")), 11);
	json_decref(trace);
	trace = made__export(&s, "tb");
	cr_expect_eq(trace__count(trace, "forward_backward"), 2);
	json_decref(trace);
	made__remove(&s);
}

Test(chrome_trace, launches_lead_to_device_work)
{
	struct made s;
	json_t *trace, *kernel;

	made__begin(&s, NULL);
	/* the kernel's record may come first */
	made__device(&s, CAT_KERNEL, "gemm", 25123, 29456, 3);
	made__span(&s, CAT_DRIVER, "cuLaunchKernel", 12000, 13000, 3);
	made__span(&s, CAT_RUNTIME, "cudaLaunchKernel_ptsz_v7000", 11000, 14000, 3);
	made__span(&s, CAT_OPERATOR, "aten::mm", 10000, 20000, EVENT_NO_ID);
	made__device(&s, CAT_MEMCPY, "Memcpy HtoD (Pageable -> Device)", 30000, 31000, 99);
	trace = made__export(&s, NULL);
	kernel = trace__find(trace, "gemm", "X");
	expect_string(json_object_get(kernel, "cat"), "kernel");
	expect_slice(trace, "gemm", 15.123, 4.333);
	cr_expect_eq(trace__number(kernel, "pid"), 0);
	cr_expect_eq(trace__number(kernel, "tid"), 7);
	cr_expect_eq(json_integer_value(trace__arg(kernel, "stream")), 7);
	cr_expect_eq(json_integer_value(trace__arg(kernel, "correlation")), 3);
	cr_expect(json_equal(trace__arg(kernel, "External id"),
			     trace__arg(trace__find(trace, "aten::mm", "X"), "External id")));
	cr_expect_eq(json_integer_value(trace__arg(trace__find(trace, "cudaLaunchKernel", "X"),
						   "correlation")),
		     3);
	cr_expect_null(trace__arg(trace__find(trace, "cuLaunchKernel", "X"), "correlation"));
	cr_expect_eq(trace__count(trace, "ac2g"), 2,
		     "an arrow where both ends are known, only there");
	cr_expect_float_eq(json_number_value(trace__arg(
				   trace__find(trace, "Memcpy HtoD (Pageable -> Device)", "X"),
				   "memory bandwidth (GB/s)")),
			   4.096, 1e-9);
	json_decref(trace);
	made__remove(&s);
}

Test(chrome_trace, synchronisations_have_their_own_row)
{
	struct made s;
	json_t *trace;

	made__begin(&s, NULL);
	made__device(&s, CAT_KERNEL, "gemm", 1000, 9000, 1);
	made__device(&s, CAT_SYNC, "Stream Sync", 5000, 12000, 2);
	trace = made__export(&s, NULL);
	expect_slice(trace, "gemm", 0, 8);
	expect_slice(trace, "Stream Sync", 4, 7);
	cr_expect_eq(trace__number(trace__find(trace, "Stream Sync", "X"), "tid"), 1000007);
	expect_string(trace__arg(trace__find(trace, "Stream Sync", "X"), "cuda_sync_kind"),
		      "Stream Sync");
	json_decref(trace);
	made__remove(&s);
}

/* Counts negative durations as HTA computes them: it rounds all times if any is fractional. */
static size_t count_negative_in_hta(const json_t *trace)
{
	size_t i, cnt = 0;
	json_t *e;

	json_array_foreach(json_object_get(trace, "traceEvents"), i, e)
	{
		if (!json_object_get(e, "dur"))
			continue;
		const double ts = trace__number(e, "ts");

		cnt += ceil(ts) > floor(ts + trace__number(e, "dur"));
	}
	return cnt;
}

/* Calls shorter than a microsecond, or across its edge. Only kernels and copies become negative and
 * are counted. */
Test(chrome_trace, short_calls_and_synchronisations_are_not_negative_in_hta)
{
	static const char *const syncs[] = {"Stream Sync", "Event Sync", "Stream Wait Event",
					    "Context Sync"};
	struct made s;
	json_t *trace;
	uint64_t at = 1000;

	made__begin(&s, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(syncs); i++, at += 20000) {
		made__device(&s, CAT_SYNC, syncs[i], at + 100, at + 900, i);
		made__device(&s, CAT_SYNC, syncs[i], at + 1500, at + 2400, i);
		made__device(&s, CAT_SYNC, syncs[i], at + 3000, at + 3000, i);
		made__span(&s, CAT_RUNTIME, "cudaStreamSynchronize", at + 50, at + 950, i);
		made__span(&s, CAT_OPERATOR, "aten::item", at, at + 1200, EVENT_NO_ID);
	}
	made__device(&s, CAT_KERNEL, "gemm", at + 123, at + 5456, 90);
	trace = made__export(&s, NULL);
	cr_expect_eq(count_negative_in_hta(trace), 0);
	cr_expect_eq(s.result.device_events, 13);
	cr_expect_eq(s.result.negative_in_hta, 0);
	expect_slice(trace, "gemm", 80.123, 5.333);
	json_decref(trace);
	made__remove(&s);

	made__begin(&s, NULL);
	made__device(&s, CAT_KERNEL, "short", 1100, 1900, 1);
	made__device(&s, CAT_MEMCPY, "across", 2500, 3499, 2);
	made__device(&s, CAT_KERNEL, "to the edge", 4500, 5000, 3);
	made__device(&s, CAT_KERNEL, "whole", 6000, 7000, 4);
	trace = made__export(&s, NULL);
	cr_expect_eq(count_negative_in_hta(trace), 1);
	cr_expect_eq(s.result.device_events, 4);
	cr_expect_eq(s.result.negative_in_hta, 1);
	json_decref(trace);
	made__remove(&s);
}

static size_t count_args(const json_t *trace, const char *key, json_int_t value)
{
	size_t i, cnt = 0;
	json_t *e;

	json_array_foreach(json_object_get(trace, "traceEvents"), i, e)
	{
		const json_t *arg = trace__arg(e, key);

		cnt += arg && json_integer_value(arg) == value;
	}
	return cnt;
}

/* A stream's wait and the call that recorded its event, with Kineto's names. */
Test(chrome_trace, a_wait_for_an_event_names_its_record)
{
	const struct track all = {.kind = TRACK_DEVICE, .device = 0, .stream = STREAM_ALL};
	const struct event_sync wait = {.record = 41, .stream = 13, .event = 5, .context = 1},
				itself = {.record = 41, .stream = 7, .event = 5, .context = 1},
				whole = {.record = EVENT_NO_ID, .stream = -1, .context = 1};
	struct event e = {.type = EVENT_DEVICE,
			  .ts_ns = 1000,
			  .dur_ns = 100,
			  .id = 42,
			  .args = &wait,
			  .args_len = sizeof(wait)};
	json_t *trace, *event;
	struct made s;

	made__begin(&s, NULL);
	e.track = s.stream;
	e.name = made__name(&s, CAT_SYNC, "Stream Wait Event");
	made__put(&s, &e);
	e.ts_ns += 1000;
	e.args = &itself;
	made__put(&s, &e);
	e.name = made__name(&s, CAT_SYNC, "Event Sync"); /* a thread waits */
	made__put(&s, &e);
	e.args = &whole;
	e.track = recording_writer__track(s.w, &all);
	e.name = made__name(&s, CAT_SYNC, "Context Sync");
	e.ts_ns = 3300;
	made__put(&s, &e);
	trace = made__export(&s, NULL);
	event = trace__find(trace, "Stream Wait Event", "X");
	cr_expect_eq(json_integer_value(trace__arg(event, "stream")), 7);
	cr_expect_eq(json_integer_value(trace__arg(event, "wait_on_stream")), 13);
	cr_expect_eq(json_integer_value(trace__arg(event, "wait_on_cuda_event_record_corr_id")),
		     41);
	cr_expect_eq(json_integer_value(trace__arg(event, "wait_on_cuda_event_id")), 5);
	cr_expect_eq(trace__count(trace, "Stream Wait Event"), 2);
	cr_expect_eq(count_args(trace, "wait_on_cuda_event_record_corr_id", 41), 2,
		     "a stream that waits for itself names none");
	cr_expect_eq(count_args(trace, "wait_on_stream", -1), 1, "nor a stream");
	event = trace__find(trace, "Context Sync", "X");
	cr_expect_eq(json_integer_value(trace__arg(event, "stream")), -1);
	cr_expect_eq(trace__number(event, "tid"), 1000000);
	cr_expect_null(trace__arg(event, "wait_on_stream"));
	cr_expect(json_is_integer(json_object_get(event, "ts")) &&
			  json_is_integer(json_object_get(event, "dur")),
		  "to HTA it is a call, and would be -1 us long");
	json_decref(trace);
	made__remove(&s);
}

static void expect_gpu_range(const json_t *trace, const char *name, double ts, double dur)
{
	const json_t *found = NULL, *host = NULL;
	size_t i, cnt = 0;
	json_t *e;

	json_array_foreach(json_object_get(trace, "traceEvents"), i, e)
	{
		const char *cat = json_string_value(json_object_get(e, "cat"));

		if (!cat || strcmp(json_string_value(json_object_get(e, "name")), name))
			continue;
		if (!strcmp(cat, "gpu_user_annotation")) {
			found = e;
			cnt++;
		} else {
			host = e;
		}
	}
	cr_assert_eq(cnt, dur >= 0, "%zu of %s", cnt, name);
	if (dur < 0)
		return;
	cr_expect_float_eq(trace__number(found, "ts"), ts, 1e-6, "%s", name);
	cr_expect_float_eq(trace__number(found, "dur"), dur, 1e-6, "%s", name);
	cr_expect_eq(trace__number(found, "tid"), 7);
	cr_expect_null(trace__arg(found, "stream"));
	cr_expect(json_equal(trace__arg(found, "External id"), trace__arg(host, "External id")),
		  "%s", name);
}

/* A range is projected from the first to the last work that it launched, on its own thread and at
 * any depth. */
Test(chrome_trace, ranges_are_projected_on_the_device)
{
	struct made s;
	json_t *trace;

	made__begin(&s, NULL);
	made__device(&s, CAT_KERNEL, "before", 9000, 10000, 1);
	made__device(&s, CAT_KERNEL, "first", 20125, 30000, 2);
	made__device(&s, CAT_KERNEL, "second", 31000, 35500, 3);
	made__device(&s, CAT_MEMSET, "Memset (Device)", 36100, 36700, 4);
	made__device(&s, CAT_KERNEL, "after", 50000, 51000, 5);
	made__span(&s, CAT_RUNTIME, "cudaLaunchKernel", 1000, 1500, 1);
	made__span(&s, CAT_RUNTIME, "cudaLaunchKernel", 3000, 3500, 2);
	made__span(&s, CAT_RUNTIME, "cudaLaunchKernel", 4000, 4500, 3);
	made__span(&s, CAT_OPERATOR, "aten::mm", 3900, 4600, EVENT_NO_ID);
	made__span(&s, CAT_USER, "inner", 3800, 5000, EVENT_NO_ID);
	made__span(&s, CAT_USER, "outer", 2500, 5500, EVENT_NO_ID);
	made__span(&s, CAT_RUNTIME, "cudaMemsetAsync", 6000, 6500, 4);
	made__span(&s, CAT_USER, "too short for HTA", 5900, 6600, EVENT_NO_ID);
	made__span(&s, CAT_USER, "without work", 6700, 6800, EVENT_NO_ID);
	made__step(&s, 3, 2000, 7000);
	made__span(&s, CAT_RUNTIME, "cudaLaunchKernel", 8000, 8500, 5);
	trace = made__export(&s, NULL);
	expect_gpu_range(trace, "outer", 19.125, 15.375);
	expect_gpu_range(trace, "inner", 30, 4.5);
	expect_gpu_range(trace, "ProfilerStep#3", 19.125, 16.575);
	expect_gpu_range(trace, "too short for HTA", 0, -1);
	expect_gpu_range(trace, "without work", 0, -1);
	expect_gpu_range(trace, "aten::mm", 0, -1);
	json_decref(trace);
	made__remove(&s);
}

Test(chrome_trace, tensors_are_printed_by_the_signature)
{
	static const char schema[] =
		"aten::f(Tensor self, Tensor? weight, int[2] stride=[1, 1], *, "
		"Scalar beta=1, Device? device=None, "
		"Tensor out) -> Tensor";
	struct __attribute__((packed)) {
		struct event_tensor t;
		int64_t dims[2];
		struct event_tensor undefined, unnamed;
		int64_t none;
	} args = {{.arg = 0, .dtype = 1, .ndim = 2},
		  {-1, 3},
		  {.arg = 1, .ndim = EVENT_TENSOR_UNDEFINED},
		  {.arg = 5, .dtype = 2, .ndim = 1},
		  0};
	struct event e = {.type = EVENT_SPAN, .dur_ns = 5000, .id = EVENT_NO_ID};
	struct made s;
	json_t *trace, *want;

	made__begin(&s, json_pack("{s:[s,s,s]}", "dtypes", "float", "long int", ""));
	e.track = s.thread;
	e.name = recording_writer__name(s.w, CAT_OPERATOR, "aten::f", schema);
	e.args = &args;
	e.args_len = sizeof(args);
	made__put(&s, &e);
	trace = made__export(&s, NULL);
	want = json_pack("[[i,i],[],[],[],[],[]]", -1, 3);
	cr_expect(json_equal(trace__arg(trace__find(trace, "aten::f", "X"), "Input Dims"), want));
	json_decref(want);
	want = json_pack("[s,s,s,s,s,s]", "long int", "", "ScalarList", "Scalar", "", "");
	cr_expect(json_equal(trace__arg(trace__find(trace, "aten::f", "X"), "Input type"), want));
	json_decref(want);
	json_decref(trace);
	made__remove(&s);
}

/* Values of tensors' sizes, of numbers and lists, and of arguments that have no description. */
Test(chrome_trace, values_are_written_as_concrete_inputs)
{
	const double floats[] = {0.1, 2, -0.0, 1e10};
	struct __attribute__((packed)) {
		struct event_tensor tensor, mark;
		struct event_value ints;
		int64_t two[2];
		struct event_value flag;
		int64_t yes;
		struct event_value list;
		double floats[4];
		struct event_value text, symbolic;
		int64_t address;
		struct event_value none;
		struct event_value keywords;
	} args = {
		.tensor = {.arg = 0, .dtype = 0, .ndim = 0},
		.mark = {.ndim = EVENT_TENSOR_VALUES},
		.ints = {.arg = 1, .kind = EVENT_ARG_INTS, .cnt = 2},
		.two = {2, -1},
		.flag = {.arg = 2, .kind = EVENT_ARG_BOOL, .cnt = 1},
		.yes = 1,
		.list = {.arg = 3, .kind = EVENT_ARG_FLOATS, .cnt = 4},
		.text = {.arg = 4, .kind = EVENT_ARG_OTHER},
		.symbolic = {.arg = 5, .kind = EVENT_ARG_INT, .cnt = 1},
		.address = INT64_MIN / 2 - 1,
		.none = {.arg = 6, .kind = EVENT_ARG_INTS},
		.keywords = {.kind = EVENT_ARG_KEYWORDS},
	};
	struct event e = {.type = EVENT_SPAN, .dur_ns = 5000, .id = EVENT_NO_ID};
	struct made s;
	json_t *trace, *want;

	memcpy(args.floats, floats, sizeof(floats));
	made__begin(&s, json_pack("{s:b,s:[s]}", "record_values", 1, "dtypes", "float"));
	e.track = s.thread;
	e.name = recording_writer__name(s.w, CAT_OPERATOR, "aten::f", NULL);
	e.args = &args;
	e.args_len = sizeof(args);
	made__put(&s, &e);
	trace = made__export(&s, NULL);
	want = json_pack("[s,s,s,s,s,s,s]", "", "[2, -1]", "True",
			 "[0.10000000000000001, 2., -0., 10000000000]", "", "", "[]");
	cr_expect(json_equal(trace__arg(trace__find(trace, "aten::f", "X"), "Concrete Inputs"),
			     want));
	json_decref(want);
	want = json_pack("[s,s,s,s,s,s,s]", "float", "ScalarList", "Scalar", "ScalarList", "",
			 "Scalar", "ScalarList");
	cr_expect(json_equal(trace__arg(trace__find(trace, "aten::f", "X"), "Input type"), want));
	json_decref(want);
	json_decref(trace);
	made__remove(&s);
}

/* Two overloads of one name, and a function that takes no tensor. */
Test(chrome_trace, shapes_follow_the_signature_of_the_overload)
{
	const struct event_tensor undefined = {.ndim = EVENT_TENSOR_UNDEFINED};
	struct event e = {.type = EVENT_SPAN, .dur_ns = 5000, .id = EVENT_NO_ID};
	struct made s;
	json_t *trace, *want;

	made__begin(&s, json_pack("{s:b}", "record_shapes", 1));
	e.track = s.thread;
	e.args = &undefined;
	e.args_len = sizeof(undefined);
	recording_writer__name(s.w, CAT_OPERATOR, "aten::to", "aten::to(Tensor self) -> Tensor");
	e.name = recording_writer__name(s.w, CAT_OPERATOR, "aten::to",
					"aten::to.d(Tensor self, int d, bool c) -> Tensor");
	made__put(&s, &e);
	e.ts_ns = 10000;
	e.args_len = 0;
	e.name = recording_writer__name(s.w, CAT_OPERATOR, "aten::empty",
					"aten::empty(int[] size, Device? d) -> Tensor");
	made__put(&s, &e);
	trace = made__export(&s, NULL);
	want = json_pack("[[],[],[]]");
	cr_expect(json_equal(trace__arg(trace__find(trace, "aten::to", "X"), "Input Dims"), want));
	json_decref(want);
	want = json_pack("[[],[]]");
	cr_expect(
		json_equal(trace__arg(trace__find(trace, "aten::empty", "X"), "Input Dims"), want));
	json_decref(want);
	json_decref(trace);
	made__remove(&s);
}

/* Two operators of one type. */
Test(chrome_trace, full_names_are_args)
{
	static const char *const full[] = {"Default/a/Conv2D-op1", "Default/b/Conv2D-op2"};
	struct event e = {.type = EVENT_SPAN, .dur_ns = 5000, .id = EVENT_NO_ID};
	struct made s;
	json_t *trace, *events;
	size_t cnt = 0, i;
	const json_t *item;

	made__begin(&s, NULL);
	e.track = s.thread;
	for (i = 0; i < ARRAY_SIZE(full); i++, e.ts_ns += 10000) {
		e.name = recording_writer__name(s.w, CAT_OPERATOR, "Conv2D", full[i]);
		made__put(&s, &e);
	}
	trace = made__export(&s, NULL);
	events = json_object_get(trace, "traceEvents");
	json_array_foreach(events, i,
			   item) if (cnt < ARRAY_SIZE(full) && trace__arg(item, "Full name"))
		cr_expect_str_eq(json_string_value(trace__arg(item, "Full name")), full[cnt++]);
	cr_expect_eq(cnt, 2);
	json_decref(trace);
	made__remove(&s);
}

Test(chrome_trace, memory_is_summed_where_the_allocator_does_not_say)
{
	const struct event_memory unknown = {UINT64_MAX, UINT64_MAX, 0, -1};
	struct event e = {.type = EVENT_MEMORY,
			  .id = 64,
			  .value = 4096,
			  .args = &unknown,
			  .args_len = sizeof(unknown)};
	struct made s;
	json_t *trace, *events;

	made__begin(&s, NULL);
	e.track = s.thread;
	made__put(&s, &e);
	e.ts_ns = 5000;
	e.value = -1024;
	made__put(&s, &e);
	trace = made__export(&s, NULL);
	events = json_object_get(trace, "traceEvents");
	cr_expect_eq(trace__count(trace, "[memory]"), 2);
	cr_expect_eq(
		json_integer_value(trace__arg(json_array_get(events, json_array_size(events) - 1),
					      "Total Allocated")),
		3072);
	json_decref(trace);
	made__remove(&s);
}

Test(chrome_trace, overlapping_asyncs_get_lanes)
{
	struct event e = {.type = EVENT_ASYNC, .ts_ns = 1000, .dur_ns = 9000, .id = 1, .value = 64};
	struct made s;
	json_t *trace;

	made__begin(&s, NULL);
	e.track = s.thread;
	e.name = made__name(&s, CAT_COMMUNICATION, "first");
	made__put(&s, &e);
	e.name = made__name(&s, CAT_COMMUNICATION, "second");
	e.ts_ns = 5000;
	made__put(&s, &e);
	e.name = made__name(&s, CAT_COMMUNICATION, "third");
	e.ts_ns = 20000;
	made__put(&s, &e);
	trace = made__export(&s, NULL);
	expect_slice(trace, "second", 4, 9);
	cr_expect_neq(trace__number(trace__find(trace, "first", "X"), "tid"),
		      trace__number(trace__find(trace, "second", "X"), "tid"));
	cr_expect_eq(trace__number(trace__find(trace, "first", "X"), "tid"),
		     trace__number(trace__find(trace, "third", "X"), "tid"));
	json_decref(trace);
	made__remove(&s);
}

Test(chrome_trace, a_cut_off_recording_exports_what_is_whole)
{
	struct made s;
	json_t *trace;

	made__begin(&s, NULL);
	made__span(&s, CAT_OPERATOR, "whole", 0, MS, EVENT_NO_ID);
	cr_assert_eq(recording_writer__flush(s.w), 0);
	cr_assert_eq(recording_writer__close(s.w, NULL), 0);
	s.w = NULL;
	trace = made__export(&s, NULL);
	cr_expect_not_null(trace__find(trace, "whole", "X"));
	cr_expect(json_is_true(json_object_get(json_object_get(trace, "proftrace"), "truncated")));
	json_decref(trace);
	made__remove(&s);
}

Test(chrome_schema, parameters)
{
	uint8_t p[8];

	cr_expect_eq(chrome_schema__params("no signature", p, 8), 0);
	cr_expect_eq(chrome_schema__params("f() -> ()", p, 8), 0);
	cr_expect_eq(chrome_schema__params("f(", p, 8), 0);
	cr_assert_eq(chrome_schema__params(
			     "f(Tensor(a!)[] xs, str s=\"a,b)\", bool[3] m, int? n) -> ()", p, 8),
		     4);
	cr_expect_eq(p[0], PARAM_TENSOR_LIST);
	cr_expect_eq(p[1], PARAM_OTHER);
	cr_expect_eq(p[2], PARAM_SCALAR_LIST);
	cr_expect_eq(p[3], PARAM_OTHER);
	cr_expect_eq(chrome_schema__params("f(int a, int b, int c) -> ()", p, 2), 2);
}

Test(chrome_trace, counters_and_marks)
{
	struct made s;
	struct event e = {.type = EVENT_COUNTER, .ts_ns = 2 * MS, .id = EVENT_NO_ID, .value = -3};
	json_t *trace;

	made__begin(&s, NULL);
	e.track = s.thread;
	e.name = made__name(&s, CAT_USER, "queue");
	made__put(&s, &e);
	e = (struct event){.type = EVENT_INSTANT, .ts_ns = 3 * MS, .id = SCOPE_GLOBAL};
	e.track = s.thread;
	e.name = made__name(&s, CAT_USER, "reload");
	made__put(&s, &e);
	e.name = made__name(&s, CAT_USER, "tick");
	e.id = EVENT_NO_ID;
	made__put(&s, &e);
	trace = made__export(&s, NULL);
	cr_expect_eq(json_integer_value(trace__arg(trace__find(trace, "queue", "C"), "value")), -3);
	expect_string(json_object_get(trace__find(trace, "reload", "i"), "s"), "g");
	expect_string(json_object_get(trace__find(trace, "tick", "i"), "s"), "t");
	json_decref(trace);
	made__remove(&s);
}
