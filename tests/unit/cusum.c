// SPDX-License-Identifier: BSD-2-Clause
/* The monitor's alarm of longer steps, on simulated jobs: windows of 20 steps, steps that depend on
 * the one before, a slow one in 100, others at random, and a load of the host that drifts. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include "monitor/cusum.h"

TestSuite(cusum, .timeout = 60);

#define STEPS 20
#define JOBS  200
#define AT    160 /* the window from which on steps are longer */

static uint64_t state;

static double uniform(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return ((double)(state * 0x2545F4914F6CDD1Dull >> 11) + 0.5) / 0x1p53;
}

static double normal(void) /* Box and Muller */
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double window_median(double shift, double load)
{
	double steps[STEPS], e = normal();
	const int phase = (int)(uniform() * 100);

	for (int i = 0; i < STEPS; i++) {
		e = 0.5 * e + sqrt(0.75) * normal();
		steps[i] = 0.01 * exp(0.08 * e) * shift * load;
		if ((i + phase) % 100 == 0)
			steps[i] *= 2.5;
		if (uniform() < 0.004)
			steps[i] *= 5;
	}
	qsort(steps, STEPS, sizeof(*steps), by_size);
	return (steps[STEPS / 2 - 1] + steps[STEPS / 2]) / 2;
}

/* The window in which the alarm was raised, 0: in none of so many. */
static int alarm_of_job(double shift, int windows)
{
	struct cusum c = {0};
	double load = 0;

	for (int i = 0; i < windows; i++) {
		load = 0.8 * load + 0.2 * 0.06 * normal();
		cusum__add(&c, window_median(i >= AT ? shift : 1, exp(load)));
		if (c.alarm)
			return i;
	}
	return 0;
}

Test(cusum, raises_few_false_alarms)
{
	int alarms = 0;

	state = 2;
	for (int i = 0; i < JOBS; i++)
		alarms += alarm_of_job(1, CUSUM_WARM_UP + 100) != 0;
	cr_expect_leq(alarms, JOBS * 4 / 100, "%d of %d jobs within 100 windows", alarms, JOBS);
}

static void check_found(double shift, int least_percent, int median_delay)
{
	double delays[JOBS];
	int found = 0, quiet = 0;

	state = 3;
	for (int i = 0; i < JOBS; i++) {
		const int at = alarm_of_job(shift, AT + 140);

		quiet += !at || at >= AT; /* without a false alarm before */
		if (at >= AT)
			delays[found++] = at - AT;
	}
	cr_expect_geq(found * 100, quiet * least_percent, "x%.2f: %d of %d jobs", shift, found,
		      quiet);
	qsort(delays, (size_t)found, sizeof(*delays), by_size);
	cr_expect_leq(delays[found / 2], median_delay, "x%.2f: after %.0f windows", shift,
		      delays[found / 2]);
}

Test(cusum, finds_five_percent)
{
	check_found(1.05, 90, 40);
}

Test(cusum, finds_ten_percent_soon)
{
	check_found(1.10, 99, 15);
}

static bool add_some(struct cusum *c, double seconds, int cnt)
{
	bool changed = false;

	for (int i = 0; i < cnt; i++)
		changed |= cusum__add(c, seconds * (i % 2 ? 1.002 : 0.998));
	return changed;
}

Test(cusum, an_alarm_clears_itself)
{
	struct cusum c = {0};

	add_some(&c, 0.01, CUSUM_WARM_UP - 1);
	cr_expect_not(cusum__is_warm(&c));
	add_some(&c, 0.01, 1);
	cr_expect(cusum__is_warm(&c));
	cr_expect_not(add_some(&c, 0.01, 100));
	cr_expect(add_some(&c, 0.012, 30));
	cr_expect(c.alarm);
	cr_expect_float_eq(cusum__change(&c), 0.2, 0.01);
	cr_expect(add_some(&c, 0.01, 30));
	cr_expect_not(c.alarm);
}

Test(cusum, shorter_steps_and_short_bursts_are_none)
{
	struct cusum c = {0};

	add_some(&c, 0.01, CUSUM_WARM_UP);
	cr_expect_not(add_some(&c, 0.005, 50));
	cr_expect_not(add_some(&c, 0.02, CUSUM_PERSIST - 1));
	add_some(&c, 0.01, 20);
	cr_expect_not(c.alarm);
}

Test(cusum, no_time_is_no_window)
{
	struct cusum c = {0};

	cusum__add(&c, 0);
	cusum__add(&c, NAN);
	cusum__add(&c, -1);
	cr_expect_eq(c.warm_up_cnt, 0);
}
