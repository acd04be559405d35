// SPDX-License-Identifier: BSD-2-Clause
/* Tests the time that probes add to a step, from steps with and without probes, and the report of
 * it. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "capture/arming/span_cost.h"
#include "capture/arming/step_cost.h"
#include "model_synth.h"

#define US 1000

/* Steps of `us`. Every other one is 2 us longer. From step `slow` on, all are 30 us longer. */
static struct step_runs steps(size_t cnt, uint64_t us, size_t slow)
{
	struct step_runs runs = {.cnt = cnt};

	for (size_t i = 0; i < cnt; i++)
		runs.ns[i] = (us + 2 * (i % 2) + (i >= slow ? 30 : 0)) * US;
	return runs;
}

Test(step_cost, is_the_difference_of_steady_steps)
{
	const struct step_runs with = steps(41, 140, 41), without = steps(41, 100, 41);
	struct step_difference d;

	cr_assert(zero(int, step_cost__difference(&with, &without, &d)));
	cr_expect(epsilon_eq(dbl, d.added_ns, 40 * US, 1));
	cr_expect(d.low_ns > 35 * US && d.high_ns < 45 * US, "%f to %f", d.low_ns, d.high_ns);
}

Test(step_cost, is_less_sure_where_the_machine_became_slower)
{
	const struct step_runs with = steps(40, 140, 20), without = steps(40, 100, 41);
	struct step_difference d;

	cr_assert(zero(int, step_cost__difference(&with, &without, &d)));
	cr_expect(d.low_ns < 40 * US && d.high_ns > 70 * US, "%f to %f", d.low_ns, d.high_ns);
}

Test(step_cost, needs_five_steps)
{
	const struct step_runs with = steps(40, 140, 41), without = steps(4, 100, 4);
	struct step_difference d;

	cr_expect(eq(int, step_cost__difference(&with, &without, &d), -ENODATA));
}

Test(step_cost, a_hit_is_dearer_the_more_the_job_does_between)
{
	const struct probe_cost cost = {.span_total_ns = 1600, .cold_hit_ns = 3000};
	double before = 0;

	for (uint64_t apart_ns = 0; apart_ns < 1000 * US; apart_ns = 2 * apart_ns + 500) {
		const struct hit_price p = span_cost__hit(&cost, apart_ns);

		cr_expect(p.likely_ns >= p.least_ns && p.likely_ns <= p.most_ns);
		cr_expect(p.likely_ns > before, "%f at %lu", p.likely_ns, (unsigned long)apart_ns);
		before = p.likely_ns;
	}
	cr_expect(epsilon_eq(dbl, span_cost__hit(&cost, 0).likely_ns, 800, 1));
	/* Hits that lie far apart find empty caches and cost accordingly. Neither end of the
	 * interval is the figure. */
	cr_expect_gt(span_cost__hit(&cost, 1000000000).most_ns,
		     1.2 * span_cost__hit(&cost, 1000000000).likely_ns);
	cr_expect(epsilon_eq(dbl, before, 3000, 1));
}

/* ---- the report ---- */

/* One step of 1000 us, 10 hits that are estimated to be 20 us, 10 to 30. */
static char *report(const char *measured)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}, \"detail\": \"operator\"}");
	char summary[512], *text;

	synth__span(&s, s.main, CAT_OPERATOR, "aten::mm", 20 * US, 60 * US);
	synth__step(&s, 0, 0, 1000 * US);
	snprintf(summary, sizeof(summary),
		 "{\"windows\": [{\"begin_ns\": 0, \"end_ns\": 1000000}],"
		 " \"cost\": {\"hits\": 10, \"probe_ns\": 20000, \"probe_low_ns\": 10000,"
		 " \"probe_high_ns\": 30000, \"run_ns\": 500000, \"loader_cpu_ns\": 1%s}}",
		 measured);
	synth__open(&s, summary);
	text = synth__report(&s,
			     &(struct report_opts){.style.unit = UNIT_US, .tables = "overview"});
	synth__free(&s);
	return text;
}

#define MEASURED(added, low, high)                                                                 \
	", \"measured\": {\"with_steps\": 9, \"without_steps\": 9, \"added_ns\": " added           \
	", \"low_ns\": " low ", \"high_ns\": " high "}"

static void expect(const char *measured, size_t cnt, const char *const *lines)
{
	char *text = report(measured);

	for (size_t i = 0; i < cnt; i++)
		synth__expect_line(text, lines[i]);
	free(text);
}

#define EXPECT(measured, ...)                                                                      \
	do {                                                                                       \
		static const char *const lines[] = {__VA_ARGS__};                                  \
		expect(measured, sizeof(lines) / sizeof(*lines), lines);                           \
	} while (0)

Test(step_cost, the_estimate_has_an_interval)
{
	EXPECT("", "estimated added time per step: 20.00 us", "at least, all caches warm: 10.00 us",
	       "at most, all caches cold: 30.00 us", "estimated added time: 4.00 %",
	       "at least: 2.00 %", "at most: 6.00 %");
}

/* Both are equally sure of theirs. */
Test(step_cost, the_share_weighs_estimate_and_measurement)
{
	EXPECT(MEASURED("40000", "30000", "50000"),
	       "added time per step, measured on steps with and without probes: 40.00 us",
	       "added time per step, estimate and measurement weighted: 30.00 us",
	       "estimated added time: 6.00 %");
}

/* The machine was slower after the window. */
Test(step_cost, hits_took_what_they_take_at_least)
{
	EXPECT(MEASURED("-90000", "-91000", "-89000"),
	       "added time per step, estimate and measurement weighted: 10.00 us",
	       "estimated added time: 2.00 %", "at least: 2.00 %");
}

Test(step_cost, a_measurement_that_is_not_sure_changes_little)
{
	EXPECT(MEASURED("220000", "-780000", "1220000"),
	       "added time per step, estimate and measurement weighted: 20.02 us");
}
