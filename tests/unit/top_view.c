// SPDX-License-Identifier: BSD-2-Clause
/* proftrace top: from the monitor's JSON to the rows of a screen. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/text_char.h"
#include "top/job_view.h"

TestSuite(top_view);

#define RANK(job, rank, more)                                                                      \
	"{\"job_name\": \"" job "\", \"uid\": 7, \"rank\": \"" rank                                \
	"\", \"pid\": 4242, \"state\": \"waiting\", \"framework\": \"PyTorch\", "                  \
	"\"framework_version\": \"2.15.0\", \"windows\": 3, \"sampled_steps\": 10, " more "}"
#define FIGURES                                                                                    \
	"\"phases\": {\"forward\": 1, \"backward\": 2, \"optimization\": 0.5, \"dataloader\": "    \
	"0.25, \"zero_grad\": 0.25}, \"operators\": {\"small\": 0.1, \"big\": 0.3}, "              \
	"\"findings\": {\"data_loader\": 0.2, \"off_cpu\": 0}"

static struct job_list *parse(const char *text)
{
	struct job_list *l;

	cr_assert_eq(job_list__parse(text, strlen(text), &l), 0, "%s", text);
	return l;
}

static char *row_of(const struct canvas *c, int row)
{
	static char text[CANVAS_COLS * 4 + 1];

	canvas__row(c, row, text, sizeof(text));
	return text;
}

static struct canvas *draw(struct job_view *v, int cols, int rows, bool ascii)
{
	static struct canvas c;

	canvas__clear(&c, cols, rows, ascii);
	job_view__draw(v, &c);
	for (int row = 0; row < rows; row++)
		cr_expect_leq(text__columns(row_of(&c, row)), cols);
	return &c;
}

static void expect_row(const struct canvas *c, int row, const char *text)
{
	cr_expect_str_eq(row_of(c, row), text);
}

/* Does a row have the text? */
static bool shows(const struct canvas *c, const char *text)
{
	for (int row = 0; row < c->rows; row++)
		if (strstr(row_of(c, row), text))
			return true;
	return false;
}

Test(top_view, sparkline_is_of_the_latest_and_as_high_as_the_highest)
{
	const double values[] = {9, 1, 2, 4, 8};
	char text[64];

	sparkline(values, 5, 4, false, text);
	cr_expect_str_eq(text, "\u2582\u2583\u2585\u2588");
	sparkline(values, 5, 4, true, text);
	cr_expect_str_eq(text, ".:=#");
	sparkline(values, 0, 4, false, text);
	cr_expect_str_eq(text, "");
	sparkline((const double[]){0, 0}, 2, 4, true, text);
	cr_expect_str_eq(text, "__");
}

Test(top_view, phases_fill_their_bar)
{
	int cols[PHASE_CNT], sum = 0;

	phase_columns((const double[PHASE_CNT]){1, 1, 1, 0, 0}, 10, cols);
	cr_expect_eq(cols[0], 4);
	cr_expect_eq(cols[1], 3);
	cr_expect_eq(cols[2], 3);
	cr_expect_eq(cols[3] + cols[4], 0);
	phase_columns((const double[PHASE_CNT]){0}, 10, cols);
	for (int i = 0; i < PHASE_CNT; i++)
		sum += cols[i];
	cr_expect_eq(sum, 0, "nothing is known");
}

Test(top_view, step_times_have_a_unit)
{
	static const struct {
		double seconds;
		const char *text;
	} cases[] = {{0, "-"},
		     {12.34e-6, "12.3 us"},
		     {0.9996e-3, "1.0 ms"},
		     {12.34e-3, "12.3 ms"},
		     {0.9996, "1.00 s"},
		     {123.456, "123.46 s"},
		     {1e9, "1e+09 s"}};
	char text[32];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		step_text(cases[i].seconds, text, sizeof(text));
		cr_expect_str_eq(text, cases[i].text);
		cr_expect_leq(strlen(text), 9);
	}
}

Test(top_view, ranks_of_a_job_are_one_row_of_80_columns)
{
	struct job_view v = {.place = "127.0.0.1:9477"};
	const struct canvas *c;

	job_view__set_jobs(
		&v, parse("{\"ranks\": [" RANK(
			    "night", "10",
			    "\"step_seconds\": 0.02, \"cpus\": "
			    "1.5, " FIGURES) "," RANK("night", "9",
						      "\"step_seconds\": 0.01, \"cpus\": "
						      "2.25, " FIGURES) "," RANK("a", "0",
										 "\"step_seconds\":"
										 " null") "]}"));
	c = draw(&v, 80, 24, false);
	expect_row(c, 0, "proftrace top  127.0.0.1:9477  2 jobs, 3 ranks  by name");
	expect_row(c, 3,
		   "  JOB            RANKS FRAMEWORK       STEP RECENT   PHASES         CPU GPU "
		   "FIND");
	expect_row(c, 4,
		   "> a                  1 PyTorch            - -        -                -   -    "
		   "0");
	expect_row(c, 5,
		   "  night              2 PyTorch      20.0 ms -        FFFBBBBBBOL.   3.8   -    "
		   "1");
	cr_expect_eq(c->selected, 4);
	cr_expect_str_eq(v.jobs->jobs[1].ranks[0].rank, "9", "9 is before 10");
	job_list__free(v.jobs);
}

Test(top_view, a_job_is_a_page_that_scrolls)
{
	struct job_view v = {.is_open = true};
	const struct canvas *c;

	job_view__set_jobs(&v, parse("{\"ranks\": [" RANK("j", "0", FIGURES) "," RANK(
				       "j", "1", FIGURES) "]}"));
	v.is_open = true;
	c = draw(&v, 80, 24, false);
	cr_expect(shows(c,
			"  forward 25 %   backward 50 %  optimizer 12 % loader 6 %     other 6 %"));
	cr_expect(shows(
		c, " 20.0 %  data_loader           Steps wait for the data loader. (2 ranks)"));
	cr_expect_not(shows(c, "off_cpu"), "the latest window has it no more");
	/* 0.3 s of both ranks, by 10 steps of each; a step takes 0.4 s. */
	cr_expect(shows(c, "    30.0 ms     7.5 %  big"));
	cr_expect(shows(c, "     0      4242 waiting"));
	expect_row(c, 3, "Phases in all windows");
	job_view__move(&v, 1);
	c = draw(&v, 80, 14, false);
	expect_row(c, 3, "  forward 25 %   backward 50 %  optimizer 12 % loader 6 %     other 6 %");
	job_view__move(&v, 1000);
	c = draw(&v, 80, 14, false);
	cr_expect(strstr(row_of(c, 12), "     1 -"), "%s", row_of(c, 12));
	c = draw(&v, 80, 24, false);
	expect_row(c, 3, "Phases in all windows");
	job_list__free(v.jobs);
}

Test(top_view, the_cursor_stays_at_its_job)
{
	struct job_view v = {0};

	job_view__set_jobs(&v, parse("{\"ranks\": [" RANK("b", "0", FIGURES) "," RANK(
				       "c", "0", FIGURES) "]}"));
	job_view__move(&v, 5);
	cr_expect_str_eq(job_view__chosen(&v)->key.name, "c");
	job_view__set_jobs(&v, parse("{\"ranks\": [" RANK("a", "0", FIGURES) "," RANK(
				       "c", "0", FIGURES) "," RANK("d", "0", FIGURES) "]}"));
	cr_expect_str_eq(job_view__chosen(&v)->key.name, "c");
	v.is_open = true;
	job_view__set_jobs(&v, parse("{\"ranks\": [" RANK("a", "0", FIGURES) "]}"));
	cr_expect_str_eq(job_view__chosen(&v)->key.name, "a");
	cr_expect_not(v.is_open, "another job's page would be shown for it");
	cr_expect_str_eq(v.message, "The monitor has no c any more.");
	job_view__set_jobs(&v, parse("{\"ranks\": []}"));
	cr_expect_null(job_view__chosen(&v));
	job_view__move(&v, 1);
	draw(&v, 80, 24, false);
	job_list__free(v.jobs);
}

Test(top_view, orders)
{
	struct job_view v = {0};

	job_view__set_jobs(
		&v, parse("{\"ranks\": [" RANK("a", "0", "\"step_seconds\": 1") "," RANK(
			    "b", "0",
			    "\"step_seconds\": 3") "," RANK("c", "0",
							    "\"step_seconds\": 2, " FIGURES) "]}"));
	job_view__set_order(&v, ORDER_STEP);
	cr_expect_str_eq(v.jobs->jobs[0].key.name, "b");
	cr_expect_str_eq(v.jobs->jobs[2].key.name, "a");
	job_view__set_order(&v, ORDER_FINDINGS);
	cr_expect_str_eq(v.jobs->jobs[0].key.name, "c");
	job_list__free(v.jobs);
}

Test(top_view, hostile_and_wide_names_keep_their_place)
{
	struct job_view v = {0};
	const struct canvas *c;

	job_view__set_jobs(
		&v,
		parse("{\"ranks\": ["
		      "{\"job_name\": \"\\u001b[2J\\u202e\\u009b\\r\\n\u5377\u5377\u5377\u5377\","
		      "\"framework\": \"e\u0301\u5377\u5377\u5377\u5377\u5377\u5377\"}]}"));
	c = draw(&v, 80, 24, false);
	expect_row(c, 4,
		   "> ?[2J????\u5377\u5377~     1 e\u5377\u5377\u5377\u5377~         - -        -"
		   "                -   -    -");
	for (int row = 0; row < c->rows; row++)
		for (const char *at = row_of(c, row); *at; at++)
			cr_expect((unsigned char)*at >= 0x20, "%d", row);
	c = draw(&v, 80, 24, true);
	for (int row = 0; row < c->rows; row++)
		for (const char *at = row_of(c, row); *at; at++)
			cr_expect((unsigned char)*at < 0x7f, "%s", row_of(c, row));
	job_list__free(v.jobs);
}

Test(top_view, small_and_large_screens)
{
	struct job_view v = {.is_open = true};

	expect_row(draw(&v, 79, 24, false), 1, "proftrace top needs 80 x 10");
	job_view__set_jobs(&v, parse("{\"ranks\": [" RANK("a", "0", FIGURES) "]}"));
	for (int cols = 0; cols < 600; cols += 7)
		for (int rows = 0; rows < 300; rows += 13) {
			static struct canvas c;

			v.is_open = rows % 2;
			canvas__clear(&c, cols, rows, false);
			job_view__draw(&v, &c);
		}
	job_list__free(v.jobs);
}

Test(top_view, old_figures_are_said_to_be_old)
{
	struct job_view v = {.problem = "no answer", .age_s = 7.2};

	expect_row(draw(&v, 80, 24, false), 1, "no answer");
	job_view__set_jobs(&v, parse("{\"ranks\": []}"));
	expect_row(draw(&v, 80, 24, false), 1, "These figures are 7 s old: no answer");
	job_list__free(v.jobs);
}

Test(top_view, why_no_window_comes_has_two_rows)
{
	struct job_view v = {.is_starting = true};
	const struct canvas *c;

	snprintf(v.problem, sizeof(v.problem), "%s %s",
		 "a session of another proftrace with process id 4242 records this process now and",
		 "has it");
	c = draw(&v, 80, 24, false);
	expect_row(
		c, 1,
		"a session of another proftrace with process id 4242 records this process now and");
	expect_row(c, 2, "has it");
	snprintf(v.problem, sizeof(v.problem), "%0100d", 1);
	draw(&v, 80, 24, false);
}

Test(top_view, answers_that_are_no_list_of_jobs)
{
	static const char *const texts[] = {"", "{", "[]", "{\"ranks\": 1}", "null", "\"ranks\""};
	struct job_list *l;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		cr_expect_eq(job_list__parse(texts[i], strlen(texts[i]), &l), -EBADMSG, "%s",
			     texts[i]);
}

Test(top_view, values_that_cannot_be_are_not_known)
{
	struct job_view v = {0};

	job_view__set_jobs(
		&v, parse("{\"ranks\": [1, null, {\"job_name\": 3, \"phases\": [], \"operators\": "
			  "{\"x\": -1, \"y\": \"z\"}, \"step_seconds\": -1, \"cpus\": 1e300, "
			  "\"windows\": -5, \"findings\": {\"f\": 7}}]}"));
	cr_expect_eq(v.jobs->cnt, 1, "ranks without a name are one job");
	expect_row(draw(&v, 80, 24, false), 4,
		   ">                    3 -                  - -        -                -   -    "
		   "-");
	v.is_open = true;
	draw(&v, 80, 24, false);
	job_list__free(v.jobs);
}

Test(top_view, history_has_a_step_time_per_window)
{
	struct job_history h = {0};
	struct job_list *l = NULL;

	for (int window = 1; window <= JOB_RECENT + 3; window++) {
		for (int look = 0; look < 2; look++) {
			char text[256];

			snprintf(text, sizeof(text),
				 "{\"ranks\": [{\"job_name\": \"j\", \"windows\": %d, "
				 "\"step_seconds\": %d}]}",
				 window, window);
			job_list__free(l);
			l = parse(text);
			cr_assert_eq(job_history__note(&h, l), 0);
		}
		if (window == 2)
			cr_expect_eq(l->jobs[0].recent_cnt, 2, "looking twice adds none");
	}
	cr_expect_eq(l->jobs[0].recent_cnt, JOB_RECENT);
	cr_expect_float_eq(l->jobs[0].recent[0], 4, 1e-9);
	cr_expect_float_eq(l->jobs[0].recent[JOB_RECENT - 1], JOB_RECENT + 3, 1e-9);
	job_list__free(l);
	job_history__free(&h);
}

/* Two ranks with three GPUs; one with an idle GPU; two of which one has no figure. */
static const char busy[] =
	"{\"ranks\": ["
	"{\"job_name\": \"a\", \"rank\": \"0\", \"devices\": {\"GPU0\": 0.75, \"GPU1\": 1}},"
	"{\"job_name\": \"a\", \"rank\": \"1\", \"devices\": {\"GPU2\": 0.5}},"
	"{\"job_name\": \"b\", \"rank\": \"0\", \"devices\": {\"GPU0\": 0}},"
	"{\"job_name\": \"c\", \"rank\": \"0\", \"devices\": {\"GPU0\": 0.5}},"
	"{\"job_name\": \"c\", \"rank\": \"1\", \"devices\": {}}]}";

Test(top_view, gpus_in_use_are_the_sum_of_busy_shares)
{
	struct job_view v = {.place = "x"};
	const struct canvas *c;

	job_view__set_jobs(&v, parse(busy));
	cr_expect_float_eq(v.jobs->jobs[0].gpus, 2.25, 1e-9);
	cr_expect_float_eq(v.jobs->jobs[1].gpus, 0, 1e-9, "an idle GPU is known");
	cr_expect_lt(v.jobs->jobs[2].gpus, 0, "that of one rank is not known");
	c = draw(&v, 80, 24, false);
	expect_row(c, 4,
		   "> a                  2 -                  - -        -                - 2.2    "
		   "-");
	job_list__free(v.jobs);
}

Test(top_view, a_job_says_why_it_has_no_figures_of_gpus)
{
	static const struct {
		const char *figures, *text;
	} cases[] = {
		{"\"devices\": {\"GPU0\": 0.5, \"GPU1\": 1}", "     0 GPU0 50.0 %, GPU1 100.0 %"},
		{"\"device_times\": \"off\"",
		 "     0 not recorded: the monitor runs without --device-times"},
		{"\"device_times\": \"without_cuda\"", "     0 the process does not use CUDA"},
		{"\"device_times\": \"refused\", \"device_times_refused\": \"another tool\"",
		 "     0 no device times: another tool"},
		{"\"device_times\": 7, \"devices\": []", "     0 -"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct job_view v = {.place = "x"};
		const struct canvas *c;
		char json[512];
		bool found = false;

		snprintf(json, sizeof(json), "{\"ranks\": [%s%s}]}",
			 "{\"job_name\": \"a\", \"rank\": \"0\", ", cases[i].figures);
		job_view__set_jobs(&v, parse(json));
		v.is_open = true;
		c = draw(&v, 100, 40, false);
		for (int row = 0; row < 40 && !found; row++) {
			char text[512];

			canvas__row(c, row, text, sizeof(text));
			found = !strcmp(text, cases[i].text);
		}
		cr_expect(found, "%s", cases[i].text);
		job_list__free(v.jobs);
	}
}
