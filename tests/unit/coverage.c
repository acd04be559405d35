// SPDX-License-Identifier: BSD-2-Clause
/* Reports of a window in which device times end early: what they say, and what they must not
 * conclude. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "finding_job.h"

TestSuite(coverage);

#define WHY "another tool has it"

static void copy(struct job *j, const char *name, uint64_t call_begin, uint64_t begin, uint64_t end,
		 int64_t bytes)
{
	job__launch(j, "cudaMemcpyAsync", CAT_MEMCPY, name, call_begin, call_begin + MS, begin, end,
		    bytes);
}

/* Has the signs that each rule about the device's work or calls looks for. */
static void ill_step(struct job *j, uint64_t at)
{
	uint64_t t = at + 2 * MS;

	for (int i = 0; i < 16; i++, t += 2 * MS)
		copy(j, "Memcpy HtoD (Pinned -> Device)", t, t, t + 1000, 8);
	for (int i = 0; i < 3; i++, t += 3 * MS)
		synth__span(&j->s, j->s.main, CAT_RUNTIME, "cudaStreamSynchronize", t, t + 3 * MS);
	synth__span(&j->s, j->s.main, CAT_RUNTIME, "cudaMalloc", t, t + 3 * MS);
	t += 3 * MS;
	copy(j, "Memcpy HtoD (Pinned -> Device)", t, t, t + MS, 20000000);
	copy(j, "Memcpy HtoD (Pageable -> Device)", t + 2 * MS, t + 2 * MS, t + 20 * MS, 20000000);
	job__launch(j, "cudaLaunchKernel", CAT_KERNEL, "ncclDevKernel_AllReduce(a)", t + 4 * MS,
		    t + 5 * MS, t + 20 * MS, t + 35 * MS, 0);
	job__launch(j, "cudaLaunchKernel", CAT_KERNEL, "gemm", t + 6 * MS, t + 7 * MS, t + 36 * MS,
		    t + 38 * MS, 0);
}

/* A recording whose summary has this for the device. */
static struct job ill_job(bool has_steps, const char *device)
{
	struct job j = job__new();
	char summary[320];

	for (uint64_t i = 0; i < STEPS; i++) {
		ill_step(&j, i * 100 * MS);
		if (!has_steps)
			continue;
		job__sched_for(&j, j.s.main, 40 + i, SCHED_BLOCKED, "write (disk)", 60);
		synth__step(&j.s, 40 + i, i * 100 * MS, (i + 1) * 100 * MS);
	}
	snprintf(summary, sizeof(summary),
		 "{\"windows\": [{\"begin_ns\": 0, \"end_ns\": 1000000000}], \"device\": {%s}}",
		 device);
	synth__open(&j.s, summary);
	return j;
}

static char *report_of(bool has_steps, const char *device, const char *tables)
{
	static const struct report_opts opts = {.style.unit = UNIT_MS};
	struct job j = ill_job(has_steps, device);
	char *text = synth__tables(&j.s, tables, &opts);

	synth__free(&j.s);
	return text;
}

static void expect(bool has_steps, const char *device, const char *tables, const char *text,
		   bool is_there)
{
	char *got = report_of(has_steps, device, tables);

	cr_expect_eq(!!strstr(got, text), is_there, "%s in: %s", text, got);
	free(got);
}

/* Into the seventh step of ten: six are whole. */
#define PARTIAL "\"refused\": \"" WHY "\", \"covered_until_ns\": 650000000"
#define WHOLE	"\"refused\": \"" WHY "\", \"covered_until_ns\": 1000000000"

#define TABLE_NOTE                                                                                 \
	"device times end at step 46: " WHY "; of the steps after it no device work is known."

Test(coverage, rules_that_rest_on_the_device_do_not_judge_a_part)
{
	static const char *const rules[] = {
		"rule: synchronization",       "rule: small_copies",
		"rule: device_idle",	       "rule: copy_bandwidth",
		"rule: exposed_communication", "rule: exposed_copies",
		"rule: device_allocation",     "rule: off_cpu",
	};
	char *all = report_of(true, "", "findings");
	char *part = report_of(true, PARTIAL, "findings");
	size_t shown = 0;

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		shown += !!strstr(all, rules[i]);
		cr_expect_null(strstr(part, rules[i]), "%s: %s", rules[i], part);
	}
	cr_expect_eq(shown, 5, "%s", all);
	cr_expect_not_null(strstr(all, "3 smaller findings are not shown."), "%s", all);
	cr_expect_not_null(strstr(part, "No rule of the host found anything"), "%s", part);
	cr_expect_not_null(strstr(part, TABLE_NOTE), "%s", part);
	cr_expect_null(strstr(part, "stands out as waste"), "%s", part);
	free(all);
	free(part);
}

Test(coverage, an_end_behind_the_last_step_takes_nothing_away)
{
	expect(true, WHOLE, "findings", "3 smaller findings are not shown.", true);
	expect(true, WHOLE, "findings,operator,kernel", "device times", false);
}

Test(coverage, tables_of_the_device_say_where_it_ends)
{
	static const char *const tables[] = {
		"device",    "overview",     "model",	  "distributed",  "operator",
		"kernel",    "manipulation", "calls",	  "key_averages", "classic",
		"aggregate", "op_type",	     "op_detail", "activity",	  "timeline"};

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		expect(true, PARTIAL, tables[i], TABLE_NOTE, true);
		expect(true, "", tables[i], "device times", false);
	}
	expect(true, PARTIAL, "steps", TABLE_NOTE, false);
	expect(true, PARTIAL, "sched", TABLE_NOTE, false);
}

Test(coverage, the_device_is_used_for_a_share_of_what_is_known)
{
	expect(true, WHOLE, "device", "17.00", true);
	expect(true, PARTIAL, "device", "26.15", true); /* of 650 ms */
	expect(true, PARTIAL, "device", "as far as device times are known", true);
	expect(true, WHOLE, "overview", "17.00", true);
	expect(true, PARTIAL, "overview", "26.15", true);
	expect(false, PARTIAL, "device", "26.15", true);
}

/* An operator in each step whose kernel takes 10 ms, and one that comes late. Their kernels are
 * known for the first six of ten steps. */
static char *half_known(const char *device, const char *tables)
{
	static const struct report_opts opts = {.style.unit = UNIT_MS};
	struct job j = job__new();
	char summary[320], *text;

	for (uint64_t i = 0; i < STEPS; i++) {
		const uint64_t at = i * 100 * MS;

		synth__span(&j.s, j.s.main, CAT_FORWARD, "forward", at + MS, at + 50 * MS);
		synth__span(&j.s, j.s.main, CAT_OPERATOR, i < 6 ? "aten::mm" : "aten::late",
			    at + MS, at + 20 * MS);
		if (i >= 6)
			synth__span(&j.s, j.s.main, CAT_OPERATOR, "aten::mm", at + 20 * MS,
				    at + 40 * MS);
		else
			job__launch(&j, "cudaLaunchKernel", CAT_KERNEL, "gemm", at + 2 * MS,
				    at + 3 * MS, at + 4 * MS, at + 14 * MS, 0);
		synth__step(&j.s, 40 + i, at, at + 100 * MS);
	}
	snprintf(summary, sizeof(summary),
		 "{\"windows\": [{\"begin_ns\": 0, \"end_ns\": 1000000000}], \"device\": {%s}}",
		 device);
	synth__open(&j.s, summary);
	text = synth__tables(&j.s, tables, &opts);
	synth__free(&j.s);
	return text;
}

Test(coverage, averages_of_the_device_are_of_what_is_known)
{
	static const char until[] = "\"refused\": \"" WHY "\", \"covered_until_ns\": 605000000";
	char *part = half_known(until, "model,operator"), *all = half_known("", "model,operator");

	cr_expect_not_null(strstr(part, "60.00  100.00         10.00"), "%s", part);
	cr_expect_null(strstr(part, "60.00  100.00          6.00"), "%s", part);
	cr_expect_not_null(strstr(strstr(part, "aten::late"), " -       -             -"), "%s",
			   part);
	cr_expect_not_null(strstr(all, "60.00  100.00          6.00"), "%s", all);
	free(part);
	free(all);
}

Test(coverage, the_foot_names_the_step)
{
	expect(true, PARTIAL, "steps", "device times until step 46 of [40,50): " WHY ".", true);
	expect(true, WHOLE, "steps", "device times", false);
	expect(true, "\"refused\": \"" WHY "\"", "steps", "device times", false);
	expect(true, PARTIAL ", \"launches_without_work\": 12", "steps",
	       "[40,50): " WHY "; 12 launches were seen whose work was not.", true);
	expect(true, PARTIAL ", \"launches_without_work\": 1", "steps",
	       WHY "; 1 launch was seen whose work was not.", true);
	expect(true, "\"covered_until_ns\": 1", "steps",
	       "device times until step 40 of [40,50): the library in the process ended.", true);
}

Test(coverage, without_steps_it_is_a_time)
{
	expect(false, PARTIAL, "kernel",
	       "device times end 650.0 ms after the window's begin: " WHY
	       "; after that no device work is known.",
	       true);
	expect(false, PARTIAL, "kernel", "device times for the first 650.0 ms of 1.000 s: " WHY ".",
	       true);
}

/* CUPTI delivered the first step's work. Then proftrace was killed. */
static char *cut_report(const char *meta, const char *tables)
{
	static const struct report_opts opts = {.style.unit = UNIT_MS};
	struct synth s = synth__new(meta);
	const uint32_t stream = synth__stream(&s, 0, 7);
	char *text;

	for (uint64_t i = 0; i < 4; i++) {
		synth__launch(&s, s.main, i, i * 10 * MS + MS, i * 10 * MS + 2 * MS);
		if (i < 1)
			synth__kernel(&s, stream, CAT_KERNEL, "gemm", i, i * 10 * MS + 3 * MS,
				      i * 10 * MS + 4 * MS);
		synth__step(&s, i, i * 10 * MS, (i + 1) * 10 * MS);
	}
	synth__open(&s, NULL);
	text = synth__tables(&s, tables, &opts);
	synth__free(&s);
	return text;
}

Test(coverage, a_file_that_was_cut_off_ends_with_the_latest_that_cupti_delivered)
{
	static const char note[] = "device times until step 0 of [0,4): the file was cut off";
	char *cupti =
		cut_report("{\"process\": {\"pid\": 100}, \"device_source\": \"CUPTI\"}", "steps");
	char *host = cut_report("{\"process\": {\"pid\": 100}}", "steps");

	cr_expect_not_null(strstr(cupti, note), "%s", cupti);
	cr_expect_null(strstr(host, "device times"), "%s", host);
	free(cupti);
	free(host);
}
