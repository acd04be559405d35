// SPDX-License-Identifier: BSD-2-Clause
/* Converts the JSON of a window's report to metrics and the list of jobs, within their limits. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "monitor/clean_name.h"
#include "monitor/jobs_view.h"
#include "monitor/metrics_text.h"

TestSuite(monitor_metrics);

static const char window[] =
	"{\"summary\": {\"rows\": [{\"framework\": \"PyTorch 2.15.0+cpu\", \"detail\": "
	"\"operator\", "
	"\"step_rule\": \"optimizer: the last one\"}]},"
	"\"findings\": {\"rows\": [{\"rule\": \"data_loader\", \"share_percent\": 42}]},"
	"\"model\": {\"rows\": [{\"depth\": 0, \"name\": \"ProfileStep\", \"cpu_total_ns\": "
	"60000000},"
	"{\"depth\": 1, \"name\": \"Forward\", \"cpu_total_ns\": 40000000},"
	"{\"depth\": 1, \"name\": \"Others\", \"cpu_total_ns\": 20000000}]},"
	"\"operator\": {\"rows\": ["
	"{\"section\": \"Thread: All threads merged\", \"depth\": 0, \"name\": \"small\", "
	"\"cpu_total_ns\": 1000000},"
	"{\"section\": \"Thread: All threads merged\", \"depth\": 0, \"name\": \"big\", "
	"\"cpu_total_ns\": 9000000},"
	"{\"section\": \"Thread: All threads merged\", \"depth\": 1, \"name\": \"inside\", "
	"\"cpu_total_ns\": 9000000},"
	"{\"section\": \"Other processes: All threads merged\", \"depth\": 0, \"name\": "
	"\"theirs\", "
	"\"cpu_total_ns\": 9000000}]},"
	"\"steps\": {\"rows\": [{\"time_ns\": 10000000}, {\"time_ns\": 30000000}, "
	"{\"time_ns\": 20000000}]},"
	"\"cost\": {\"rows\": [{\"added_per_step_ns\": 500000, \"events_lost\": 0}]}}";

static struct figures figures_of(const char *json)
{
	struct figures f;

	cr_assert_eq(figures__parse(json, strlen(json), &f), 0);
	return f;
}

Test(monitor_metrics, takes_figures_from_a_report)
{
	struct figures f = figures_of(window);

	cr_expect_str_eq(f.framework, "PyTorch");
	cr_expect_str_eq(f.version, "2.15.0+cpu");
	cr_expect_str_eq(f.step_rule, "optimizer");
	cr_expect_eq(f.step_cnt, 3);
	cr_expect_eq(f.median_ns, 20000000);
	cr_expect_eq(f.phase_cnt, 2);
	cr_expect_str_eq(f.phases[0].name, "forward");
	cr_expect_eq(f.operator_cnt, 2, "neither inner ones nor those of others");
	cr_expect_str_eq(f.operators[0].name, "big");
	cr_expect_float_eq(f.findings[0].value, 0.42, 1e-9);
	cr_expect_float_eq(f.overhead, 0.025, 1e-9);
	figures__free(&f);
}

Test(monitor_metrics, a_report_may_lie)
{
	static const char *const bad[] = {"", "[]", "{", "{\"steps\": {\"rows\": 7}}", "null"};
	static const char odd[] =
		"{\"steps\": {\"rows\": [{\"time_ns\": -5}, {\"time_ns\": 1e300}, {\"time_ns\": "
		"\"x\"},"
		"{\"time_ns\": 7}]}, \"cost\": {\"rows\": [{\"added_per_step_ns\": 1e300, "
		"\"events_lost\": -3}]}, \"findings\": {\"rows\": [{\"rule\": \"a\\nb\", "
		"\"share_percent\": 4000}]}}";
	struct figures f;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		cr_expect_lt(figures__parse(bad[i], strlen(bad[i]), &f), 0, "%s", bad[i]);
		figures__free(&f);
	}
	f = figures_of(odd);
	cr_expect_eq(f.step_cnt, 1);
	cr_expect_eq(f.median_ns, 7);
	cr_expect_eq(f.overhead, 0);
	cr_expect_eq(f.lost, 0);
	cr_expect_str_eq(f.findings[0].name, "a?b");
	cr_expect_eq(f.findings[0].value, 0);
	figures__free(&f);
}

Test(monitor_metrics, tables_that_were_cut_are_told)
{
	static const char *const tables[] = {"steps", "model", "operator"};
	struct figures f = figures_of(window);
	char json[128];

	cr_expect_not(f.is_cut);
	figures__free(&f);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		snprintf(json, sizeof(json), "{\"%s\": {\"rows\": [], \"left_out\": 1}}",
			 tables[i]);
		figures__parse(json, strlen(json), &f);
		cr_expect(f.is_cut, "%s", json);
		figures__free(&f);
	}
}

Test(monitor_metrics, operators_without_a_place_are_summed)
{
	const size_t cnt = FIGURES_OPERATORS + 7;
	char *json = NULL;
	size_t len;
	FILE *out = open_memstream(&json, &len);
	struct figures f;

	fputs("{\"steps\": {\"rows\": [{\"time_ns\": 7}]}, \"operator\": {\"rows\": [", out);
	for (size_t i = 0; i < cnt; i++)
		fprintf(out,
			"%s{\"section\": \"Thread: x\", \"depth\": 0, \"name\": \"o%zu\", "
			"\"cpu_total_ns\": 1000000000}",
			i ? "," : "", i);
	fputs("]}}", out);
	fclose(out);
	f = figures_of(json);
	cr_expect_eq(f.operator_cnt, FIGURES_OPERATORS);
	cr_expect_float_eq(f.other_s, 7, 1e-9);
	figures__free(&f);
	free(json);
}

static struct rank_info info_of(uint32_t id, const char *job, int rank)
{
	struct rank_info info = {.id = id, .pid = (pid_t)(1000 + id), .rank = rank};

	snprintf(info.key.name, sizeof(info.key.name), "%s", job);
	return info;
}

static struct rank_series *begin(struct job_series *s, uint32_t id, const char *job, int rank)
{
	const struct rank_info info = info_of(id, job, rank);

	return job_series__begin(s, &info);
}

static void add_window(struct job_series *s, struct rank_series *r)
{
	const struct window_ready ready = {.id = r->info.id, .seconds = 1, .file = "a.ptrec"};
	struct figures f = figures_of(window);

	job_series__spend(r, f.overhead, ready.seconds);
	job_series__add_window(s, r, &f, &ready);
	figures__free(&f);
}

static char *text_of(const struct job_series *s, void (*print)(const struct job_series *, FILE *))
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	print(s, out);
	fclose(out);
	return text;
}

static void print_jobs(const struct job_series *s, FILE *out)
{
	const struct jobs_view view = {.series = s};

	jobs_view__html(&view, out);
}

static void expect(const char *text, const char *line)
{
	const char *at = strstr(text, line);

	cr_expect(at && (at == text || at[-1] == '\n') && at[strlen(line)] == '\n',
		  "no '%s' in:\n%s", line, text);
}

Test(monitor_metrics, prints_them)
{
	struct job_series s = {.series_max = 1000};
	struct rank_series *r = begin(&s, 1, "j", 3);
	const struct rank_state state = {
		.id = 1, .state = WATCH_WAITING, .steps = 500, .watched_s = 10, .duty = 0.02};
	char *text;

	job_series__set_state(&s, &state);
	add_window(&s, r);
	add_window(&s, r);
	s.counts.windows[WINDOW_OK] = 2;
	text = text_of(&s, metrics_text__print);
	expect(text, "proftrace_steps_total{job_name=\"j\",uid=\"0\",rank=\"3\"} 500");
	expect(text, "proftrace_sampled_steps_total{job_name=\"j\",uid=\"0\",rank=\"3\"} 6");
	expect(text, "proftrace_phase_seconds_total{job_name=\"j\",uid=\"0\",rank=\"3\",phase="
		     "\"forward\"} 0.08");
	expect(text, "proftrace_operator_seconds_total{job_name=\"j\",uid=\"0\",rank=\"3\","
		     "operator=\"big\"} "
		     "0.018");
	expect(text, "proftrace_operator_seconds_total{job_name=\"j\",uid=\"0\",rank=\"3\","
		     "operator=\"other\"} 0");
	expect(text, "proftrace_finding_ratio{job_name=\"j\",uid=\"0\",rank=\"3\",rule=\"data_"
		     "loader\"} 0.42");
	expect(text, "proftrace_step_duration_seconds_bucket{job_name=\"j\",uid=\"0\",rank=\"3\","
		     "le=\"+Inf\"} 6");
	expect(text,
	       "proftrace_step_duration_seconds_count{job_name=\"j\",uid=\"0\",rank=\"3\"} 6");
	expect(text,
	       "proftrace_step_duration_seconds_sum{job_name=\"j\",uid=\"0\",rank=\"3\"} 0.12");
	expect(text, "proftrace_monitor_windows_total{result=\"ok\"} 2");
	cr_expect_not(strstr(text, "proftrace_regression{"), "nothing is known before the warm-up");
	free(text);
	job_series__free(&s);
}

Test(monitor_metrics, buckets_are_cumulative_and_reach_from_1_ms_to_100_s)
{
	cr_expect_float_eq(job_series__bucket(0), 0.001, 1e-9);
	cr_expect_float_eq(job_series__bucket(SERIES_BUCKETS - 1), 100, 1e-6);
}

Test(monitor_metrics, counters_go_on_when_a_session_begins_anew)
{
	struct job_series s = {.series_max = 1000};
	struct rank_series *r = begin(&s, 1, "j", 0);
	struct rank_state state = {
		.id = 1, .state = WATCH_WAITING, .steps = 500, .watched_s = 10, .duty = 0.02};

	job_series__set_state(&s, &state);
	job_series__end(&s, 1, false, 7);
	cr_expect_eq(begin(&s, 2, "j", 0), r);
	cr_expect_eq(r->ended_ns, 0);
	state.id = 2;
	state.steps = 30;
	job_series__set_state(&s, &state);
	state.steps = 20; /* never less */
	job_series__set_state(&s, &state);
	cr_expect_eq(r->steps + r->steps_before, 530);
	job_series__free(&s);
}

static struct rank_series *begin_as(struct job_series *s, struct rank_info info, uid_t uid,
				    const char *container)
{
	info.uid = uid;
	info.start_ticks = info.id;
	snprintf(info.key.container, sizeof(info.key.container), "%s", container);
	return job_series__begin(s, &info);
}

Test(monitor_metrics, another_process_goes_on_without_the_baseline)
{
	struct job_series s = {.series_max = 1000};
	struct rank_series *r = begin_as(&s, info_of(1, "j", -1), 7, "");
	const struct rank_state state = {
		.id = 1, .state = WATCH_WAITING, .steps = 500, .watched_s = 10, .duty = 0.02};

	job_series__set_state(&s, &state);
	add_window(&s, r);
	job_series__end(&s, 1, false, 7);
	cr_expect_eq(begin_as(&s, info_of(2, "j", -1), 7, ""), r);
	cr_expect_eq(r->steps + r->steps_before, 500, "a counter never shrinks");
	cr_expect_eq(r->cusum.warm_up_cnt, 0);
	cr_expect_eq(r->cusum_resets, 1);
	cr_expect_eq(r->median_s, 0);
	cr_expect_str_eq(r->file, "");
	job_series__free(&s);
}

Test(monitor_metrics, neither_another_user_nor_another_container_takes_over)
{
	struct job_series s = {.series_max = 1000};
	struct rank_series *r = begin_as(&s, info_of(1, "j", 0), 7, "a");

	job_series__end(&s, 1, false, 7);
	cr_expect_neq(begin_as(&s, info_of(2, "j", 0), 8, "a"), r);
	cr_expect_str_eq(job_series__find(&s, 2)->rank, "0", "another uid is another label");
	cr_expect_neq(begin_as(&s, info_of(3, "j", 0), 7, "b"), r);
	cr_expect_str_eq(job_series__find(&s, 3)->rank, "u0");
	job_series__free(&s);
}

/* A session that starts again must find its own series, whatever other sessions ended. */
Test(monitor_metrics, a_process_finds_its_own_series_again)
{
	struct job_series s = {.series_max = 1000};
	struct rank_info second = info_of(2, "j", -1);
	struct rank_series *r;

	begin(&s, 1, "j", -1);
	r = job_series__begin(&s, &second);
	add_window(&s, r);
	job_series__end(&s, 1, false, 7);
	job_series__end(&s, 2, false, 7);
	second.id = 3;
	cr_expect_eq(job_series__begin(&s, &second), r);
	cr_expect_eq(r->cusum.warm_up_cnt, 1);
	job_series__free(&s);
}

Test(monitor_metrics, what_windows_cost_is_unknown_or_of_all_of_them)
{
	struct rank_series r = {.watched_s = 90, .learn_s = 10};
	double ratio;

	job_series__spend(&r, 0, 2);
	cr_expect_not(job_series__overhead(&r, &ratio), "unknown is not 0");
	job_series__spend(&r, 0.1, 3);
	cr_expect(job_series__overhead(&r, &ratio));
	cr_expect_float_eq(ratio, (2 + 3 + 10) * 0.1 / 100, 1e-9, "%f", ratio);
	r.unread_s = 5;
	cr_expect(job_series__overhead(&r, &ratio));
	cr_expect_float_eq(ratio, (2 + 3 + 10 + 5) * 0.1 / 100, 1e-9, "%f", ratio);
	job_series__spend(&r, 50, 10);
	cr_expect(job_series__overhead(&r, &ratio));
	cr_expect_leq(ratio, 1);
}

Test(monitor_metrics, ranks_that_live_have_names_of_their_own)
{
	struct job_series s = {.series_max = 1000};

	cr_expect_str_eq(begin(&s, 1, "j", 0)->rank, "0");
	cr_expect_str_eq(begin(&s, 2, "j", 0)->rank, "u0", "told the same number");
	cr_expect_str_eq(begin(&s, 3, "j", -1)->rank, "u1");
	cr_expect_str_eq(begin(&s, 4, "k", -1)->rank, "u0");
	job_series__free(&s);
}

Test(monitor_metrics, what_ended_is_forgotten_later)
{
	struct job_series s = {.series_max = 1000};

	add_window(&s, begin(&s, 1, "j", 0));
	job_series__end(&s, 1, false, 7);
	job_series__expire(&s, 6 + SERIES_KEEP_NS);
	cr_expect_eq(s.cnt, 1);
	job_series__expire(&s, 7 + SERIES_KEEP_NS);
	cr_expect_eq(s.cnt, 0);
	cr_expect_eq(s.series_cnt, 0);
	job_series__free(&s);
}

Test(monitor_metrics, what_is_left_alone_for_a_while_keeps_its_baseline_and_counts_nothing)
{
	struct job_series s = {.series_max = 1000};
	struct rank_info info = info_of(1, "j", 0);
	struct rank_series *r = job_series__begin(&s, &info);
	struct rank_state state = {.id = 1, .steps = 500, .watched_s = 10};
	char *text;

	job_series__set_state(&s, &state);
	add_window(&s, r);
	job_series__end(&s, 1, true, 7);
	job_series__expire(&s, 7 + 100 * SERIES_KEEP_NS);
	cr_assert_eq(s.cnt, 1);
	text = text_of(&s, metrics_text__print);
	cr_expect_not(strstr(text, "proftrace_steps_total{"), "it would look as if it stood still");
	free(text);
	cr_expect_str_eq(begin(&s, 9, "j", 0)->rank, "u0", "its place is not free");
	job_series__end(&s, 9, false, 8);
	info.id = 2;
	cr_expect_eq(job_series__begin(&s, &info), r);
	cr_expect_eq(r->cusum.warm_up_cnt, 1);
	text = text_of(&s, metrics_text__print);
	cr_expect_not(strstr(text, "proftrace_steps_total{"));
	free(text);
	state = (struct rank_state){.id = 2, .steps = 1, .watched_s = 1};
	job_series__set_state(&s, &state);
	text = text_of(&s, metrics_text__print);
	expect(text, "proftrace_steps_total{job_name=\"j\",uid=\"0\",rank=\"0\"} 501");
	free(text);
	job_series__end(&s, 2, true, 8);
	job_series__end(&s, 2, false, 9);
	job_series__expire(&s, 9 + SERIES_KEEP_NS);
	cr_expect_eq(s.cnt, 0);
	job_series__free(&s);
}

static size_t job_lines(const char *text)
{
	size_t cnt = 0;

	for (; (text = strstr(text, "{job_name=")); text++)
		cnt++;
	return cnt;
}

Test(monitor_metrics, series_are_bounded_and_counted)
{
	struct job_series s = {.series_max = 100};
	char *text;

	for (uint32_t i = 1; i <= 20; i++) {
		struct rank_series *r = begin(&s, i, "j", (int)i);

		if (r)
			add_window(&s, r);
	}
	text = text_of(&s, metrics_text__print);
	cr_expect_leq(job_lines(text), 100, "%zu", job_lines(text));
	cr_expect_gt(s.dropped, 0);
	free(text);
	job_series__free(&s);
}

Test(monitor_metrics, other_rules_of_steps_begin_a_new_baseline)
{
	struct job_series s = {.series_max = 1000};
	struct rank_series *r = begin(&s, 1, "j", 0);

	add_window(&s, r);
	cr_expect_eq(r->cusum.warm_up_cnt, 1);
	strcpy(r->step_rule, "DataLoader");
	add_window(&s, r);
	cr_expect_eq(r->cusum.warm_up_cnt, 1);
	cr_expect_eq(r->cusum_resets, 1);
	job_series__free(&s);
}

static void print_json(const struct job_series *s, FILE *out)
{
	cr_expect_eq(jobs_view__json(s, out), 0);
}

Test(monitor_metrics, strange_names_are_escaped)
{
	struct job_series s = {.series_max = 1000};
	char name[64];
	char *text;

	clean_name__copy(name, sizeof(name), "<b>\"\\\n\x1b[2J\xc2\x9b\xff\xc3\xa9");
	begin(&s, 1, name, 0)->watched_s = 1;
	text = text_of(&s, metrics_text__print);
	expect(text, "proftrace_steps_total{job_name=\"<b>\\\"\\\\??[2J??\xc3\xa9\",uid=\"0\",rank="
		     "\"0\"} 0");
	free(text);
	text = text_of(&s, print_jobs);
	cr_expect(strstr(text, "&lt;b&gt;&quot;\\??[2J??\xc3\xa9</a>"), "%s", text);
	cr_expect_not(strstr(text, "<b>"));
	free(text);
	text = text_of(&s, print_json);
	cr_expect(strstr(text, "\"<b>\\\"\\\\??[2J??"), "%s", text);
	free(text);
	job_series__free(&s);
}

Test(monitor_metrics, names_are_cut_between_characters)
{
	char name[5];

	clean_name__copy(name, sizeof(name), "abc\xc3\xa9");
	cr_expect_str_eq(name, "abc");
	clean_name__for_file(name, sizeof(name), "../x");
	cr_expect_str_eq(name, "_._x");
}

/* A right-to-left override, an invisible space, the sign of Arabic that hides; letters stay. */
Test(monitor_metrics, names_neither_reorder_nor_hide)
{
	char name[64];

	clean_name__copy(name, sizeof(name), "7\u202e8\u200b9\u061c\ufeff\u2028");
	cr_expect_str_eq(name, "7?8?9???");
	clean_name__copy(name, sizeof(name), "\u00e9\u4e2d\u200d\U0001f600");
	cr_expect_str_eq(name, "\u00e9\u4e2d\u200d\U0001f600");
}
