// SPDX-License-Identifier: BSD-2-Clause
/* The ranks of a job side by side. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include "analysis/job.h"
#include "common/util.h"
#include "model_synth.h"

#define MS 1000000ull

/* Four steps of 10 ms from begin on; a collective takes the last four of each, `late` ns less. */
static struct synth rank_with(const char *meta, const char *summary, uint64_t begin, uint64_t late)
{
	struct synth s = synth__new(meta);
	uint32_t stream = synth__stream(&s, 0, 7);

	for (uint64_t i = 0; i < 4; i++) {
		const uint64_t at = begin + i * 10 * MS, end = at + 10 * MS;

		synth__launch(&s, s.main, 1 + i, at, at + 1000);
		synth__kernel(&s, stream, CAT_KERNEL, "ncclDevKernel_AllReduce_Sum_f32", 1 + i,
			      end - 4 * MS + late, end);
		synth__step(&s, i, at, end);
	}
	synth__open(&s, summary);
	return s;
}

static struct synth rank(const char *meta, uint64_t begin, uint64_t late)
{
	return rank_with(meta, "{}", begin, late);
}

/* The report of two ranks; the caller frees it. */
static char *report_of(struct synth *a, struct synth *b)
{
	const char *paths[] = {a->path, b->path};
	const struct report_opts opts = {.style = {.unit = UNIT_MS, .width = 120}};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	cr_assert_eq(job__print(paths, 2, &opts, out), 0);
	fclose(out);
	return text;
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
	synth__expect_line(text, "others wait per step: 3.00 ms");
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
