// SPDX-License-Identifier: BSD-2-Clause
/*
 * The numbers that Paddle's guide to its profiler prints (doc/explanation/coming-from.md says which
 * are not here): a program is made that has the calls, total, maximum and minimum of each row;
 * averages, ratios and sums must come out as printed there, to the last digit. Where two digits of
 * a total are too few to get there, it has more that round to the printed ones.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/util.h"
#include "model_synth.h"

TestSuite(report_seeds);

#define UNKNOWN (-1.0)

/* A cell of the guide: milliseconds, and a percentage. */
struct figures {
	const char *name;
	unsigned int calls;
	double total, avg, max, min, ratio;
};

static uint64_t ns(double ms)
{
	return (uint64_t)llround(ms * 1e6);
}

/* Returns the i-th of n parts of total. The parts add up to total. */
static uint64_t part(uint64_t total, uint64_t n, uint64_t i)
{
	return total * (i + 1) / n - total * i / n;
}

/* Returns the i-th call: first the longest, then the shortest, then equal ones. */
static uint64_t call_ns(const struct figures *f, unsigned int i)
{
	if (f->calls < 3)
		return i == 0 ? ns(f->max) : ns(f->total) - ns(f->max);
	if (i < 2)
		return ns(i ? f->min : f->max);
	return part(ns(f->total) - ns(f->max) - ns(f->min), f->calls - 2, i - 2);
}

/* ---- what a table says ---- */

static json_t *rows_of(struct synth *s, const char *table, bool op_detail)
{
	const struct report_opts opts = {.tables = table,
					 .op_detail = op_detail,
					 .raw_times = true,
					 .style = {.format = TABLE_JSON}};
	char *text = synth__report(s, &opts);
	json_t *json = json_loads(text, 0, NULL), *rows;

	rows = json_incref(json_object_get(json_object_get(json, table), "rows"));
	cr_assert_not_null(rows, "%s", text);
	json_decref(json);
	free(text);
	return rows;
}

/* Returns the row with that name after *from, and moves *from behind the row. */
static const json_t *row_named(const json_t *rows, const char *key, const char *name, size_t *from)
{
	for (size_t i = *from; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		const char *got = json_string_value(json_object_get(row, key));

		if (got && !strcmp(got, name)) {
			*from = i + 1;
			return row;
		}
	}
	cr_assert(false, "no row '%s'", name);
	return NULL;
}

static void expect_printed(const json_t *row, const char *key, double scale, double want)
{
	const json_t *value = json_object_get(row, key);
	char got[32], printed[32];

	if (want == UNKNOWN)
		return;
	cr_assert(json_is_number(value), "%s", key);
	snprintf(got, sizeof(got), "%.2f", json_number_value(value) / scale);
	snprintf(printed, sizeof(printed), "%.2f", want);
	cr_expect_str_eq(got, printed, "%s: %s, the guide has %s", key, got, printed);
}

static void expect_side(const json_t *row, const char *side, const struct figures *f)
{
	static const char *const parts[] = {"total_ns", "avg_ns", "max_ns", "min_ns"};
	const double want[] = {f->total, f->avg, f->max, f->min};
	char key[32];

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		snprintf(key, sizeof(key), "%s_%s", side, parts[i]);
		expect_printed(row, key, 1e6, want[i]);
	}
	snprintf(key, sizeof(key), "%s_ratio_percent", side);
	expect_printed(row, key, 1, f->ratio);
}

static void expect_calls(const json_t *row, unsigned int calls)
{
	cr_expect_eq(json_integer_value(json_object_get(row, "calls")), calls, "calls of %s",
		     json_string_value(json_object_get(row, "name")));
}

/* ---- Model and Perf Summary ---- */

enum { STEP, DATALOADER, FORWARD, BACKWARD, OPTIMIZATION, PHASES };

/* Adds other events of a step before the step's own event. NULL adds nothing. */
typedef void (*step_fn)(struct synth *s, unsigned int i, uint64_t begin);

static struct synth training_with(const struct figures *f, step_fn more, const char *summary)
{
	static const enum span_category categories[PHASES] = {CAT_NONE, CAT_DATALOADER, CAT_FORWARD,
							      CAT_BACKWARD, CAT_OPTIMIZER};
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	uint64_t begin = 0;

	for (unsigned int i = 0; i < f[STEP].calls; i++) {
		uint64_t t = begin, end = begin + call_ns(&f[STEP], i);

		for (int phase = DATALOADER; phase < PHASES; phase++) {
			uint64_t took = call_ns(&f[phase], i);

			synth__span(&s, s.main, categories[phase], f[phase].name, t, t + took);
			t += took;
		}
		cr_assert_leq(t, end);
		if (more)
			more(&s, i, begin);
		synth__step(&s, i, begin, end);
		begin = end;
	}
	synth__open(&s, summary);
	return s;
}

static struct synth training(const struct figures *f)
{
	return training_with(f, NULL, "{}");
}

/* The loader in the training thread, then with four workers, and the guide's first example. */
static const struct figures one_thread[] = {
	{"ProfileStep", 11, 293.388, 26.67, 30.42, 25.42, 100.00},
	{"Dataloader", 11, 144.09, 13.10, 15.09, 12.05, 49.11},
	{"Forward", 11, 50.2565, 4.57, 5.34, 4.22, 17.13},
	{"Backward", 11, 20.495, 1.86, 2.26, 1.55, 6.99},
	{"Optimization", 11, 34.5175, 3.14, 3.32, 2.52, 11.77},
	{"Others", 0, 44.03, UNKNOWN, UNKNOWN, UNKNOWN, 15.01},
};
static const struct figures four_workers[] = {
	{"ProfileStep", 11, 93.45, 8.50, 12.00, 7.78, 100.00},
	{"Dataloader", 11, 1.70, 0.15, 0.55, 0.11, 1.82},
	{"Forward", 11, 32.25, 2.93, 5.56, 2.52, 34.51},
	{"Backward", 11, 15.43, 1.40, 2.09, 1.32, 16.51},
	{"Optimization", 11, 17.55, 1.60, 1.95, 1.55, 18.78},
	{"Others", 0, 26.52, UNKNOWN, UNKNOWN, UNKNOWN, 28.38},
};
static const struct figures eight_steps[] = {
	{"ProfileStep", 8, 4945.15, 618.14, 839.15, 386.34, 100.00},
	{"Dataloader", 8, 1819.15, 227.39, 451.69, 0.32, 36.79},
	{"Forward", 8, 1282.64, 160.33, 161.49, 159.19, 25.94},
	{"Backward", 8, 160.43, 20.05, 21.00, 19.21, 3.24},
	{"Optimization", 8, 102.34, 12.79, 13.42, 12.47, 2.07},
	{"Others", 0, 1580.59, UNKNOWN, UNKNOWN, UNKNOWN, 31.96},
};

static void expect_model(const struct figures *f)
{
	struct synth s = training(f);
	json_t *rows = rows_of(&s, "model", false);
	size_t from = 0;

	for (size_t i = 0; i <= PHASES; i++) {
		const json_t *row = row_named(rows, "name", f[i].name, &from);

		expect_side(row, "cpu", &f[i]);
		if (f[i].calls)
			expect_calls(row, f[i].calls);
	}
	json_decref(rows);
	synth__free(&s);
}

Test(report_seeds, model_summaries)
{
	expect_model(one_thread);
	expect_model(four_workers);
	expect_model(eight_steps);
}

/* The table's ratio of the loader: from half of the step to next to nothing, by num_workers. */
Test(report_seeds, reader_ratio_before_and_after_num_workers)
{
	struct synth before = training(one_thread), after = training(four_workers);

	EXPECT_LINES(&before, "perf", &(struct report_opts){}, "Reader Ratio: 49.112%",
		     "reader_cost: 0.01310 s batch_cost: 0.02667 s ips: 37.493 steps/s");
	EXPECT_LINES(&after, "perf", &(struct report_opts){}, "Reader Ratio: 1.819%",
		     "reader_cost: 0.00015 s batch_cost: 0.00850 s ips: 117.710 steps/s");
	synth__free(&before);
	synth__free(&after);
}

/* The extremes of the guide's last Perf Summary. Its averages exceed them, which is an error in the
 * guide. */
Test(report_seeds, perf_summary)
{
	static const struct figures f[PHASES] = {
		{"ProfileStep", 11, 0, 0, 7.981279, 7.857943, 0},
		{"Dataloader", 11, 0, 0, .11, .09, 0},
		{"Forward", 11, 0, 0, 2, 1, 0},
		{"Backward", 11, 0, 0, 2, 1, 0},
		{"Optimization", 11, 0, 0, 1, 1, 0},
	};
	struct figures filled[PHASES];
	struct synth s;

	for (size_t i = 0; i < PHASES; i++) {
		filled[i] = f[i];
		filled[i].total = 11 * (f[i].max + f[i].min) / 2;
	}
	s = training(filled);
	EXPECT_LINES(&s, "perf", &(struct report_opts){},
		     "reader_cost      s          0.00010          0.00011          0.00009",
		     "batch_cost       s          0.00792          0.00798          0.00786",
		     "ips              steps/s    126.26883        127.25977        125.29320");
	synth__free(&s);
}

/* ---- Device, Overview, Distribution: eight steps, what happens in them in as many parts ---- */

#define STEPS 8

/* cnt spans one after another from *at on that take total; *at is then their end. */
static void row_of(struct synth *s, uint32_t track, enum span_category cat, const char *name,
		   uint64_t cnt, uint64_t total, uint64_t *at)
{
	for (uint64_t i = 0; i < cnt; i++) {
		uint64_t end = *at + part(total, cnt, i);

		synth__span(s, track, cat, name, *at, end);
		*at = end;
	}
}

/* The same on a device. A thread launches it with calls that take calls_ns. */
static void launched(struct synth *s, uint32_t thread, uint32_t stream, enum span_category cat,
		     const char *name, uint64_t cnt, uint64_t total, uint64_t *at,
		     uint64_t calls_ns, uint64_t *calls_at)
{
	static uint64_t id = 1;

	for (uint64_t i = 0; i < cnt; i++, id++) {
		uint64_t end = *at + part(total, cnt, i);
		uint64_t call_end = *calls_at + part(calls_ns, cnt, i);

		synth__launch(s, thread, id, *calls_at, call_end);
		synth__kernel(s, stream, cat, name, id, *at, end);
		*at = end;
		*calls_at = call_end;
	}
}

static void busy_step(struct synth *s, unsigned int i, uint64_t begin)
{
	const uint32_t ops = synth__thread(s, 100, 200, "ops"),
		       calls = synth__thread(s, 100, 201, "calls"),
		       ranges = synth__thread(s, 100, 202, "ranges"), one = synth__stream(s, 0, 7),
		       two = synth__stream(s, 0, 8);
	const uint64_t inner = part(21880, STEPS, i), outer = part(8056, STEPS, i);
	const uint64_t inner_ns = part(ns(374.18), STEPS, i),
		       outer_ns = part(ns(1244.41), STEPS, i);
	const uint64_t runtime_ns = part(ns(2435.63), STEPS, i);
	uint64_t at = begin, calls_at = begin, streams_at = begin, k = 0;

	for (uint64_t o = 0; o < outer; o++) {
		uint64_t op = at, in = at;

		for (uint64_t j = 0; j < part(inner, outer, o); j++, k++)
			row_of(s, ops, CAT_OPERATOR, "inner", 1, part(inner_ns, inner, k), &in);
		at += part(outer_ns, outer, o);
		synth__span(s, ops, CAT_OPERATOR, "op", op, at);
	}
	launched(s, calls, one, CAT_KERNEL, "gemm", (13688 - 784) / STEPS,
		 part(ns(2526.518), STEPS, i), &streams_at, runtime_ns / 8, &calls_at);
	streams_at -= part(ns(39.134), STEPS, i);
	launched(s, calls, two, CAT_KERNEL, "ncclAllReduceRingLLKernel_sum_f32(ncclColl)",
		 784 / STEPS, part(ns(257.228), STEPS, i), &streams_at, runtime_ns / 8, &calls_at);
	launched(s, calls, one, CAT_MEMCPY, "Memcpy HtoD", 496 / STEPS, part(ns(29.82), STEPS, i),
		 &streams_at, runtime_ns / 8, &calls_at);
	launched(s, calls, one, CAT_MEMSET, "Memset", 104 / STEPS, part(ns(.12), STEPS, i),
		 &streams_at, runtime_ns / 8, &calls_at);
	row_of(s, calls, CAT_RUNTIME, "cudaGetDevice", (28336 - 13688 - 496 - 104) / STEPS,
	       runtime_ns - runtime_ns / 8 * 4, &calls_at);
	at = begin;
	row_of(s, ranges, CAT_USER, "range", part(486, STEPS, i), part(ns(2280.54), STEPS, i), &at);
}

/* The process's 77.13 % of one processor, the machine's 25.99 % of all. */
static struct synth busy(void)
{
	return training_with(eight_steps, busy_step,
			     "{\"cpu\": {\"wall_ns\": 4945150000, \"process_ns\": 3814194195,"
			     " \"busy_ns\": 2599000000, \"idle_ns\": 7401000000}}");
}

Test(report_seeds, device_summary)
{
	struct synth s = busy();
	json_t *rows = rows_of(&s, "device", false);
	size_t from = 0;

	expect_printed(row_named(rows, "device", "CPU(Process)", &from), "utilization_percent", 1,
		       77.13);
	expect_printed(row_named(rows, "device", "CPU(System)", &from), "utilization_percent", 1,
		       25.99);
	expect_printed(row_named(rows, "device", "GPU0", &from), "utilization_percent", 1, 55.50);
	json_decref(rows);
	synth__free(&s);
}

/* In the guide's order. Device work has a column there, not rows of its own. */
Test(report_seeds, overview_summary)
{
	static const struct figures f[] =
		{
			{"ProfileStep", 8, 4945.15, 0, 0, 0, 100.00},
			{"Runtime", 28336, 2435.63, 0, 0, 0, 49.25}, /* CudaRuntime there */
			{"UserDefined", 486, 2280.54, 0, 0, 0, 46.12},
			{"Dataloader", 8, 1819.15, 0, 0, 0, 36.79},
			{"Forward", 8, 1282.64, 0, 0, 0, 25.94},
			{"Operator", 8056, 1244.41, 0, 0, 0, 25.16},
			{"OperatorInner", 21880, 374.18, 0, 0, 0, 7.57},
			{"Backward", 8, 160.43, 0, 0, 0, 3.24},
			{"Optimization", 8, 102.34, 0, 0, 0, 2.07},
		},
				    device[] = {
					    {"Kernel", 13688, 2744.61, 0, 0, 0, 55.50},
					    {"Memcpy", 496, 29.82, 0, 0, 0, 0.60},
					    {"Memset", 104, 0.12, 0, 0, 0, 0.00},
					    {"Communication", 784, 257.23, 0, 0, 0, 5.20},
				    };
	struct synth s = busy();
	json_t *rows = rows_of(&s, "overview", false);
	size_t from = 0;

	for (size_t i = 0; i < ARRAY_SIZE(f); i++) {
		const json_t *row = row_named(rows, "event_type", f[i].name, &from);

		expect_calls(row, f[i].calls);
		expect_printed(row, "cpu_time_ns", 1e6, f[i].total);
		expect_printed(row, "ratio_percent", 1, f[i].ratio);
	}
	for (size_t i = 0; i < ARRAY_SIZE(device); i++) {
		const json_t *row;

		from = 0;
		row = row_named(rows, "event_type", device[i].name, &from);
		expect_calls(row, device[i].calls);
		expect_printed(row, "gpu_time_ns", 1e6, device[i].total);
		expect_printed(row, "ratio_percent", 1, device[i].ratio);
	}
	json_decref(rows);
	synth__free(&s);
}

Test(report_seeds, distribution_summary)
{
	static const struct figures f[] = {
		{"ProfileStep", 0, 4945.15, 0, 0, 0, 100.00},
		{"Communication", 0, 257.23, 0, 0, 0, 5.20},
		{"Computation", 0, 2526.52, 0, 0, 0, 51.09},
		{"Overlap", 0, 39.13, 0, 0, 0, 0.79},
	};
	struct synth s = busy();
	json_t *rows = rows_of(&s, "distributed", false);
	size_t from = 0;

	for (size_t i = 0; i < ARRAY_SIZE(f); i++) {
		const json_t *row = row_named(rows, "name", f[i].name, &from);

		expect_printed(row, "total_ns", 1e6, f[i].total);
		expect_printed(row, "ratio_percent", 1, f[i].ratio);
	}
	json_decref(rows);
	synth__free(&s);
}

/* ---- Kernel, Memory Manipulation and UserDefined Summary: one step of as long ---- */

/* Adds calls one after another from *at on. Each is launched at *launch_at, which moves on. */
static void calls_on_device(struct synth *s, uint32_t stream, enum span_category cat,
			    const struct figures *f, uint64_t *at, uint64_t *launch_at)
{
	static uint64_t id = 1000000;

	for (unsigned int i = 0; i < f->calls; i++, id++) {
		uint64_t end = *at + call_ns(f, i);

		synth__launch(s, s->main, id, *launch_at, *launch_at + 10);
		synth__kernel(s, stream, cat, f->name, id, *at, end);
		*launch_at += 10;
		*at = end;
	}
}

Test(report_seeds, kernel_summary)
{
	static const struct figures f[] = {
		{"void paddle::operators::KeNormAffine<float, "
		 "(paddle::experimental::DataLayout)2>",
		 376, 362.106, .96, 5.43, .09, 12.97},
		{"ncclAllReduceRingLLKernel_sum_f32(ncclColl)", 784, 257.23, .33, 37.70, .01, 9.22},
		{"maxwell_scudnn_winograd_128x128_ldg1_ldg4_tile418n_nt", 72, 176.84, 2.46, 3.35,
		 1.90, 6.34},
		{"void paddle::operators::KeBNBackwardData<float, "
		 "(paddle::experimental::DataLayout)2>",
		 376, 171.97, .46, 2.58, .04, 6.16},
		{"maxwell_scudnn_128x128_stridedB_splitK_interior_nn", 184, 167.03, .91, 2.28, .19,
		 5.99},
		{"void paddle::operators::KeBackwardLocalStats<float, 256, "
		 "(paddle::experimental::DataLayout)2>",
		 376, 129.62, .34, 1.83, .04, 4.64},
		{"void paddle::operators::KeBNBackwardScaleBias<float, 256, "
		 "(paddle::experimental::DataLayout)2>",
		 376, 126.37, .34, 1.84, .03, 4.53},
		{"void phi::funcs::VectorizedElementwiseKernel<float, "
		 "phi::funcs::CudaReluGradFunctor<float> >",
		 216, 115.61, .54, 2.31, .07, 4.14},
		{"void paddle::operators::math::KernelDepthwiseConvFilterGradSp<float, 1, 1, 3>",
		 72, 113.87, 1.58, 2.04, 1.36, 4.08},
		{"maxwell_scudnn_128x128_stridedB_interior_nn", 200, 105.10, .53, .97, .09, 3.77},
		{"maxwell_scudnn_128x128_relu_interior_nn", 184, 103.17, .56, .98, .12, 3.70},
		{"maxwell_scudnn_winograd_128x128_ldg1_ldg4_tile228n_nt", 48, 90.87, 1.89, 2.09,
		 1.69, 3.26},
		{"maxwell_scudnn_128x128_stridedB_small_nn", 24, 87.58, 3.65, 4.00, 3.53, 3.14},
	};
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	uint32_t stream = synth__stream(&s, 2, 7);
	struct figures others = {"others", 10000, 2790.804, 0, .03, .01, 0};
	uint64_t at = 0, launch_at = 0;
	json_t *rows;

	for (size_t i = 0; i < ARRAY_SIZE(f); i++) {
		calls_on_device(&s, stream, CAT_KERNEL, &f[i], &at, &launch_at);
		others.total -= f[i].total;
	}
	calls_on_device(&s, stream, CAT_KERNEL, &others, &at, &launch_at);
	synth__step(&s, 0, 0, ns(4945.15));
	synth__open(&s, "{}");
	rows = rows_of(&s, "kernel", false);
	for (size_t i = 0; i < ARRAY_SIZE(f); i++) {
		size_t from = 0;
		const json_t *row = row_named(rows, "name", f[i].name, &from);

		expect_side(row, "gpu", &f[i]);
		expect_calls(row, f[i].calls);
	}
	json_decref(rows);
	synth__free(&s);
}

/* The guide's ranges of the framework, each with the copies it launched. */
static const struct {
	struct figures cpu, gpu;
} ranges[] = {
	{{"GpuMemcpySync:GPU->CPU", 48, 1519.87, 31.66, 213.82, .02, 30.73},
	 {"", 48, .07, .00, .00, .00, .00}},
	{{"GpuMemcpyAsync:CPU->GPU", 216, 2.85, .01, .04, .01, .06},
	 {"", 216, .29, .00, .00, .00, .01}},
	{{"GpuMemcpyAsync(same_gpu):GPU->GPU", 168, 3.61, .02, .05, .01, .07},
	 {"", 168, .33, .00, .01, .00, .01}},
	{{"GpuMemcpySync:CUDAPinned->GPU", 40, 713.89, 17.85, 85.79, .04, 14.44},
	 {"", 40, 29.11, .73, 3.02, .00, 1.03}},
	{{"BufferedReader:MemoryCopy", 6, 40.169, 6.69, 7.62, 5.87, .81}, {"", 6, 0, 0, 0, 0, 0}},
	{{"MyRecord", 8, .15, .02, .02, .02, .00}, {"", 8, 0, 0, 0, 0, 0}},
};

static void write_range(struct synth *s, uint32_t stream, const struct figures *cpu,
			const struct figures *gpu, uint64_t *at, uint64_t *stream_at)
{
	static uint64_t id = 1;

	for (unsigned int i = 0; i < cpu->calls; i++) {
		uint64_t end = *at + call_ns(cpu, i);

		if (gpu->total > 0) {
			uint64_t took = call_ns(gpu, i);

			synth__launch(s, s->main, id, *at + 10, *at + 20);
			synth__kernel(s, stream, CAT_MEMCPY, "copy", id++, *stream_at,
				      *stream_at + took);
			*stream_at += took;
		}
		synth__span(s, s->main, CAT_USER, cpu->name, *at, end);
		*at = end;
	}
}

Test(report_seeds, memory_manipulation_and_userdefined_summary)
{
	static const struct figures kernels = {"kernel", 100, 2790.80, 0, 30, 20, 0},
				    copies = {"Memcpy", 24, .02, 0, .001, .0001, 0},
				    sets = {"Memset", 104, .12, 0, .01, .0001, 0};
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	uint32_t stream = synth__stream(&s, 2, 7);
	uint64_t at = 0, stream_at = 0;
	const char *table = "manipulation";

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		write_range(&s, stream, &ranges[i].cpu, &ranges[i].gpu, &at, &stream_at);
	calls_on_device(&s, stream, CAT_KERNEL, &kernels, &stream_at, &at);
	calls_on_device(&s, stream, CAT_MEMCPY, &copies, &stream_at, &at);
	calls_on_device(&s, stream, CAT_MEMSET, &sets, &stream_at, &at);
	synth__step(&s, 0, 0, ns(4945.15));
	synth__open(&s, "{}");
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		bool own = !strcmp(ranges[i].cpu.name, "MyRecord");
		json_t *rows = rows_of(&s, own ? "userdefined" : table, false);
		size_t from = 0;
		const json_t *row = row_named(rows, "name", ranges[i].cpu.name, &from);

		expect_side(row, "cpu", &ranges[i].cpu);
		expect_side(row, "gpu", &ranges[i].gpu);
		expect_calls(row, ranges[i].cpu.calls);
		json_decref(rows);
	}
	synth__free(&s);
}

/* ---- Operator Summary with its detail ---- */

#define OPS 296 /* calls of conv2d_grad */

enum place { IN_COMPUTE, IN_MEMCPY, IN_OP };

/* The kernels of an operator's parts, in order. Names end where the guide cuts them. */
static const struct {
	struct figures f;
	enum place place;
} kernels[] = {
	{{"cudnn::maxwell::gemm::computeWgradOffsetsKern", 224, .50, .00, .00, .00, .08}, 0},
	{{"void scalePackedTensor_kernel<float, float>(c", 224, .79, .00, .01, .00, .12}, 0},
	{{"cudnn::maxwell::gemm::computeBOffsetsKernel(c", 464, .95, .00, .01, .00, .15}, 0},
	{{"maxwell_scudnn_128x32_stridedB_splitK_large_nn", 8, 15.70, 1.96, 1.97, 1.96, 2.44}, 0},
	{{"cudnn::maxwell::gemm::computeOffsetsKernel(cu", 240, .54, .00, .00, .00, .08}, 0},
	{{"maxwell_scudnn_128x32_stridedB_interior_nn", 8, 9.53, 1.19, 1.19, 1.19, 1.48}, 0},
	{{"maxwell_scudnn_128x64_stridedB_splitK_interio", 8, 28.67, 3.58, 3.59, 3.58, 4.45}, 0},
	{{"maxwell_scudnn_128x64_stridedB_interior_nn", 8, 5.53, .69, .70, .69, .86}, 0},
	{{"maxwell_scudnn_128x128_splitK_interi", 184, 167.03, .91, 2.28, .19, 25.92}, 0},
	{{"maxwell_scudnn_128x128_stridedB_interior_nn", 200, 105.10, .53, .97, .09, 16.31}, 0},
	{{"maxwell_scudnn_128x128_stridedB_small_nn", 24, 87.58, 3.65, 4.00, 3.53, 13.59}, 0},
	{{"winogradWgradData", 72, 15.66, .22, .36, .09, 2.43}, 0},
	{{"winogradWgradDelta", 72, 31.64, .44, .75, .19, 4.91}, 0},
	{{"maxwell_sgemm_128x64_nt", 72, 62.034, .86, 1.09, .75, 9.63}, 0},
	{{"winogradWgradOutput", 72, 14.45, .20, .49, .04, 2.24}, 0},
	{{"void cudnn::winograd::generateWinogradTilesKe", 48, 1.78, .04, .06, .02, .28}, 0},
	{{"winograd_128x128_ldg1_ldg4_til a", 24, 45.94, 1.91, 1.93, 1.90, 7.13}, 0},
	{{"winograd_128x128_ldg1_ldg4_til b", 24, 40.93, 1.71, 1.72, 1.69, 6.35}, 0},
	{{"maxwell_scudnn_128x32_stridedB_splitK_interio", 24, 9.91, .41, .77, .15, 1.54}, 0},
	{{"MEMSET", 104, .122, .00, .00, .00, .02}, 0},
	{{"MEMCPY_HtoD", 64, .09, .00, .00, .00, 100.00}, IN_MEMCPY},
	{{"void phi::funcs::ConcatKernel_<float>(float con", 16, 2.84, .18, .36, .06, .42}, IN_OP},
	{{"void phi::funcs::ForRangeElemwiseOp<paddle::imp", 16, 1.33, .08, .16, .01, .20}, IN_OP},
	{{"ncclAllReduceRingLLKernel_sum_f32(ncclColl)", 16, 26.35, 1.65, 3.14, .20, 3.88}, IN_OP},
	{{"void phi::funcs::SplitKernel_<float>(float cons", 16, 2.49, .16, .37, .06, .37}, IN_OP},
	{{"void axpy_kernel_val<float, float>(cublasAxpyPa", 16, 1.625, .10, .14, .07, .24}, IN_OP},
};
static const struct figures conv = {"conv2d_grad grad_node", OPS, 53.70, .18, .40, .14, 4.34},
			    infer = {"conv2d_grad::infer_shape", OPS, .437, .00, .002, .001, .81},
			    compute = {"conv2d_grad::compute", OPS, 44.09, .15, .31, .10, 82.10},
			    copy = {"GpuMemcpyAsync:CPU->GPU", 64, .68, .01, .02, .01, 1.27},
			    other = {"others", 1, 1236.40 - 53.70, 0, 1236.40 - 53.70, 0, 0},
			    other_kernel = {"k", 1, 2816.6 - 679.11, 0, 2816.6 - 679.11, 0, 0};

struct grads {
	struct synth s;
	uint32_t stream;
	uint64_t id, stream_at;
};

/* Adds the kernels that call i of the operator launched there, from *at on. */
static void launch_all(struct grads *g, enum place place, unsigned int i, uint64_t *at)
{
	for (size_t k = 0; k < ARRAY_SIZE(kernels); k++)
		for (unsigned int j = i; kernels[k].place == place && j < kernels[k].f.calls;
		     j += OPS) {
			const char *name = kernels[k].f.name;
			uint64_t end = g->stream_at + call_ns(&kernels[k].f, j);

			synth__launch(&g->s, g->s.main, g->id, *at, *at + 10);
			synth__kernel(&g->s, g->stream,
				      !strncmp(name, "MEM", 3) ? CAT_MEMCPY : CAT_KERNEL, name,
				      g->id++, g->stream_at, end);
			g->stream_at = end;
			*at += 20;
		}
}

static void write_grad(struct grads *g, unsigned int i, uint64_t begin)
{
	uint64_t t = begin, from = begin;

	t += call_ns(&infer, i);
	synth__span(&g->s, g->s.main, CAT_OPERATOR, infer.name, from, t);
	from = t;
	launch_all(g, IN_COMPUTE, i, &t);
	t = from + call_ns(&compute, i);
	synth__span(&g->s, g->s.main, CAT_OPERATOR, compute.name, from, t);
	if (i < copy.calls) {
		from = t;
		launch_all(g, IN_MEMCPY, i, &t);
		t = from + call_ns(&copy, i);
		synth__span(&g->s, g->s.main, CAT_OPERATOR, copy.name, from, t);
	}
	launch_all(g, IN_OP, i, &t);
	cr_assert_leq(t, begin + call_ns(&conv, i));
	synth__span(&g->s, g->s.main, CAT_OPERATOR, conv.name, begin, begin + call_ns(&conv, i));
}

static struct synth grads(void)
{
	struct grads g = {.s = synth__new("{\"process\": {\"pid\": 100}}"), .id = 1};
	uint64_t at = 0;

	g.stream = synth__stream(&g.s, 2, 7);
	for (unsigned int i = 0; i < OPS; i++) {
		write_grad(&g, i, at);
		at += call_ns(&conv, i);
	}
	synth__launch(&g.s, g.s.main, g.id, at + 10, at + 20);
	synth__kernel(&g.s, g.stream, CAT_KERNEL, other_kernel.name, g.id, g.stream_at,
		      g.stream_at + call_ns(&other_kernel, 0));
	synth__span(&g.s, g.s.main, CAT_OPERATOR, other.name, at, at + call_ns(&other, 0));
	synth__step(&g.s, 0, 0, ns(4945.15));
	synth__open(&g.s, "{}");
	return g.s;
}

Test(report_seeds, operator_summary_with_its_detail)
{
	static const struct {
		const struct figures *cpu;
		double gpu_total, gpu_avg, gpu_ratio;
	} parts[] = {
		{&conv, 679.11, 2.29, 24.11},
		{&infer, 0, 0, 0},
		{&compute, 644.39, 2.18, 94.89},
		{&copy, .09, 0, .01},
	};
	struct synth s = grads();
	json_t *rows = rows_of(&s, "operator", true);

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		size_t from = 0;
		const json_t *row = row_named(rows, "name", parts[i].cpu->name, &from);
		const struct figures gpu = {NULL,    0,	      parts[i].gpu_total, parts[i].gpu_avg,
					    UNKNOWN, UNKNOWN, parts[i].gpu_ratio};

		expect_side(row, "cpu", parts[i].cpu);
		expect_side(row, "gpu", &gpu);
		expect_calls(row, parts[i].cpu->calls);
	}
	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++) {
		size_t from = 0;
		const json_t *row = row_named(rows, "name", kernels[i].f.name, &from);

		expect_side(row, "gpu", &kernels[i].f);
		expect_calls(row, kernels[i].f.calls);
		cr_expect(json_is_null(json_object_get(row, "cpu_total_ns")));
		cr_expect_eq(json_integer_value(json_object_get(row, "depth")),
			     kernels[i].place == IN_OP ? 1 : 2);
	}
	json_decref(rows);
	synth__free(&s);
}
