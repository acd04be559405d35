// SPDX-License-Identifier: BSD-2-Clause
/*
 * False alarms and power of the test behind diff: windows of jobs on machines that are faster or
 * slower for seconds at a time, lose processors to others, and drift. Seeds are fixed.
 */
#include "analysis/diff/change.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/util.h"

TestSuite(change);

#define PAIRS 400
#define STEPS 400

Test(change, p_of_students_t)
{
	/* Percentiles of the t distribution as tables print them. */
	cr_expect_float_eq(student_t__p(12.7062, 1), 0.05, 1e-5);
	cr_expect_float_eq(student_t__p(4.30265, 2), 0.05, 1e-5);
	cr_expect_float_eq(student_t__p(2.77645, 4), 0.05, 1e-5);
	cr_expect_float_eq(student_t__p(-2.04227, 30), 0.05, 1e-5);
	cr_expect_float_eq(student_t__p(3.16927, 10), 0.01, 1e-5);
	cr_expect_float_eq(student_t__p(1.95996, 1e7), 0.05, 1e-5);
	cr_expect_float_eq(student_t__p(0, 5), 1, 1e-9);
}

/* ---- machines ---- */

struct machine {
	double speed_sd;    /* standard deviation of the logarithm of its speed */
	double persists_ns; /* how long a speed stays about the same */
	double busy_share;  /* the share of time in which other processes want the processor */
	double busy_ns;	    /* ... for so long at once */
	double drift;	    /* of the logarithm, over a window */
	double own_sd;	    /* of a step, beside all that */
	double step_ns;
	size_t steps;
};

static uint64_t state;

static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

struct window {
	uint64_t ns[STEPS];
	struct change_window w;
};

/* One window, long after the one before. more: what its steps take in addition, 0.2 is 20 %. */
static void simulate(const struct machine *m, double more, struct window *out)
{
	const bool begins_busy = uniform() < m->busy_share;
	double speed = m->speed_sd * normal(), left_ns = -m->busy_ns * log(uniform());
	double lost = 0, all = 0;
	bool busy = begins_busy;

	for (size_t i = 0; i < m->steps; i++) {
		const double at = (double)i / (double)m->steps;
		const double stays = exp(-m->step_ns / m->persists_ns);
		double ns, whole;

		speed = stays * speed + sqrt(1 - stays * stays) * m->speed_sd * normal();
		ns = m->step_ns * (1 + more) * exp(speed + m->drift * at + m->own_sd * normal());
		/* Half of the processor while other processes want it too. */
		whole = busy ? 2 * ns : ns;
		left_ns -= whole;
		if (left_ns < 0 && m->busy_share > 0) {
			busy = !busy;
			left_ns = -m->busy_ns * log(uniform()) *
				  (busy ? 1 : (1 - m->busy_share) / m->busy_share);
		}
		out->ns[i] = (uint64_t)whole;
		lost += whole - ns;
		all += whole;
	}
	out->w = (struct change_window){out->ns, out->ns, m->steps, lost / all};
}

/* Makes PAIRS pairs of sides with so many windows each. Returns the share that is reported as
 * changed. */
static double told(const struct machine *m, size_t windows, double more)
{
	struct window *a = calloc(2 * windows, sizeof(*a)), *b = a + windows;
	struct change_window *list = calloc(2 * windows, sizeof(*list));
	size_t cnt = 0;

	cr_assert(a && list);
	for (int i = 0; i < PAIRS; i++) {
		struct change change;

		for (size_t k = 0; k < windows; k++) {
			simulate(m, 0, &a[k]);
			simulate(m, more, &b[k]);
			list[k] = a[k].w;
			list[windows + k] = b[k].w;
		}
		cr_assert_eq(change__test(&(struct change_side){list, windows},
					  &(struct change_side){list + windows, windows}, &change),
			     0);
		cnt += change.p < 0.05;
	}
	free(a);
	free(list);
	return (double)cnt / PAIRS;
}

/* Steps of 0.6 ms in windows of 60 ms, as measured on a shared virtual machine. */
static const struct machine shared_short = {
	.speed_sd = 0.2, .persists_ns = 2e9, .own_sd = 0.03, .step_ns = 6e5, .steps = 100};
static const struct machine busy_short = {.speed_sd = 0.2,
					  .persists_ns = 2e9,
					  .busy_share = 0.6,
					  .busy_ns = 5e7,
					  .own_sd = 0.03,
					  .step_ns = 6e5,
					  .steps = 100};
static const struct machine busy_long = {.speed_sd = 0.1,
					 .persists_ns = 2e9,
					 .busy_share = 0.5,
					 .busy_ns = 2e9,
					 .drift = 0.05,
					 .own_sd = 0.03,
					 .step_ns = 6e7,
					 .steps = 400};
static const struct machine quiet_short = {
	.speed_sd = 0.01, .persists_ns = 1e9, .own_sd = 0.02, .step_ns = 6e5, .steps = 100};
static const struct machine quiet_long = {.speed_sd = 0.01,
					  .persists_ns = 1e9,
					  .drift = 0.01,
					  .own_sd = 0.02,
					  .step_ns = 6e7,
					  .steps = 400};

Test(change, an_unchanged_job_is_different_in_5_percent_of_pairs_at_most)
{
	static const struct {
		const char *name;
		const struct machine *m;
		size_t windows;
	} cases[] = {
		{"shared, one short window", &shared_short, 1},
		{"shared, three short windows", &shared_short, 3},
		{"busy, one short window", &busy_short, 1},
		{"busy, two short windows", &busy_short, 2},
		{"busy, three short windows", &busy_short, 3},
		{"busy, five short windows", &busy_short, 5},
		{"busy, one long window", &busy_long, 1},
		{"busy, three long windows", &busy_long, 3},
		{"quiet, one short window", &quiet_short, 1},
		{"quiet, one long window", &quiet_long, 1},
		{"quiet, three short windows", &quiet_short, 3},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double share;

		state = 88172645463325252ull + i;
		share = told(cases[i].m, cases[i].windows, 0);
		cr_expect_leq(share, 0.05, "%s: %.3f", cases[i].name, share);
	}
}

Test(change, a_fifth_more_is_found)
{
	state = 123456789;
	cr_expect_geq(told(&quiet_short, 3, 0.2), 0.95);
	cr_expect_geq(told(&quiet_long, 1, 0.2), 0.95);
	cr_expect_geq(told(&quiet_long, 3, 0.2), 0.95);
}

/* One short window of each side does not show how the machine varies. Only a doubled time is
 * reported. */
Test(change, one_short_window_tells_large_changes)
{
	state = 362436069;
	cr_expect_leq(told(&quiet_short, 1, 0.2), 0.05);
	cr_expect_geq(told(&quiet_short, 1, 1.4), 0.95);
	cr_expect_geq(told(&shared_short, 5, 1.0), 0.8);
}

static struct change of_constant(uint64_t a_ns, uint64_t b_ns, size_t steps)
{
	uint64_t a[16], b[16];
	struct change_window x = {a, a, steps, 0}, y = {b, b, steps, 0};
	struct change change;

	for (size_t i = 0; i < 16; i++) {
		a[i] = a_ns;
		b[i] = b_ns;
	}
	cr_assert_eq(
		change__test(&(struct change_side){&x, 1}, &(struct change_side){&y, 1}, &change),
		0);
	return change;
}

Test(change, what_tells_nothing)
{
	cr_expect_lt(of_constant(1000, 2000, 3).p, 0);
	cr_expect_eq(of_constant(1000, 1000, 16).p, 1);
	cr_expect_eq(of_constant(1000000, 1019000, 16).p, 1); /* below the floor */
	/* 16 steps of 2 s are blocks, which do not vary at all. */
	cr_expect_lt(of_constant(2000000000, 2100000000, 16).p, 0.05);
	cr_expect_float_eq(of_constant(2000000000, 2100000000, 16).least, 0.02, 0.01);
}

/* A host that runs ahead of its device: it waits in every 16th step. The mean step is 160 ns. */
static void fill_ahead(uint64_t *ns, size_t cnt, uint64_t mean)
{
	for (size_t i = 0; i < cnt; i++)
		ns[i] = i % 16 ? 20 : 16 * mean - 15 * 20;
}

Test(change, steps_of_a_host_that_runs_ahead_are_uneven)
{
	uint64_t ns[320];
	bool uneven;

	fill_ahead(ns, 320, 160);
	cr_assert_eq(change__is_uneven(ns, 320, &uneven), 0);
	cr_expect(uneven);
	for (size_t i = 0; i < 320; i++)
		ns[i] = 100 + i % 7;
	ns[3] = 1000000;
	cr_assert_eq(change__is_uneven(ns, 320, &uneven), 0);
	cr_expect_not(uneven, "a single long step");
}

Test(change, kernels_half_as_long_again_are_told_from_one_short_window_of_each_side)
{
	uint64_t before[320], after[320];
	const struct change_window x = {before, before, 320, 0.3}, y = {after, after, 320, 0.3};
	struct change change;

	fill_ahead(before, 320, 160);
	fill_ahead(after, 320, 240);
	for (int on_device = 0; on_device < 2; on_device++) {
		cr_assert_eq(change__test(&(struct change_side){&x, 1, true, on_device},
					  &(struct change_side){&y, 1, true, on_device}, &change),
			     0);
		cr_expect_eq(change.p < 0.05, on_device);
	}
	cr_assert_eq(change__test(&(struct change_side){&x, 1, false, true},
				  &(struct change_side){&y, 1, false, true}, &change),
		     0);
	cr_expect(change.p == 1, "the medians are the same");
}
