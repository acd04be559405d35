// SPDX-License-Identifier: BSD-2-Clause
/* Two recordings of one job: the statistical test, the tables, the limits. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "err_key.h"
#include "analysis/message_table.h"
#include "analysis/diff.h"
#include "analysis/diff/holm.h"
#include "common/err.h"
#include "common/median.h"
#include "common/util.h"
#include "model_synth.h"
#include "recording_sample.h"

TestSuite(diff);

#define MS   1000000ull
#define LONG 60 /* number of steps, which take 6 s */

Test(diff, correction_for_many_rows)
{
	double p[] = {0.04, -1, 0.01, 0.03};

	cr_assert_eq(holm__correct(p, 4), 0);
	cr_expect_float_eq(p[2], 0.03, 1e-12);
	cr_expect_float_eq(p[3], 0.06, 1e-12);
	cr_expect_float_eq(p[0], 0.06, 1e-12); /* never less than the previous one */
	cr_expect_lt(p[1], 0);
}

Test(diff, medians)
{
	uint64_t odd[] = {9, 1, 5}, even[] = {7, 1, 4, 3}, two[] = {3, 5};

	cr_expect_eq(median__of(odd, 3), 5);
	cr_expect_eq(median__of(even, 4), 3);
	cr_expect_eq(median__of(two, 2), 4);
	cr_expect_eq(median__of(two, 0), 0);
}

/* Steps of 100 ms and a little more; in each mm for so many ms, and if `other` an operator of that
 * name. */
static struct synth job_with(const char *meta, const char *summary, uint64_t cnt, uint64_t mm_ms,
			     const char *other)
{
	struct synth s = synth__new(meta);

	for (uint64_t i = 0; i < cnt; i++) {
		uint64_t at = i * 1000 * MS, step = (100 + mm_ms) * MS + i * 100000;

		if (mm_ms)
			synth__span(&s, s.main, CAT_OPERATOR, "mm", at,
				    at + mm_ms * MS + i * 10000);
		if (other)
			synth__span(&s, s.main, CAT_OPERATOR, other, at + 90 * MS, at + 91 * MS);
		synth__step(&s, i, at, at + step);
	}
	synth__open(&s, summary);
	return s;
}

static struct synth job_of(const char *meta, uint64_t cnt, uint64_t mm_ms, const char *other)
{
	return job_with(meta, "{}", cnt, mm_ms, other);
}

static struct synth job(uint64_t cnt, uint64_t mm_ms, const char *other)
{
	return job_of("{\"process\": {\"pid\": 100}}", cnt, mm_ms, other);
}

/* --detail phase, with --op or without */
static struct synth phases_of_job(const char *op)
{
	return job_of("{\"process\": {\"pid\": 100}, \"detail\": \"phase\"}", LONG, 0, op);
}

/* The comparison as text; *exceeded and *err as diff__print gives them. Frees the jobs. */
static char *compare(struct synth a, struct synth b, const char *limit, size_t *exceeded, int *err)
{
	const struct diff_opts opts = {.limits = &limit,
				       .limit_cnt = limit != NULL,
				       .style = {.unit = UNIT_MS, .width = 120}};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	*err = diff__print(a.path, b.path, &opts, out, exceeded);
	fclose(out);
	synth__free(&a);
	synth__free(&b);
	return text;
}

Test(diff, an_operator_that_became_slower)
{
	size_t exceeded;
	int err;
	char *text = compare(job(LONG, 20, "only_before"), job(LONG, 30, "only_after"), "step>5%",
			     &exceeded, &err);

	cr_assert_eq(err, 0);
	cr_expect_eq(exceeded, 1);
	synth__expect_line(text,
			   "step          122.95      132.95      8.13       0.00477  slower");
	synth__expect_line(text,
			   "mm            20.30       30.30       49.27      0.00000  slower");
	synth__expect_line(text, "only_before   1.00        -           -          -        gone");
	synth__expect_line(text, "only_after    -           1.00        -          -        new");
	free(text);
}

Test(diff, the_head_names_the_recordings_and_notes_say_why_p_is_unknown)
{
	struct synth a = job(3, 20, "only_before"), b = job(LONG, 30, NULL);
	auto_free char *before = NULL, *after = NULL;
	size_t exceeded;
	char *text;
	int err;

	cr_assert(asprintf(&before, "before: %s", a.path) > 0);
	cr_assert(asprintf(&after, "after: %s", b.path) > 0);
	text = compare(a, b, NULL, &exceeded, &err);
	cr_assert_eq(err, 0);
	synth__expect_line(text, before);
	synth__expect_line(text, "steps before: 3");
	synth__expect_line(text, after);
	synth__expect_line(text, "steps after: 60");
	synth__expect_line(text, "p is - where a recording has fewer than 4 steps, which tells "
				 "nothing of chance.");
	synth__expect_line(text, "p is - where a name is new or gone: it is in one recording "
				 "only.");
	free(text);
	text = compare(job(LONG, 20, NULL), job(LONG, 30, NULL), NULL, &exceeded, &err);
	cr_expect_null(strstr(text, "p is -"));
	free(text);
}

Test(diff, what_was_not_recorded_is_not_gone)
{
	size_t exceeded;
	int err;
	auto_free char *none =
		compare(job(LONG, 20, NULL), phases_of_job(NULL), NULL, &exceeded, &err);
	auto_free char *op =
		compare(phases_of_job("serve"), job(LONG, 20, "serve"), NULL, &exceeded, &err);

	cr_expect_null(strstr(none, "Operators"), "%s", none);
	synth__expect_line(none,
			   "The second recording is of --detail phase, which records no operators "
			   "but those of --op: no others are compared.");
	synth__expect_line(op, "mm            -           20.30       -          -");
	synth__expect_line(op, "serve         1.00        1.00        0.00       1.00000  same");
	free(compare(job(LONG, 20, NULL), phases_of_job(NULL), "operator:mm>5%", &exceeded, &err));
	cr_expect_eq(err, -EINVAL);
	EXPECT_ERR(MESSAGE_LIMIT_NOT_COMPARABLE);
}

/* mm was left out of one recording, and is estimated to take 9 ms of a step. */
static const char left_out[] = "{\"dropped_probes\": [{\"name\": \"mm\", "
			       "\"calls_per_step\": 1.0, \"avg_ns\": 9000000.0, \"steps\": 6}]}";
static const char meta[] = "{\"process\": {\"pid\": 100}}";

Test(diff, what_had_no_probe_is_estimated_and_neither_new_nor_gone)
{
	static const char note[] = "~: it had no probe in one of the recordings";
	size_t exceeded;
	int err;
	auto_free char *after =
		compare(job(LONG, 20, "only_before"), job_with(meta, left_out, LONG, 0, NULL), NULL,
			&exceeded, &err);
	auto_free char *before = compare(job_with(meta, left_out, LONG, 0, NULL),
					 job(LONG, 20, "only_after"), NULL, &exceeded, &err);

	synth__expect_line(after, "~mm           20.30       9.00        -55.65     -");
	synth__expect_line(before, "~mm           9.00        20.30       125.50     -");
	cr_expect_not_null(strstr(after, note), "%s", after);
	free(compare(job(LONG, 20, NULL), job_with(meta, left_out, LONG, 0, NULL), "operator:mm>5%",
		     &exceeded, &err));
	cr_expect_eq(err, -EINVAL);
	EXPECT_ERR(MESSAGE_LIMIT_NOT_COMPARABLE);
}

Test(diff, an_operator_without_a_probe_on_both_sides_is_there)
{
	size_t exceeded;
	int err;
	auto_free char *text =
		compare(job_with(meta, left_out, LONG, 0, NULL),
			job_with(meta, left_out, LONG, 0, NULL), NULL, &exceeded, &err);

	synth__expect_line(text, "~mm           9.00        9.00        0.00       -");
}

/* An operator that only ran inside others has no row to compare. */
Test(diff, what_is_not_estimated_has_no_verdict)
{
	static const char inner[] =
		"{\"dropped_probes\": [{\"name\": \"mm\", \"calls_per_step\": 1.0, \"avg_ns\": 9.0,"
		" \"inner_calls_per_step\": 1.0, \"inner_avg_ns\": 9.0, \"steps\": 6}]}";
	size_t exceeded;
	int err;
	auto_free char *text = compare(job(LONG, 20, "gone"), job_with(meta, inner, LONG, 0, NULL),
				       NULL, &exceeded, &err);
	const char *gone = strstr(text, "gone  "), *mm = strstr(text, "mm   ");

	synth__expect_line(text, "mm            20.30       -           -          -");
	cr_expect_not_null(strstr(text, "No verdict: it was too short to be worth a probe"), "%s",
			   text);
	cr_expect(gone && mm && gone < mm, "what is known comes first: %s", text);
}

Test(diff, a_new_operator_is_growth)
{
	static const struct {
		const char *before, *after;
		size_t exceeded;
	} cases[] = {{NULL, "extra", 1}, {"extra", NULL, 0}, {"extra", "extra", 0}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t exceeded;
		int err;

		free(compare(job(LONG, 20, cases[i].before), job(LONG, 20, cases[i].after),
			     "operator:extra>20%", &exceeded, &err));
		cr_expect_eq(err, 0);
		cr_expect_eq(exceeded, cases[i].exceeded, "%zu", i);
	}
}

Test(diff, no_difference_is_none)
{
	size_t exceeded;
	int err;
	char *text = compare(job(LONG, 20, NULL), job(LONG, 20, NULL), "step>0%", &exceeded, &err);

	cr_assert_eq(err, 0);
	cr_expect_eq(exceeded, 0);
	cr_expect_not_null(strstr(text, "same"));
	cr_expect_null(strstr(text, "slower"));
	free(text);
}

Test(diff, a_limit_below_the_change_is_exceeded_and_above_not)
{
	static const struct {
		const char *limit;
		size_t exceeded;
	} cases[] = {{"operator:mm>20%", 1}, {"operator:mm>60%", 0}, {"others>5", 1}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t exceeded;
		int err;

		free(compare(job(LONG, 20, NULL), job(LONG, 30, NULL), cases[i].limit, &exceeded,
			     &err));
		cr_expect_eq(err, 0);
		cr_expect_eq(exceeded, cases[i].exceeded, "%s", cases[i].limit);
	}
}

Test(diff, few_steps_tell_nothing)
{
	size_t exceeded;
	int err;

	free(compare(job(3, 20, NULL), job(LONG, 90, NULL), NULL, &exceeded, &err));
	cr_expect_eq(err, 0);
	free(compare(job(3, 20, NULL), job(LONG, 90, NULL), "step>5%", &exceeded, &err));
	cr_expect_eq(err, -EINVAL);
	EXPECT_ERR(MESSAGE_LIMIT_FEW_STEPS);
	free(compare(job(LONG, 20, NULL), job(0, 90, NULL), NULL, &exceeded, &err));
	cr_expect_eq(err, -EINVAL);
	EXPECT_ERR(MESSAGE_COMPARED_STEPS_MISSING);
}

Test(diff, a_damaged_recording_is_not_judged)
{
	static const char *const limit = "step>5%";
	const struct diff_opts opts = {.limits = &limit, .limit_cnt = 1};
	struct synth a = job(LONG, 20, NULL), b = job(LONG, 20, NULL);
	struct blob blob = sample__load(b.path);
	FILE *out = fopen("/dev/null", "w");
	size_t exceeded;

	cr_assert(out);
	sample__store(b.path, blob.data, blob.len - 20);
	cr_expect_eq(diff__print(a.path, b.path, &opts, out, &exceeded), -EIO);
	EXPECT_ERR(MESSAGE_LIMIT_RECORDING_INCOMPLETE);
	cr_expect_eq(diff__print(a.path, b.path, &(struct diff_opts){.style = {.width = 80}}, out,
				 &exceeded),
		     0);
	fclose(out);
	free(blob.data);
	synth__free(&a);
	synth__free(&b);
}

Test(diff, limits_that_are_none)
{
	static const char *const bad[] = {"",	       "step",	   ">5",       "step>",
					  "step>five", "step>-1%", "step>5%%", "operator:>3",
					  "step>nan%", "step>inf"};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cr_expect_eq(diff_limit__check(bad[i]), -EINVAL, "%s", bad[i]);
		EXPECT_ERR(MESSAGE_LIMIT_INVALID);
	}
	cr_expect_eq(diff_limit__check("operator:std::vector<int> >3%"), 0);
}

Test(diff, limits_may_have_blanks)
{
	static const char *const good[] = {"step > 5 %", " step>5 ", "operator: mm > 20 %",
					   "run time > 5%"};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		cr_expect_eq(diff_limit__check(good[i]), 0, "%s", good[i]);
	for (size_t i = 0; i < 3; i++) {
		size_t exceeded;
		int err;

		free(compare(job(LONG, 20, NULL), job(LONG, 40, NULL), good[i], &exceeded, &err));
		cr_expect_eq(err, 0);
		cr_expect_eq(exceeded, 1, "%s", good[i]);
	}
}

/* ---- a busy machine, several windows ---- */

/* Steps of so many us, of which the thread is ready without a processor for some. */
static struct synth job_on(uint64_t cnt, uint64_t step_us, uint64_t ready_us, const char *summary)
{
	struct synth s = synth__new(meta);

	for (uint64_t i = 0; i < cnt; i++) {
		const uint64_t at = i * 1000 * MS;
		const uint64_t ns[] = {(step_us - ready_us) * 1000, ready_us * 1000};
		const uint8_t states[] = {SCHED_RUN, SCHED_RUNNABLE};

		synth__step(&s, i, at, at + step_us * 1000);
		for (size_t k = 0; k < ARRAY_SIZE(ns); k++) {
			const struct sched_row row = {.track = s.main,
						      .step = i,
						      .state = states[k],
						      .ns = ns[k],
						      .cnt = 1};

			cr_assert_eq(recording_writer__sched(s.w, &row), 0);
		}
	}
	synth__open(&s, summary);
	return s;
}

static const char busy_cpu[] = "{\"cpu\": {\"busy_ns\": 97, \"idle_ns\": 3}}";

Test(diff, waiting_for_a_processor_is_no_slower_step)
{
	size_t exceeded;
	int err;
	char *text = compare(job_on(LONG, 100000, 0, "{}"), job_on(LONG, 150000, 50000, busy_cpu),
			     "step>5%", &exceeded, &err);

	cr_expect_eq(err, 0);
	cr_expect_eq(exceeded, 0);
	cr_expect_not_null(strstr(text, "waits for a processor"), "%s", text);
	synth__expect_line(text, "run time      100.00      100.00      0.00       1.00000  same");
	synth__expect_line(text, "others        100.00      150.00      50.00      0.00000  "
				 "busy machine");
	cr_expect_not_null(strstr(text, "ready without a processor for 33 % of their"), "%s", text);
	free(text);
	free(compare(job_on(LONG, 100000, 0, "{}"), job_on(LONG, 170000, 50000, busy_cpu),
		     "step>5%", &exceeded, &err));
	cr_expect_eq(exceeded, 1, "it runs longer, too");
}

/* Two windows of 100 steps of 0.7 ms while other processes compete: the median is 54 % slower. */
Test(diff, one_short_window_of_each_side_is_not_judged_by_its_steps)
{
	size_t exceeded;
	int err;
	char *text = compare(job_on(100, 676, 0, busy_cpu), job_on(100, 1045, 0, busy_cpu),
			     "step > 5 %", &exceeded, &err);

	cr_expect_eq(err, 0);
	cr_expect_eq(exceeded, 0);
	cr_expect_not_null(strstr(text, "same"), "%s", text);
	cr_expect_not_null(strstr(text, "several recordings of each side"), "%s", text);
	cr_expect_not_null(strstr(text, "The machine was busy in"), "%s", text);
	free(text);
}

/* Three windows of each side, of so many us a step. Limits that are exceeded. */
static size_t compare_three(const uint64_t *a_us, const uint64_t *b_us)
{
	static const char *const limit = "step>5%";
	const struct diff_opts opts = {.limits = &limit, .limit_cnt = 1};
	struct synth s[6];
	char before[400], after[400];
	FILE *out = fopen("/dev/null", "w");
	size_t exceeded;

	for (size_t i = 0; i < 3; i++) {
		s[i] = job_on(100, a_us[i], 0, "{}");
		s[3 + i] = job_on(100, b_us[i], 0, "{}");
	}
	snprintf(before, sizeof(before), "%s,%s,%s", s[0].path, s[1].path, s[2].path);
	snprintf(after, sizeof(after), "%s,%s,%s", s[3].path, s[4].path, s[5].path);
	cr_assert_eq(diff__print(before, after, &opts, out, &exceeded), 0);
	fclose(out);
	for (size_t i = 0; i < ARRAY_SIZE(s); i++)
		synth__free(&s[i]);
	return exceeded;
}

Test(diff, several_short_windows_tell_a_fifth)
{
	cr_expect_eq(compare_three((uint64_t[]){600, 606, 603}, (uint64_t[]){720, 731, 725}), 1);
	cr_expect_eq(compare_three((uint64_t[]){600, 606, 940}, (uint64_t[]){720, 601, 1000}), 0);
}
