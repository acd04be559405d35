// SPDX-License-Identifier: BSD-2-Clause
/* Tests bounds for a device's clock from the host's clock, through launches and waits. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include "device/clock_pairs.h"
#include "recording/clock_shift.h"

#define ORIGIN 1000000000000ull
#define MS     1000000ull

TestSuite(clock_bounds);

/* A device whose clock shows `ahead_ns` more, and gains: launches and waits each take 4 to 20 us.
 */
static void run_job(struct clock_bounds *b, double ahead_ns, double ppm, size_t cnt, bool waits)
{
	for (size_t i = 0; i < cnt; i++) {
		const uint64_t launch = ORIGIN + i * MS / 3,
			       begin = launch + 4000 + i * 7919 % 16000;
		const uint64_t end = begin + 100000, back = end + 4000 + i * 104729 % 16000;
		const double ahead = ahead_ns + ppm / 1e6 * (double)(begin - ORIGIN);

		clock_bounds__launched(b, begin + (uint64_t)(int64_t)ahead, launch);
		if (waits)
			clock_bounds__awaited(b, end + (uint64_t)(int64_t)ahead, back);
	}
}

static struct clock_line line_of(double ahead_ns, double ppm, size_t cnt, bool waits)
{
	struct clock_bounds *b = calloc(1, sizeof(*b));
	struct clock_line line;

	b->origin_ns = ORIGIN;
	run_job(b, ahead_ns, ppm, cnt, waits);
	line = clock_bounds__line(b);
	free(b);
	return line;
}

static void expect_error(struct clock_line line, double ahead_ns, double ppm, double t_ns,
			 double most_ns)
{
	const double told = line.shift_ns + line.slope * t_ns;
	const double right = -(ahead_ns + ppm / 1e6 * t_ns);

	cr_expect_eq(line.verdict, CLOCK_IS_OFF);
	cr_expect_leq(fabs(told - right), most_ns, "%f, not %f", told, right);
	cr_expect_leq(told - line.below_ns, right + 100);
	cr_expect_geq(told + line.above_ns, right - 100);
}

Test(clock_bounds, a_clock_that_agrees_stays)
{
	for (int ns = -4000; ns <= 4000; ns += 500)
		cr_expect_eq(line_of(ns, 0, 3000, true).verdict, CLOCK_AGREES);
	cr_expect_eq(line_of(0, 0, 0, true).verdict, CLOCK_AGREES);
}

Test(clock_bounds, an_offset_is_found_on_both_sides)
{
	static const double offsets[] = {-5e9, -3e6, -50000, 50000, 3e6, 5e9};

	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		const struct clock_line line = line_of(offsets[i], 0, 3000, true);

		expect_error(line, offsets[i], 0, 0, 5000);
		cr_expect_eq(line.slope, 0);
	}
}

/* The device's clock is behind, so work seems to begin before its launch. There is no other
 * bound. */
Test(clock_bounds, without_waits_one_side_is_found)
{
	const struct clock_line line = line_of(-300000, 0, 3000, false);

	expect_error(line, -300000, 0, 0, 10000);
	cr_expect(isinf(line.above_ns));
	cr_expect_eq(line_of(300000, 0, 3000, false).verdict, CLOCK_AGREES, "nothing tells");
}

Test(clock_bounds, a_drift_is_followed)
{
	static const double ppm[] = {-400, -60, 60, 400};

	for (size_t i = 0; i < sizeof(ppm) / sizeof(*ppm); i++)
		for (int far = 0; far < 2; far++) {
			const struct clock_line line = line_of(far * 1e6, ppm[i], 6000, true);

			for (double t = 0; t <= 2e9; t += 1e9)
				expect_error(line, far * 1e6, ppm[i], t, 10000);
		}
}

/* For a window of an hour only a hull is kept. */
Test(clock_bounds, a_long_window_needs_no_more)
{
	const struct clock_line line = line_of(20000, 20, 2000000, true);

	for (double t = 0; t < 6e11; t += 1e11)
		expect_error(line, 20000, 20, t, 20000);
}

Test(clock_bounds, a_jump_is_not_corrected)
{
	struct clock_bounds *b = calloc(1, sizeof(*b));
	struct clock_line line;

	b->origin_ns = ORIGIN;
	for (int i = 0; i < 3; i++) {
		b->origin_ns = ORIGIN - (uint64_t)i * 300 * MS;
		run_job(b, i == 1 ? 2e6 : 0, 0, 600, true);
	}
	line = clock_bounds__line(b);
	cr_expect_eq(line.verdict, CLOCK_IS_WILD);
	cr_expect_float_eq(line.wild_ns, 1e6, 20000);
	free(b);
}

/* Launches matched to wrong work: two pairs among many must not change the result. */
Test(clock_bounds, two_pairs_are_no_proof)
{
	struct clock_bounds *b = calloc(1, sizeof(*b));

	b->origin_ns = ORIGIN;
	run_job(b, 0, 0, 3000, true);
	clock_bounds__launched(b, ORIGIN + 5 * MS, ORIGIN + 9 * MS);
	clock_bounds__awaited(b, ORIGIN + 25 * MS, ORIGIN + 21 * MS);
	cr_expect_eq(clock_bounds__line(b).verdict, CLOCK_AGREES);
	free(b);
}

/* ---- pairs ---- */

static struct shim_call call_at(uint32_t id, uint64_t begin_ns, uint64_t end_ns)
{
	return (struct shim_call){.begin_ns = begin_ns, .end_ns = end_ns, .correlation = id};
}

static struct clock_line found[2];

static void take_line(void *ctx, uint32_t device, uint64_t origin_ns, const struct clock_line *line)
{
	cr_assert(device < 2 && origin_ns == ORIGIN);
	found[device] = *line;
}

/* Two devices in turn, each waited for; device 1's clock is ahead by 2 ms. One thread waits for a
 * device that it launched nothing on, which is done at once. */
static void feed(struct clock_pairs *p, bool late_waits)
{
	for (uint32_t i = 0; i < 50; i++) {
		const uint64_t t = ORIGIN + i * MS, ahead = i % 2 ? 2 * MS : 0;
		const uint32_t id = 10 * i, dev = i % 2;
		const struct shim_call launch = call_at(id, t, t + 3000);
		const struct shim_call other = call_at(id + 1, t + 4000, t + 5000);
		const struct shim_call wait = call_at(id + 2, t + 10000, t + 120000);
		const struct shim_activity work = {
			.correlation = id, .device = dev, .context = dev + 1, .stream = 7};

		clock_pairs__call(p, &launch, false);
		clock_pairs__call(p, &other, false);
		clock_pairs__call(p, &wait, false);
		if (late_waits)
			clock_pairs__work(p, &work, t + 9000 + ahead, t + 109000 + ahead, false);
		clock_pairs__wait(p, id + 1, id + 1, 2 - dev, CLOCK_ALL_STREAMS);
		clock_pairs__wait(p, id + 2, id + 2, dev + 1, i % 3 ? 7 : CLOCK_ALL_STREAMS);
		if (!late_waits)
			clock_pairs__work(p, &work, t + 9000 + ahead, t + 109000 + ahead, false);
		if (i % 10 == 9)
			clock_pairs__fit(p);
	}
}

Test(clock_bounds, waits_are_joined_by_context_in_either_order)
{
	struct clock_pairs *p = clock_pairs__new();

	for (int late = 0; late < 2; late++) {
		clock_pairs__open(p, ORIGIN);
		feed(p, late);
		clock_pairs__lines(p, take_line, NULL);
		cr_expect_eq(found[0].verdict, CLOCK_AGREES);
		expect_error(found[1], 2e6, 0, 0, 10000);
	}
	clock_pairs__free(p);
}

Test(clock_bounds, a_copy_to_the_host_ends_before_its_call)
{
	struct clock_pairs *p = clock_pairs__new();

	clock_pairs__open(p, ORIGIN);
	for (uint32_t i = 0; i < 10; i++) {
		const uint64_t t = ORIGIN + i * MS;
		const struct shim_call copy = call_at(i, t, t + 50000);
		const struct shim_activity work = {.correlation = i, .context = 1};

		clock_pairs__call(p, &copy, true);
		clock_pairs__work(p, &work, t + 510000, t + 540000, true);
	}
	clock_pairs__lines(p, take_line, NULL);
	expect_error(found[0], 500000, 0, 0, 10000);
	cr_expect_eq(clock_pairs__begin_ns(p, 3), ORIGIN + 3 * MS);
	cr_expect_eq(clock_pairs__begin_ns(p, 77), 0);
	clock_pairs__free(p);
}

/* ---- as it is read ---- */

Test(clock_bounds, a_reader_corrects_both_ends)
{
	json_t *summary = json_loads(
		"{\"device\": {\"clocks\": [{\"device\": 3, \"at_ns\": 1000, \"shift_ns\": -500, "
		"\"ppm\": 1000.0}, {\"device\": 4, \"jumps_ns\": 7}, {\"device\": 5, \"at_ns\": 0, "
		"\"shift_ns\": 1, \"ppm\": 1e9}]}}",
		0, NULL);
	struct event e = {.ts_ns = 2001000, .dur_ns = 1000000};
	struct event impossible = {.ts_ns = UINT64_MAX, .dur_ns = 7};
	struct clock_shifts shifts = {};

	cr_assert_eq(clock_shifts__load(&shifts, summary), 0);
	cr_expect_null(clock_shifts__find(&shifts, 0));
	cr_expect_null(clock_shifts__find(&shifts, 4), "no correction");
	cr_expect_null(clock_shifts__find(&shifts, 5), "nothing drifts so");
	clock_shift__apply(clock_shifts__find(&shifts, 3), &e);
	cr_expect_eq(e.ts_ns, 2001000 - 500 + 2000);
	cr_expect_eq(e.dur_ns, 1000000 + 1000);
	clock_shift__apply(clock_shifts__find(&shifts, 3), &impossible);
	cr_expect_eq(impossible.ts_ns, UINT64_MAX);
	free(shifts.items);
	json_decref(summary);
}
