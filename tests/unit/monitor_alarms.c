// SPDX-License-Identifier: BSD-2-Clause
/* Steps that take longer for good: the baseline, and which phase grew. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "monitor/alarm_figures.h"
#include "monitor/job_series.h"
#include "monitor/jobs_view.h"
#include "monitor/metrics_text.h"

TestSuite(monitor_alarms);

#define ROW(name, before, after, verdict)                                                          \
	"{\"depth\": 0, \"name\": \"" name "\", \"before_ns\": " before ", \"after_ns\": " after   \
	", \"verdict\": \"" verdict "\"}"
#define DIFF(rows) "{\"steps\": {\"rows\": [" rows "]}}"
#define STEP	   ROW("step", "20000000", "30000000", "slower")

static int parse(const char *json, struct alarm_figures *f)
{
	return alarm_figures__parse(json, strlen(json), f);
}

Test(monitor_alarms, the_phase_that_grew_most_is_the_cause)
{
	struct alarm_figures f;
	char text[160];

	cr_assert_eq(parse(DIFF(STEP "," ROW("run time", "1000000", "90000000", "slower") "," ROW(
				   "forward", "5000000", "6000000",
				   "same") "," ROW("dataloader", "1000000", "9000000", "slower")),
			   &f),
		     0);
	cr_expect_str_eq(f.cause, "dataloader", "the run time is no phase");
	alarm_figures__describe(&f, text, sizeof(text));
	cr_expect_str_eq(text,
			 "dataloader takes 8.000 ms more, a step 30.000 ms instead of 20.000 ms");
}

Test(monitor_alarms, without_a_longer_phase_there_is_no_cause)
{
	struct alarm_figures f;
	char text[160];

	cr_assert_eq(
		parse(DIFF(ROW("step", "20", "30", "same") "," ROW("forward", "9", "9", "same")),
		      &f),
		0);
	cr_expect_str_eq(f.cause, "");
	cr_expect(f.is_chance);
	alarm_figures__describe(&f, text, sizeof(text));
	cr_expect(strstr(text, "no phase"), "%s", text);
}

Test(monitor_alarms, a_comparison_may_lie)
{
	static const char *const bad[] = {
		"",
		"{",
		"[]",
		"null",
		"{\"steps\": 7}",
		DIFF(""),
		DIFF("7"),
		DIFF(ROW("step", "-1", "30", "slower")),
		DIFF(ROW("step", "1e300", "30", "slower")),
		DIFF("{\"name\": 7, \"before_ns\": \"x\"}"),
	};
	struct alarm_figures f;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		cr_expect_lt(parse(bad[i], &f), 0, "%s", bad[i]);
	cr_assert_eq(parse(DIFF(STEP "," ROW("\\u202ex\\n", "1", "900", "slower")), &f), 0);
	cr_expect_str_eq(f.cause, "?x?");
}

static struct rank_series *begin(struct job_series *s)
{
	const struct rank_info info = {.id = 1, .pid = 7, .rank = 0, .key.name = "j"};

	return job_series__begin(s, &info);
}

/* True: an alarm was raised or cleared. */
static bool add(struct job_series *s, struct rank_series *r, unsigned int number, double step_s)
{
	struct window_ready ready = {.id = 1, .seconds = 1};
	uint64_t step_ns = (uint64_t)(step_s * 1e9);
	const struct figures f = {.step_ns = &step_ns, .step_cnt = 1, .median_ns = step_ns};

	snprintf(ready.file, sizeof(ready.file), "w%u.ptrec", number);
	return job_series__add_window(s, r, &f, &ready);
}

/* Usual windows of 100 ms, some of them 1 % shorter or longer. */
static unsigned int warm_up(struct job_series *s, struct rank_series *r)
{
	static const double steps[] = {0.099, 0.1, 0.101};
	unsigned int number = 0;

	while (!cusum__is_warm(&r->cusum)) {
		cr_expect_str_eq(r->baseline, "");
		add(s, r, number, steps[number % 3]);
		number++;
	}
	return number;
}

Test(monitor_alarms, the_baseline_is_a_usual_window)
{
	struct job_series s = {.series_max = 1000};
	struct rank_series *r = begin(&s);

	warm_up(&s, r);
	cr_expect_eq(atoi(r->baseline + 1) % 3, 1, "%s", r->baseline);
	job_series__free(&s);
}

static void expect_metric(const struct job_series *s, const char *line, bool is_there)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	metrics_text__print(s, out);
	fclose(out);
	cr_expect_eq(!!strstr(text, line), is_there, "%s in:\n%s", line, text);
	free(text);
}

Test(monitor_alarms, an_alarm_has_a_time_a_cause_and_two_recordings_until_it_is_cleared)
{
	struct job_series s = {.series_max = 1000};
	struct rank_series *r = begin(&s);
	const struct alarm_made made = {.id = 1, .baseline = "b", .recording = "a"};
	const struct alarm_figures f = {.cause = "dataloader", .cause_s = 0.02};
	unsigned int number = warm_up(&s, r);
	char text[REGRESSION_TEXT];

	cr_expect_not(job_series__set_alarm(r, &made, &f), "there is no alarm");
	while (!add(&s, r, number++, 0.12))
		cr_assert_lt(number, 200);
	cr_expect(r->cusum.alarm && r->alarm.since_s > 0);
	expect_metric(
		&s,
		"proftrace_regression_ratio{job_name=\"j\",uid=\"0\",rank=\"0\",cause=\"unknown\"}",
		true);
	cr_assert(job_series__set_alarm(r, &made, &f));
	expect_metric(&s, "cause=\"dataloader\"} 0.", true);
	jobs_view__describe_regression(r, text, sizeof(text));
	cr_expect(strstr(text, " UTC: dataloader"), "%s", text);
	while (!add(&s, r, number++, 0.1))
		cr_assert_lt(number, 1000);
	cr_expect_not(r->alarm.is_compared);
	expect_metric(&s, "cause=", false);
	job_series__free(&s);
}
