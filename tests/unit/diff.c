// SPDX-License-Identifier: BSD-2-Clause
/* Two recordings of one job: the test behind the verdicts, the tables, the limits. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/diff.h"
#include "analysis/findings/rank_sum.h"
#include "common/err.h"
#include "common/median.h"
#include "common/util.h"
#include "model_synth.h"
#include "recording_sample.h"

TestSuite(diff);

Test(diff, p_of_a_published_example)
{
	/* The diabetics of SciPy's documentation of mannwhitneyu: U = 17, p = 0.1113. */
	const uint64_t males[] = {19, 22, 16, 29, 24}, females[] = {20, 11, 17, 12};

	cr_expect_float_eq(rank_sum__p(males, 5, females, 4), 0.11134688653, 1e-9);
	cr_expect_float_eq(rank_sum__p(females, 4, males, 5), 0.11134688653, 1e-9);
}

Test(diff, p_of_samples_that_tell_nothing)
{
	const uint64_t same[] = {5, 5, 5, 5, 5};

	cr_expect_eq(rank_sum__p(same, 5, same, 5), 1);
	cr_expect_lt(rank_sum__p(same, 3, same, 5), 0);
	cr_expect_lt(rank_sum__p(same, 5, same, 0), 0);
}

Test(diff, ties_are_fewer_ranks_apart)
{
	const uint64_t a[] = {1, 2, 2, 3}, b[] = {2, 3, 3, 4};

	/* U = 3, ties 3 of 2 and 3 of 3: variance 4*4/12 * (9 - 48/56). */
	cr_expect_float_eq(rank_sum__p(a, 4, b, 4),
			   erfc(4.5 / sqrt(16.0 / 12 * (9 - 48.0 / 56)) / sqrt(2)), 1e-12);
}

Test(diff, correction_for_many_rows)
{
	double p[] = {0.04, -1, 0.01, 0.03};

	cr_assert_eq(holm__correct(p, 4), 0);
	cr_expect_float_eq(p[2], 0.03, 1e-12);
	cr_expect_float_eq(p[3], 0.06, 1e-12);
	cr_expect_float_eq(p[0], 0.06, 1e-12); /* never less than one before it */
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

/* Steps of 100 us and a little more; in each mm for so long, and if `other` an operator of that
 * name. */
static struct synth job_with(const char *meta, const char *summary, uint64_t cnt, uint64_t mm_us,
			     const char *other)
{
	struct synth s = synth__new(meta);

	for (uint64_t i = 0; i < cnt; i++) {
		uint64_t at = i * 1000000, step = 100000 + mm_us * 1000 + i * 100;

		if (mm_us)
			synth__span(&s, s.main, CAT_OPERATOR, "mm", at, at + mm_us * 1000 + i * 10);
		if (other)
			synth__span(&s, s.main, CAT_OPERATOR, other, at + 90000, at + 91000);
		synth__step(&s, i, at, at + step);
	}
	synth__open(&s, summary);
	return s;
}

static struct synth job_of(const char *meta, uint64_t cnt, uint64_t mm_us, const char *other)
{
	return job_with(meta, "{}", cnt, mm_us, other);
}

static struct synth job(uint64_t cnt, uint64_t mm_us, const char *other)
{
	return job_of("{\"process\": {\"pid\": 100}}", cnt, mm_us, other);
}

/* --detail phase, with --op or without */
static struct synth phases_of_job(const char *op)
{
	return job_of("{\"process\": {\"pid\": 100}, \"detail\": \"phase\"}", 10, 0, op);
}

/* The comparison as text; *exceeded and *err as diff__print gives them. Frees the jobs. */
static char *compare(struct synth a, struct synth b, const char *limit, size_t *exceeded, int *err)
{
	const struct diff_opts opts = {.limits = &limit,
				       .limit_cnt = limit != NULL,
				       .style = {.unit = UNIT_US, .width = 120}};
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
	char *text = compare(job(10, 20, "only_before"), job(10, 30, "only_after"), "step>5%",
			     &exceeded, &err);

	cr_assert_eq(err, 0);
	cr_expect_eq(exceeded, 1);
	synth__expect_line(text,
			   "step          120.45      130.45      8.30       0.00037  slower");
	synth__expect_line(text,
			   "mm            20.05       30.05       49.89      0.00018  slower");
	synth__expect_line(text, "only_before   1.00        -           -          -        gone");
	synth__expect_line(text, "only_after    -           1.00        -          -        new");
	free(text);
}

Test(diff, the_head_names_the_recordings_and_notes_say_why_p_is_unknown)
{
	struct synth a = job(3, 20, "only_before"), b = job(10, 30, NULL);
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
	synth__expect_line(text, "steps after: 10");
	synth__expect_line(text, "p is - where a recording has fewer than 4 steps, which tells "
				 "nothing of chance.");
	synth__expect_line(text, "p is - where a name is new or gone: it is in one recording "
				 "only.");
	free(text);
	text = compare(job(10, 20, NULL), job(10, 30, NULL), NULL, &exceeded, &err);
	cr_expect_null(strstr(text, "p is -"));
	free(text);
}

Test(diff, what_was_not_recorded_is_not_gone)
{
	size_t exceeded;
	int err;
	auto_free char *none =
		compare(job(10, 20, NULL), phases_of_job(NULL), NULL, &exceeded, &err);
	auto_free char *op =
		compare(phases_of_job("serve"), job(10, 20, "serve"), NULL, &exceeded, &err);

	cr_expect_null(strstr(none, "Operators"), "%s", none);
	synth__expect_line(none,
			   "The second recording is of --detail phase, which records no operators "
			   "but those of --op: no others are compared.");
	synth__expect_line(op, "mm            -           20.05       -          -");
	synth__expect_line(op, "serve         1.00        1.00        0.00       1.00000  same");
	free(compare(job(10, 20, NULL), phases_of_job(NULL), "operator:mm>5%", &exceeded, &err));
	cr_expect_eq(err, -EINVAL);
	cr_expect_str_eq(err__take(err),
			 "limit 'operator:mm>5%': --detail phase did not record it; "
			 "record both alike");
}

/* mm was left out of one recording: too short. */
Test(diff, what_had_no_probe_is_neither_new_nor_gone)
{
	static const char left_out[] = "{\"dropped_probes\": [{\"name\": \"mm\", "
				       "\"calls_per_step\": 1.0, \"avg_ns\": 9.0, \"steps\": 6}]}";
	static const char meta[] = "{\"process\": {\"pid\": 100}}";
	static const char note[] =
		"No verdict: it had no probe in one of the recordings, too short";
	size_t exceeded;
	int err;
	auto_free char *after =
		compare(job(10, 20, "only_before"), job_with(meta, left_out, 10, 0, NULL), NULL,
			&exceeded, &err);
	auto_free char *before = compare(job_with(meta, left_out, 10, 0, NULL),
					 job(10, 20, "only_after"), NULL, &exceeded, &err);
	const char *gone = strstr(after, "only_before"), *mm = strstr(after, "mm   ");

	synth__expect_line(after, "mm            20.05       -           -          -");
	synth__expect_line(before, "mm            -           20.05       -          -");
	cr_expect_not_null(strstr(after, note), "%s", after);
	cr_expect(gone && mm && gone < mm, "what is known comes first: %s", after);
	free(compare(job(10, 20, NULL), job_with(meta, left_out, 10, 0, NULL), "operator:mm>5%",
		     &exceeded, &err));
	cr_expect_eq(err, -EINVAL);
	cr_expect_not_null(strstr(err__take(err), "mm>5%': it had no probe in one recording"));
}

Test(diff, no_difference_is_none)
{
	size_t exceeded;
	int err;
	char *text = compare(job(10, 20, NULL), job(10, 20, NULL), "step>0%", &exceeded, &err);

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

		free(compare(job(10, 20, NULL), job(10, 30, NULL), cases[i].limit, &exceeded,
			     &err));
		cr_expect_eq(err, 0);
		cr_expect_eq(exceeded, cases[i].exceeded, "%s", cases[i].limit);
	}
}

Test(diff, few_steps_tell_nothing)
{
	size_t exceeded;
	int err;

	free(compare(job(3, 20, NULL), job(10, 90, NULL), NULL, &exceeded, &err));
	cr_expect_eq(err, 0);
	free(compare(job(3, 20, NULL), job(10, 90, NULL), "step>5%", &exceeded, &err));
	cr_expect_eq(err, -EINVAL);
	cr_expect_not_null(strstr(err__take(err), "fewer than 4 steps"));
	free(compare(job(10, 20, NULL), job(0, 90, NULL), NULL, &exceeded, &err));
	cr_expect_eq(err, -EINVAL);
	cr_expect_not_null(strstr(err__take(err), "has no steps"));
}

Test(diff, a_damaged_recording_is_not_judged)
{
	static const char *const limit = "step>5%";
	const struct diff_opts opts = {.limits = &limit, .limit_cnt = 1};
	struct synth a = job(10, 20, NULL), b = job(10, 20, NULL);
	struct blob blob = sample__load(b.path);
	FILE *out = fopen("/dev/null", "w");
	size_t exceeded;

	cr_assert(out);
	sample__store(b.path, blob.data, blob.len - 20);
	cr_expect_eq(diff__print(a.path, b.path, &opts, out, &exceeded), -EIO);
	cr_expect_not_null(strstr(err__take(-EIO), "is cut off: no limit can be judged by it"));
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
		err__take(-EINVAL);
	}
	cr_expect_eq(diff_limit__check("operator:std::vector<int> >3%"), 0);
}
