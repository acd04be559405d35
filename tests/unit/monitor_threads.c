// SPDX-License-Identifier: BSD-2-Clause
/* Threads of a window: from the table of scheduling to /jobs and a rank's page. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "monitor/jobs_view.h"
#include "monitor/metrics_text.h"

TestSuite(monitor_threads);

#define WINDOW(sched)	"{\"steps\": {\"rows\": [{\"time_ns\": 90}]}, \"sched\": {" sched "}}"
#define THREAD(name)	"{\"depth\": 0, \"name\": \"" name "\", \"total_ns\": 100}"
#define STATE(name, ns) "{\"depth\": 1, \"name\": \"" name "\", \"total_ns\": " #ns "}"
#define WAIT(name, ns)	"{\"depth\": 2, \"name\": \"" name "\", \"total_ns\": " #ns "}"

static struct figures figures_of(const char *json)
{
	struct figures f;

	cr_assert_eq(figures__parse(json, strlen(json), &f), 0, "%s", json);
	return f;
}

static void expect(const struct thread_figure *t, const char *name, double run, double runnable)
{
	cr_expect_str_eq(t->name, name);
	cr_expect_float_eq(t->run, run, 1e-9, "%s", name);
	cr_expect_float_eq(t->runnable, runnable, 1e-9, "%s", name);
}

/* A thread that began in the window has a shorter time than the others. Its share is of the steps,
 * too. */
Test(monitor_threads, shares_are_of_the_steps)
{
	struct figures f =
		figures_of(WINDOW("\"rows\": [" THREAD("python (7)") "," STATE("run", 60) "," STATE(
			"runnable",
			10) "," WAIT("preempted",
				     4) "," STATE("blocked",
						  30) "," WAIT("run",
							       30) ","
								   "{\"depth\": 0, \"name\": "
								   "\"late (9)\", \"total_ns\": "
								   "20}," STATE("run", 20) "]"));

	cr_expect_eq(f.threads.cnt, 2);
	cr_expect_eq(f.threads.other_cnt, 0);
	cr_expect_not(f.threads.is_cut);
	expect(&f.threads.list[0], "python (7)", 0.6, 0.1);
	expect(&f.threads.list[1], "late (9)", 0.2, 0);
	figures__free(&f);
}

Test(monitor_threads, those_without_a_place_are_summed)
{
	char *json = NULL;
	size_t len;
	FILE *out = open_memstream(&json, &len);
	struct figures f;

	fputs("{\"steps\": {\"rows\": [{\"time_ns\": 9}]}, \"sched\": {\"left_out\": 3, \"rows\": "
	      "[",
	      out);
	for (int i = 0; i < FIGURES_THREADS + 3; i++)
		fprintf(out, "%s" THREAD("t%d") "," STATE("run", 50) "," STATE("runnable", 5),
			i ? "," : "", i);
	fputs("]}}", out);
	fclose(out);
	f = figures_of(json);
	cr_expect_eq(f.threads.cnt, FIGURES_THREADS);
	cr_expect_eq(f.threads.other_cnt, 3);
	cr_expect(f.threads.is_cut);
	cr_expect_not(f.is_cut, "steps and operators are whole");
	expect(&f.threads.list[15], "t15", 0.5, 0.05);
	expect(&f.threads.others, "", 1.5, 0.15);
	figures__free(&f);
	free(json);
}

Test(monitor_threads, a_report_may_lie)
{
	static const char *const odd[] = {
		WINDOW("\"rows\": 7"),
		WINDOW("\"rows\": []"),
		WINDOW("\"rows\": [" STATE("run", 50) "]"),
		WINDOW("\"rows\": [1, null, {\"depth\": 0, \"name\": 4, \"total_ns\": -1}," STATE(
			"run", 1e300) "]"),
	};

	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		struct figures f = figures_of(odd[i]);

		for (size_t k = 0; k < f.threads.cnt; k++)
			expect(&f.threads.list[k], "", 0, 0);
		expect(&f.threads.others, "", 0, 0);
		figures__free(&f);
	}
}

static char *text_of(const struct rank_series *r, const struct job_series *s, int kind)
{
	const struct jobs_view view = {.series = s};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (kind == 0)
		cr_expect_eq(jobs_view__json_of(r, out), 0);
	else if (kind == 1)
		jobs_view__html_of(&view, r, out);
	else
		metrics_text__print(s, out);
	fclose(out);
	return text;
}

Test(monitor_threads, names_are_text_and_no_series)
{
	const struct rank_info info = {.id = 1, .pid = 17}, next = {.id = 2, .pid = 18};
	const struct window_ready ready = {.id = 1, .file = "a.ptrec"};
	struct job_series s = {.series_max = 1000};
	struct rank_series *r = job_series__begin(&s, &info);
	struct figures f = figures_of(
		WINDOW("\"rows\": [" THREAD("<b>\\u001b[2J (7)") "," STATE("run", 25) "]"));
	const size_t before = s.series_cnt;
	char *text;

	job_series__add_window(&s, r, &f, &ready);
	cr_expect_eq(s.series_cnt, before);
	text = text_of(r, &s, 0);
	cr_expect(strstr(text, "\"name\": \"<b>?[2J (7)\",\n   \"run\": 0.25,"), "%s", text);
	free(text);
	text = text_of(r, &s, 1);
	cr_expect(strstr(text, "&lt;b&gt;?[2J (7)</td><td class=\"number\">25.0&nbsp;%</td>"), "%s",
		  text);
	free(text);
	text = text_of(r, &s, 2);
	cr_expect_not(strstr(text, "2J"), "%s", text);
	free(text);
	job_series__end(&s, 1, false, 1);
	job_series__begin(&s, &next);
	cr_expect_eq(r->threads.cnt, 0, "they were those of another process");
	figures__free(&f);
	job_series__free(&s);
}
