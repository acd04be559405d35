// SPDX-License-Identifier: BSD-2-Clause
/* Ranks whose hosts do not wait for their devices. The devices are several steps behind. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/job/job.h"
#include "common/util.h"
#include "finding_job.h"

#define PACE_MS 20 /* time of a step, the same on all ranks */
#define CLOCK	" \"clock\": {\"monotonic_ns\": 0, \"realtime_ns\": 1000000000000}}"

static const char *const ranks[] = {
	"{\"process\": {\"pid\": 100}, \"rank\": {\"rank\": 0}," CLOCK,
	"{\"process\": {\"pid\": 101}, \"rank\": {\"rank\": 1}," CLOCK,
	"{\"process\": {\"pid\": 102}, \"rank\": {\"rank\": 2}," CLOCK,
};
/* Booted a second earlier. */
static const char elsewhere[] =
	"{\"process\": {\"pid\": 101}, \"rank\": {\"rank\": 1},"
	" \"clock\": {\"monotonic_ns\": 1000000000, \"realtime_ns\": 1000000000000}}";

struct ahead {
	uint64_t steps;
	uint64_t clock_ms;  /* how far this host's clock is ahead of the others' */
	uint64_t behind_ms; /* the device */
	uint64_t forward_ms, backward_ms;
	uint64_t blocked_ms; /* of the backward pass: a launch waits for room in the queue */
	uint64_t sleep_ms;   /* of a step */
	uint64_t compute_ms, collective_ms; /* kernels of a step; the latter ends last */
};

/* The host only launches. Its device waits for rank 1. */
static const struct ahead waits = {.steps = 12,
				   .behind_ms = 3 * PACE_MS,
				   .forward_ms = 2,
				   .backward_ms = 14,
				   .blocked_ms = 12,
				   .compute_ms = 3,
				   .collective_ms = 14};
/* The host needs all of the time. Its device has no earlier work. */
static const struct ahead late = {
	.steps = 12, .forward_ms = 2, .backward_ms = 2, .compute_ms = 3, .collective_ms = 2};

static struct synth rank_of(const char *meta, const struct ahead *p)
{
	struct job j = job__with(meta);

	for (uint64_t i = 0; i < p->steps; i++) {
		const struct step_plan plan = {0, p->forward_ms, p->backward_ms, 1, PACE_MS};
		const uint64_t at = (p->clock_ms + 100 + i * PACE_MS) * MS;
		const uint64_t launch = at + (p->forward_ms + p->backward_ms) * MS;
		const uint64_t behind = at + p->behind_ms * MS, end = behind + (PACE_MS - 1) * MS;

		job__begin_step(&j, at, &plan);
		job__launch(&j, "cudaLaunchKernel", CAT_KERNEL, "gemm", at + 1000, at + 2000,
			    behind + MS, behind + MS + p->compute_ms * MS, 0);
		job__launch(&j, "cudaLaunchKernel", CAT_KERNEL, "ncclDevKernel_AllReduce_Sum_f32",
			    launch - 5000 - p->blocked_ms * MS, launch - 1000,
			    end - p->collective_ms * MS, end, 0);
		if (p->sleep_ms)
			job__sched_for(&j, j.s.main, i, SCHED_BLOCKED, "clock_nanosleep",
				       p->sleep_ms);
		job__sched(&j, j.s.main, i, SCHED_RUNNABLE, 1);
		synth__step(&j.s, i, at, at + PACE_MS * MS);
	}
	synth__open(&j.s, "{}");
	return j.s;
}

/* The report of these ranks, of which one may be on another host. */
static json_t *report_of(size_t cnt, const struct ahead *const *each)
{
	static const struct report_opts opts = {.style = {.format = TABLE_JSON}};
	struct synth s[ARRAY_SIZE(ranks)];
	const char *paths[ARRAY_SIZE(ranks)];
	auto_free char *text = NULL;
	json_t *report;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < cnt; i++) {
		s[i] = rank_of(each[i]->clock_ms ? elsewhere : ranks[i], each[i]);
		paths[i] = s[i].path;
	}
	cr_assert_eq(job__print(paths, cnt, &opts, out), 0);
	fclose(out);
	report = json_loads(text, 0, NULL);
	for (size_t i = 0; i < cnt; i++)
		synth__free(&s[i]);
	return report;
}

static json_t *report_of_two(const struct ahead *a, const struct ahead *b)
{
	return report_of(2, (const struct ahead *[]){a, b});
}

static json_int_t number(const json_t *row, const char *key)
{
	const json_t *value = json_object_get(row, key);

	cr_expect(json_is_integer(value), "%s", key);
	return json_integer_value(value);
}

static const json_t *row_of(const json_t *report, const char *table, size_t row)
{
	return json_array_get(json_object_get(json_object_get(report, table), "rows"), row);
}

/* The straggler and the finding must name the same rank, reason and time. No time may exceed the
 * step's. */
static void expect_straggler(const json_t *report, int rank, const char *phase, int wait_ms)
{
	const json_t *straggler = row_of(report, "straggler", 0);
	const json_t *finding = row_of(report, "findings", 0);
	const char *what = json_string_value(json_object_get(finding, "finding"));
	char named[40];

	snprintf(named, sizeof(named), " for rank %d, because of ", rank);
	cr_expect_eq(number(straggler, "straggler"), rank);
	cr_expect_eq(number(straggler, "others_wait_ns"), (json_int_t)wait_ms * (json_int_t)MS);
	cr_expect_float_eq(json_number_value(json_object_get(straggler, "of_step_percent")),
			   100.0 * wait_ms / PACE_MS, 0.01);
	cr_expect_str_eq(json_string_value(json_object_get(straggler, "phase")), phase);
	cr_assert_not_null(what);
	cr_expect_not_null(strstr(what, named), "%s", what);
	cr_expect_eq(number(finding, "cost_ns"), number(straggler, "others_wait_ns"));
}

static bool has_note(const json_t *report, const char *text)
{
	const json_t *notes = json_object_get(json_object_get(report, "ranks"), "notes");

	for (size_t i = 0; i < json_array_size(notes); i++)
		if (strstr(json_string_value(json_array_get(notes, i)), text))
			return true;
	return false;
}

static const char of_means[] = "The straggler is found by their mean times";

Test(report_job_ahead, the_rank_that_begins_its_collectives_last_is_the_straggler)
{
	json_t *report = report_of_two(&waits, &late);

	expect_straggler(report, 1, "Others", 12);
	cr_expect(has_note(report, "The devices are behind their hosts."));
	cr_expect(!has_note(report, of_means));
	json_decref(report);
}

static const char *text_of(const json_t *row, const char *key)
{
	return json_string_value(json_object_get(row, key));
}

Test(report_job_ahead, a_rank_that_sleeps_is_told_so)
{
	struct ahead sleeps = late;
	const json_t *finding;
	json_t *report;

	sleeps.sleep_ms = 10;
	report = report_of_two(&waits, &sleeps);
	expect_straggler(report, 1, "Others", 12);
	finding = row_of(report, "findings", 0);
	cr_expect_not_null(strstr(text_of(finding, "evidence"),
				  "its thread sleeps for 10.00 ms of a step, the others' for 0 ns"),
			   "%s", text_of(finding, "evidence"));
	cr_expect_not_null(strstr(text_of(finding, "next"), "time.sleep"));
	json_decref(report);
	sleeps.sleep_ms = 2; /* too short to explain 12 ms */
	report = report_of_two(&waits, &sleeps);
	cr_expect_null(strstr(text_of(row_of(report, "findings", 0), "evidence"), "sleeps"));
	json_decref(report);
}

Test(report_job_ahead, what_a_step_consists_of_is_the_time_of_the_step)
{
	json_t *report = report_of_two(&waits, &late);
	static const char *const parts[] = {"dataloader_ns",   "forward_ns", "backward_ns",
					    "optimization_ns", "others_ns",  "blocked_ns"};

	for (size_t i = 0; i < 2; i++) {
		json_int_t sum = 0;

		for (size_t k = 0; k < ARRAY_SIZE(parts); k++)
			sum += number(row_of(report, "ranks", i), parts[k]);
		cr_expect_eq(sum, number(row_of(report, "ranks", i), "step_ns"));
		cr_expect_leq(number(row_of(report, "ranks", i), "collectives_ns"),
			      number(row_of(report, "ranks", i), "step_ns"));
		cr_expect_eq(number(row_of(report, "ranks", i), "compute_ns"), 3 * MS);
	}
	cr_expect_eq(number(row_of(report, "ranks", 0), "backward_ns"), 2 * MS - 4000);
	json_decref(report);
}

Test(report_job_ahead, devices_that_are_never_at_the_same_step_are_compared_by_their_means)
{
	struct ahead far = waits;
	json_t *report;

	far.behind_ms = 16 * PACE_MS;
	report = report_of_two(&far, &late);
	expect_straggler(report, 1, "Others", 12);
	cr_expect(has_note(report, of_means));
	json_decref(report);
}

/* The others' pass is as long, because their launches wait for room in the queue. */
Test(report_job_ahead, a_pass_that_waits_for_the_device_does_not_hide_one_that_works)
{
	struct ahead slow = late;
	json_t *report;

	slow.backward_ms = 14;
	report = report_of_two(&waits, &slow);
	expect_straggler(report, 1, "Backward", 12);
	json_decref(report);
}

Test(report_job_ahead, a_device_that_computes_longer_is_the_reason)
{
	struct ahead slow = waits;
	json_t *report;

	slow.compute_ms = 15;
	slow.collective_ms = 2;
	report = report_of_two(&waits, &slow);
	expect_straggler(report, 1, "GPU computation", 12);
	json_decref(report);
}

Test(report_job_ahead, of_ranks_alike_none_is_named)
{
	json_t *report = report_of_two(&waits, &waits);

	cr_expect(json_is_null(json_object_get(row_of(report, "straggler", 0), "straggler")));
	cr_expect_null(row_of(report, "findings", 0));
	json_decref(report);
}

Test(report_job_ahead, of_three_ranks_one_is_named)
{
	json_t *report = report_of(3, (const struct ahead *[]){&waits, &late, &waits});

	expect_straggler(report, 1, "Others", 12);
	json_decref(report);
}

Test(report_job_ahead, hosts_with_clocks_of_their_own_end_collectives_together)
{
	struct ahead there = late;
	json_t *report;

	there.clock_ms = 1000;
	report = report_of_two(&waits, &there);
	expect_straggler(report, 1, "Others", 12);
	cr_expect(!has_note(report, of_means));
	json_decref(report);
}

/* A rank stood still before its first recorded step. Work under way then is in no step of both
 * ranks. */
Test(report_job_ahead, nobody_waits_longer_than_a_step)
{
	struct ahead still = waits;
	json_t *report;

	still.collective_ms = 3 * PACE_MS;
	report = report_of_two(&still, &late);
	cr_expect_leq(number(row_of(report, "straggler", 0), "others_wait_ns"),
		      (json_int_t)(23 * MS));
	cr_expect_leq(json_number_value(
			      json_object_get(row_of(report, "straggler", 0), "of_step_percent")),
		      100);
	json_decref(report);
}
