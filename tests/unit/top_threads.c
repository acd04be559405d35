// SPDX-License-Identifier: BSD-2-Clause
/* proftrace top: the threads of a job. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "top/job_view.h"

TestSuite(top_threads);

static struct canvas c;

static struct job_list *parse(const char *text)
{
	struct job_list *l;

	cr_assert_eq(job_list__parse(text, strlen(text), &l), 0, "%s", text);
	return l;
}

static void draw_page(struct job_list *l)
{
	struct job_view v = {0};

	job_view__set_jobs(&v, l);
	v.is_open = true;
	canvas__clear(&c, 80, 60, false);
	job_view__draw(&v, &c);
}

/* The row of the page `by` rows below the one that begins so. */
static const char *row_below(const char *begin, int by)
{
	static char text[CANVAS_COLS * 4 + 1];

	for (int row = 0; row < c.rows; row++) {
		canvas__row(&c, row, text, sizeof(text));
		if (strncmp(text, begin, strlen(begin)) != 0)
			continue;
		canvas__row(&c, row + by, text, sizeof(text));
		return text;
	}
	cr_assert_fail("no row '%s'", begin);
	return "";
}

Test(top_threads, those_of_all_ranks_are_in_order)
{
	struct job_list *l =
		parse("{\"ranks\": [{\"job_name\": \"j\", \"rank\": \"0\", \"threads\": ["
		      "{\"name\": \"python (7)\", \"run\": 0.985, \"runnable\": 0.002},"
		      "{\"name\": \"gloo\\u001b[2J (8)\", \"run\": 0.01, \"runnable\": 0}],"
		      "\"other_threads\": {\"threads\": 0, \"run\": 0, \"runnable\": 0, \"more\": "
		      "false}},"
		      "{\"job_name\": \"j\", \"rank\": \"1\", \"threads\": ["
		      "{\"name\": \"python (9)\", \"run\": 0.5, \"runnable\": 0.25}],"
		      "\"other_threads\": {\"threads\": 3, \"run\": 0.003, \"runnable\": 0.5,"
		      "\"more\": true}}]}");

	draw_page(l);
	cr_expect_str_eq(row_below("    RUNS", 0),
			 "    RUNS WAITS FOR A PROCESSOR   RANK THREAD, in the latest windows");
	cr_expect_str_eq(row_below("    RUNS", 1),
			 "  98.5 %                 0.2 %      0 python (7)");
	cr_expect_str_eq(row_below("    RUNS", 2),
			 "  50.0 %                25.0 %      1 python (9)");
	cr_expect_str_eq(row_below("    RUNS", 3),
			 "   1.0 %                 0.0 %      0 gloo?[2J (8)");
	cr_expect_str_eq(row_below("    RUNS", 4),
			 "   0.3 %                50.0 %        3 or more others");
	job_list__free(l);
}

Test(top_threads, more_than_the_page_has_are_summed)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct job_list *l;

	fputs("{\"ranks\": [{\"job_name\": \"j\", \"rank\": \"0\", \"threads\": [", out);
	for (int i = 0; i < 3 * JOB_THREADS; i++)
		fprintf(out, "%s{\"name\": \"t%d\", \"run\": %g, \"runnable\": 1}", i ? "," : "", i,
			i * 7 % (3 * JOB_THREADS) / 100.0);
	fputs("]}]}", out);
	fclose(out);
	l = parse(text);
	cr_expect_eq(l->jobs[0].threads.cnt, JOB_THREADS);
	for (int i = 0; i < JOB_THREADS; i++)
		cr_expect_float_eq(l->jobs[0].threads.list[i].run,
				   (3 * JOB_THREADS - 1 - i) / 100.0, 1e-9);
	cr_expect_eq(l->jobs[0].threads.other_cnt, 2 * JOB_THREADS);
	cr_expect_float_eq(l->jobs[0].threads.others.run, 31 * 16 / 100.0, 1e-9);
	cr_expect_float_eq(l->jobs[0].threads.others.runnable, 32, 1e-9);
	draw_page(l);
	cr_expect_str_eq(row_below("    RUNS", JOB_THREADS + 1),
			 " 496.0 %              3200.0 %        32 others");
	job_list__free(l);
	free(text);
}

Test(top_threads, a_monitor_without_them)
{
	static const char *const texts[] = {
		"{\"ranks\": [{\"job_name\": \"j\"}]}",
		"{\"ranks\": [{\"job_name\": \"j\", \"threads\": [], \"other_threads\": null}]}",
		"{\"ranks\": [{\"job_name\": \"j\", \"threads\": 7, \"other_threads\": [1]}]}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct job_list *l = parse(texts[i]);

		draw_page(l);
		cr_expect_str_eq(row_below("    RUNS", 1),
				 "  - (no window with scheduling was read yet)");
		job_list__free(l);
	}
}
