// SPDX-License-Identifier: BSD-2-Clause
/* The ranks of a job side by side. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/job/job.h"
#include "common/util.h"
#include "finding_job.h"

/* Four steps of 10 ms from begin on; a collective takes the last four of each, `late` ns less, and
 * runs on for `behind` ns. */
static struct synth rank_behind(const char *meta, const char *summary, uint64_t begin,
				uint64_t late, uint64_t behind)
{
	struct synth s = synth__new(meta);
	uint32_t stream = synth__stream(&s, 0, 7);

	for (uint64_t i = 0; i < 4; i++) {
		const uint64_t at = begin + i * 10 * MS, end = at + 10 * MS;

		synth__launch(&s, s.main, 1 + i, at, at + 1000);
		synth__kernel(&s, stream, CAT_KERNEL, "ncclDevKernel_AllReduce_Sum_f32", 1 + i,
			      end - 4 * MS + late, end + behind);
		synth__step(&s, i, at, end);
	}
	synth__open(&s, summary);
	return s;
}

static struct synth rank_with(const char *meta, const char *summary, uint64_t begin, uint64_t late)
{
	return rank_behind(meta, summary, begin, late, 0);
}

static struct synth rank(const char *meta, uint64_t begin, uint64_t late)
{
	return rank_with(meta, "{}", begin, late);
}

static char *report_as(enum table_format format, struct synth *a, struct synth *b)
{
	const char *paths[] = {a->path, b->path};
	const struct report_opts opts = {
		.style = {.format = format, .unit = UNIT_MS, .width = 120}};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	cr_assert_eq(job__print(paths, 2, &opts, out), 0);
	fclose(out);
	return text;
}

/* The report of two ranks; the caller frees it. */
static char *report_of(struct synth *a, struct synth *b)
{
	return report_as(TABLE_TEXT, a, b);
}

static const char first[] = "{\"process\": {\"pid\": 100}, \"rank\": {\"rank\": 0},"
			    " \"clock\": {\"monotonic_ns\": 0, \"realtime_ns\": 1000000000000}}";
static const char second[] = "{\"process\": {\"pid\": 101}, \"rank\": {\"rank\": 1},"
			     " \"clock\": {\"monotonic_ns\": 0, \"realtime_ns\": 1000000000000}}";
/* Booted a second earlier. */
static const char elsewhere[] =
	"{\"process\": {\"pid\": 101}, \"rank\": {\"rank\": 1},"
	" \"clock\": {\"monotonic_ns\": 1000000000, \"realtime_ns\": 1000000000000}}";

Test(report_job, who_comes_last_is_the_straggler)
{
	struct synth a = rank(first, 100 * MS, 0), b = rank(second, 105 * MS, 3 * MS);
	auto_free char *text = report_of(&a, &b);

	synth__expect_line(text, "straggler: 1");
	synth__expect_line(text, "others wait per step: 3.000 ms");
	synth__free(&a);
	synth__free(&b);
}

/* torch.multiprocessing.spawn and the like start ranks without telling them so in the environment.
 */
Test(report_job, a_straggler_without_a_rank_is_named_by_its_process)
{
	const char *const unnamed =
		"{\"process\": {\"pid\": 101},"
		" \"clock\": {\"monotonic_ns\": 0, \"realtime_ns\": 1000000000000}}";
	struct synth a = rank(first, 100 * MS, 0), b = rank(unnamed, 105 * MS, 3 * MS);
	auto_free char *text = report_of(&a, &b);

	synth__expect_line(text, "straggler: - (the process was started without a rank)");
	synth__expect_line(text, "its process: 101");
	synth__free(&a);
	synth__free(&b);
}

Test(report_job, windows_that_do_not_overlap_tell_nothing)
{
	struct synth a = rank(first, 100 * MS, 0), b = rank(second, 140 * MS, 3 * MS);
	auto_free char *text = report_of(&a, &b);

	synth__expect_line(text, "straggler: - (the windows of the ranks do not overlap, so it "
				 "cannot be told who waited for whom)");
	synth__expect_line(text, "others wait per step: - (no straggler is named)");
	synth__free(&a);
	synth__free(&b);
}

Test(report_job, hosts_are_compared_by_the_wall_clock)
{
	struct synth a = rank(first, 100 * MS, 0), b = rank(elsewhere, 1105 * MS, 3 * MS);
	auto_free char *text = report_of(&a, &b);

	synth__expect_line(text, "straggler: 1");
	synth__free(&a);
	synth__free(&b);
}

Test(report_job, a_rank_of_which_the_device_is_known_in_part_is_no_straggler)
{
	struct synth a = rank(first, 100 * MS, 0);
	struct synth b = rank_with(
		second, "{\"device\": {\"refused\": \"gone\", \"covered_until_ns\": 128000000}}",
		105 * MS, 3 * MS);
	auto_free char *text = report_of(&a, &b);

	synth__expect_line(text, "straggler: - (device times of a rank end within the window, and "
				 "with them its collectives)");
	synth__expect_line(text, "Of a rank device times end within the window: its collectives "
				 "are known in part, and its phases are without these alone.");
	synth__free(&a);
	synth__free(&b);
}

/* A device that is behind its host: it has 4 ms of work in each step, and runs the last step's
 * after the step. */
Test(report_job, devices_that_are_behind_their_hosts_are_told)
{
	struct synth a = rank(first, 100 * MS, 0), b = rank_behind(second, "{}", 105 * MS, MS, MS);
	auto_free char *text = report_of(&a, &b);

	cr_expect_not_null(strstr(text, "The devices are behind their hosts."), "%s", text);
	synth__free(&a);
	synth__free(&b);
	a = rank(first, 100 * MS, 0);
	b = rank_behind(second, "{}", 105 * MS, MS, MS / 50);
	free(text);
	text = report_of(&a, &b);
	cr_expect_null(strstr(text, "behind"), "%s", text);
	synth__free(&a);
	synth__free(&b);
}

/* A rank with a collective of 4 ms at the end of each step. It runs on for `behind` ns. */
static struct synth host_rank(const char *meta, uint64_t begin, uint64_t behind)
{
	struct synth s = synth__new(meta);

	for (uint64_t i = 0; i < 4; i++) {
		const uint64_t at = begin + i * 10 * MS, end = at + 10 * MS;
		struct event e = synth__event(&s, s.main, CAT_COMMUNICATION, "gloo:all_reduce",
					      end - 4 * MS, end + behind);

		e.type = EVENT_ASYNC;
		synth__write(&s, &e);
		synth__step(&s, i, at, end);
	}
	synth__open(&s, "{}");
	return s;
}

Test(report_job, what_collectives_do_behind_the_last_step_is_said)
{
	struct synth a = host_rank(first, 100 * MS, 0), b = host_rank(second, 105 * MS, MS);
	auto_free char *text = report_of(&a, &b);

	cr_expect_not_null(
		strstr(text,
		       "Collectives of process 101 ran on for 1.000 ms behind its last step."),
		"%s", text);
	synth__free(&a);
	synth__free(&b);
}

/* ---- the finding ---- */

/* Steps of 100 ms: these phases, and then a collective in which the rank waits for the others. */
static struct synth rank_that(const char *meta, const char *summary, size_t cnt,
			      const struct step_plan *steps)
{
	struct job j = job__with(meta);

	for (size_t i = 0; i < cnt; i++) {
		struct step_plan p = steps[i];
		const uint64_t at = 100 * i * MS, ready = at + step_plan__ms(&p) * MS;

		p.total = 100;
		job__begin_step(&j, at, &p);
		job__launch(&j, "cudaLaunchKernel", CAT_KERNEL, "ncclDevKernel_AllReduce_Sum_f32",
			    ready, ready + 1000, ready, at + 100 * MS, 0);
		synth__step(&j.s, i, at, at + 100 * MS);
	}
	synth__open(&j.s, summary);
	return j.s;
}

/* Returns the findings of rank 0, which behaves normally, and of rank 1, which does this. The table
 * is freed with the report. */
static json_t *findings_of(const char *summary, size_t cnt, const struct step_plan *steps,
			   json_t **report)
{
	const struct step_plan usual = {.loader = 2, .forward = 20, .backward = 20, .optimizer = 8};
	auto_free struct step_plan *all = calloc(cnt, sizeof(*all));
	auto_free char *text = NULL;
	struct synth a, b;

	for (size_t i = 0; i < cnt; i++)
		all[i] = usual;
	a = rank_that(first, "{}", cnt, all);
	b = rank_that(second, summary, cnt, steps);
	text = report_as(TABLE_JSON, &a, &b);
	*report = json_loads(text, 0, NULL);
	synth__free(&a);
	synth__free(&b);
	return json_object_get(*report, "findings");
}

static void expect_straggler(const struct step_plan *step, const char *what, const char *evidence,
			     const char *next)
{
	const struct step_plan steps[] = {*step, *step, *step, *step};
	json_t *report, *findings = findings_of("{}", ARRAY_SIZE(steps), steps, &report);
	const json_t *row = json_array_get(json_object_get(findings, "rows"), 0);

	cr_assert_str_eq(json_string_value(json_object_get(row, "rule")), "straggler");
	cr_expect_str_eq(json_string_value(json_object_get(row, "finding")), what);
	cr_expect_not_null(strstr(json_string_value(json_object_get(row, "evidence")), evidence),
			   "%s", json_string_value(json_object_get(row, "evidence")));
	cr_expect_not_null(strstr(json_string_value(json_object_get(row, "next")), next), "%s",
			   json_string_value(json_object_get(row, "next")));
	cr_expect_eq(json_integer_value(json_object_get(row, "cost_ns")),
		     (json_int_t)(step_plan__ms(step) - 50) * 1000000);
	json_decref(report);
}

static void expect_silence(const char *summary, size_t cnt, const struct step_plan *steps,
			   const char *note)
{
	json_t *report, *findings = findings_of(summary, cnt, steps, &report);
	const json_t *notes = json_object_get(findings, "notes");

	cr_assert_not_null(findings);
	cr_expect_eq(json_array_size(json_object_get(findings, "rows")), 0);
	cr_assert_eq(json_array_size(notes), 1);
	cr_expect_str_eq(json_string_value(json_array_get(notes, 0)), note);
	json_decref(report);
}

Test(report_job, a_rank_whose_loader_is_slow_is_found)
{
	expect_straggler(
		&(struct step_plan){.loader = 62, .forward = 10, .backward = 10, .optimizer = 8},
		"The other rank waits 40 % of a step for rank 1, because of its Dataloader.",
		"rank 1 is in collectives for 10.00 ms of a step, the other for 50.00 ms; its "
		"Dataloader takes 62.00 ms, the others' 2.000 ms; its own report begins: The step "
		"waits 62 % of its time for the data loader.",
		"give the loader worker processes (num_workers)");
}

Test(report_job, a_rank_that_computes_longer_is_found)
{
	expect_straggler(
		&(struct step_plan){.loader = 2, .forward = 20, .backward = 50, .optimizer = 8},
		"The other rank waits 30 % of a step for rank 1, because of its Backward.",
		"its Backward takes 50.00 ms, the others' 20.00 ms", "uneven batches");
}

Test(report_job, a_rank_that_is_slower_in_each_phase_is_found)
{
	expect_straggler(
		&(struct step_plan){
			.loader = 5, .forward = 23, .backward = 23, .optimizer = 11, .total = 65},
		"The other rank waits 15 % of a step for rank 1.",
		"the other for 50.00 ms; no phase of it explains that", "comes later");
}

Test(report_job, a_rank_that_does_something_alone_is_found)
{
	expect_straggler(
		&(struct step_plan){
			.loader = 2, .forward = 20, .backward = 20, .optimizer = 8, .total = 70},
		"The other rank waits 20 % of a step for rank 1, because of its time outside the "
		"phases.",
		"its time outside the phases takes 20.00 ms, the others' 0 ns", "an evaluation");
}

/* Ranks of one job in which nobody waits: */
#define SAME {.loader = 2, .forward = 20, .backward = 20, .optimizer = 8}
static const struct step_plan same[] = {SAME, SAME, SAME, SAME, SAME, SAME};

Test(report_job, of_healthy_ranks_none_is_found)
{
	expect_silence("{}", ARRAY_SIZE(same), same,
		       "No rule found anything: no rank makes the others wait for more than 5 % of "
		       "a step.");
}

Test(report_job, a_rank_that_was_late_once_may_have_been_so_by_chance)
{
	struct step_plan steps[ARRAY_SIZE(same)];

	memcpy(steps, same, sizeof(same));
	steps[3].forward = 65;
	expect_silence("{}", ARRAY_SIZE(steps), steps,
		       "No rule found anything: that the others wait 8 % of a step for rank 1 may "
		       "be chance in 6 steps.");
}

Test(report_job, three_steps_are_too_few_to_be_sure)
{
	const struct step_plan late = {.loader = 42, .forward = 20, .backward = 20, .optimizer = 8};
	const struct step_plan steps[] = {late, late, late};

	expect_silence("{}", ARRAY_SIZE(steps), steps,
		       "No rule found anything: that the others wait 40 % of a step for rank 1 may "
		       "be chance in 3 steps.");
}

Test(report_job, nothing_is_concluded_where_events_were_lost)
{
	const struct step_plan late = {.loader = 42, .forward = 20, .backward = 20, .optimizer = 8};
	const struct step_plan steps[] = {late, late, late, late};

	expect_silence("{\"loss\": {\"ring\": 1000}}", ARRAY_SIZE(steps), steps,
		       "Not judged: straggler (of a rank events are missing).");
}

Test(report_job, the_finding_has_the_columns_of_those_of_one_recording)
{
	struct synth a = rank(first, 100 * MS, 0), b = rank(second, 105 * MS, 3 * MS);
	auto_free char *text = report_of(&a, &b), *csv = report_as(TABLE_CSV, &a, &b);
	auto_free char *one = synth__tables(
		&b, "findings",
		&(const struct report_opts){.style = {.format = TABLE_CSV, .alone = true}});
	const char *head = strstr(csv, "finding,");

	cr_expect_eq(strstr(text, "What to Look at First") < strstr(text, "Ranks"), true);
	cr_expect_not_null(strstr(text, "rule: straggler]"), "%s", text);
	cr_expect_not_null(head);
	cr_expect_eq(strncmp(head, one, strcspn(one, "\n")), 0, "%s\n%s", csv, one);
	synth__free(&a);
	synth__free(&b);
}
