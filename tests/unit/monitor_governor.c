// SPDX-License-Identifier: BSD-2-Clause
/* Limits of the monitor's own: processors over ten minutes, memory, pressure on the host. */
#include "monitor/governor.h"
#include <criterion/criterion.h>
#include <math.h>

#define S 1000000000ull

static const struct governor_limits limits = {.cpu = 0.1, .memory_bytes = 1000, .pressure = 0.5};

static void add(struct governor *g, uint64_t at_s, double cpu_s)
{
	governor__add(
		g, &(struct governor_sample){.at_ns = at_s * S, .cpu_s = cpu_s, .pressure = NAN});
}

Test(governor, nothing_is_held_before_anything_is_known)
{
	const struct governor g = {.limits = limits};

	cr_expect_eq(governor__hold(&g), HOLD_NONE);
}

/* 60 s of processor time in ten minutes, also all at once. */
Test(governor, processors_are_counted_over_ten_minutes)
{
	struct governor g = {.limits = limits};

	add(&g, 0, 0);
	add(&g, 10, 59);
	cr_expect_eq(governor__hold(&g), HOLD_NONE);
	add(&g, 20, 61);
	cr_expect_eq(governor__hold(&g), HOLD_CPU);
	for (uint64_t at = 30; at <= 600; at += 10)
		add(&g, at, 61);
	cr_expect_eq(governor__hold(&g), HOLD_CPU);
	for (uint64_t at = 610; at <= 630; at += 10)
		add(&g, at, 61);
	cr_expect_eq(governor__hold(&g), HOLD_NONE, "the first minute is long ago");
}

Test(governor, what_a_steady_load_takes_is_its_mean)
{
	struct governor over = {.limits = limits}, within = {.limits = limits};

	for (uint64_t at = 0; at < 7200; at += 10) {
		add(&over, at, 0.11 * (double)at);
		add(&within, at, 0.09 * (double)at);
	}
	cr_expect_eq(governor__hold(&over), HOLD_CPU);
	cr_expect_eq(governor__hold(&within), HOLD_NONE);
}

/* Each window takes a sample. Samples that are close together must not push old ones out. */
Test(governor, samples_that_are_near_are_one)
{
	struct governor g = {.limits = limits};

	add(&g, 0, 0);
	for (uint64_t i = 1; i <= 3000; i++)
		governor__add(&g, &(struct governor_sample){
					  .at_ns = i * S / 10, .cpu_s = 61, .pressure = NAN});
	cr_expect_eq(governor__hold(&g), HOLD_CPU, "61 s in five minutes");
}

Test(governor, memory_and_pressure)
{
	struct governor g = {.limits = limits};

	governor__add(&g, &(struct governor_sample){.memory_bytes = 1001, .pressure = NAN});
	cr_expect_eq(governor__hold(&g), HOLD_MEMORY);
	g = (struct governor){.limits = limits};
	governor__add(&g, &(struct governor_sample){.memory_bytes = 1000, .pressure = 0.51});
	cr_expect_eq(governor__hold(&g), HOLD_PRESSURE);
	g = (struct governor){.limits = limits};
	governor__add(&g, &(struct governor_sample){.memory_bytes = 1000, .pressure = 0.5});
	cr_expect_eq(governor__hold(&g), HOLD_NONE);
}

Test(governor, pressure_is_that_of_a_minute)
{
	const char *text = "some avg10=1.23 avg60=45.60 avg300=7.89 total=123456\n"
			   "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";

	cr_expect_float_eq(pressure__parse(text), 0.456, 1e-9);
	cr_expect(isnan(pressure__parse("")));
	cr_expect(isnan(pressure__parse("full avg10=0.00 avg60=0.00")));
}
