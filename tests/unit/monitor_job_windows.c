// SPDX-License-Identifier: BSD-2-Clause
/* Windows of all ranks of a job: which recordings are read together, and what is counted. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "monitor/job_figures.h"
#include "monitor/job_windows.h"
#include "monitor/metrics_text.h"

TestSuite(monitor_job_windows);

#define SECOND_NS 1000000000ull

struct world {
	struct job_windows j;
	uint64_t results[JOB_WINDOW_RESULT_CNT], missing[JOB_MISSING_CNT];
	uint32_t late; /* the watch that was not told */
};

static bool takes_part(void *ctx, uint32_t watch, uint32_t id)
{
	const struct world *w = ctx;

	(void)id;
	return watch != w->late;
}

static struct rank_info job(const char *name)
{
	struct rank_info info = {0};

	snprintf(info.key.name, sizeof(info.key.name), "%s", name);
	return info;
}

static uint32_t plan(struct world *w, size_t ranks)
{
	const struct rank_info info = job("a");
	uint32_t id;

	*w = (struct world){0};
	w->j = (struct job_windows){
		.takes_part = takes_part, .ctx = w, .results = w->results, .missing = w->missing};
	/* No report begins: another one seems to be read. */
	w->j.reading = 99;
	id = job_windows__plan(&w->j, &info, 10 * SECOND_NS);
	for (uint32_t rank = 1; rank <= ranks; rank++)
		cr_assert(job_windows__add(&w->j, id, rank));
	return id;
}

Test(monitor_job_windows, those_that_gave_figures_are_read_together)
{
	struct world w;
	const uint32_t id = plan(&w, 3);
	const struct rank_info same = job("a"), other = job("b");

	cr_expect(job_windows__has(&w.j, &same));
	cr_expect_not(job_windows__has(&w.j, &other));
	job_windows__decide(&w.j, id, 1, "a_1.ptrec", JOB_MISSING_WINDOW);
	job_windows__decide(&w.j, id, 1, NULL, JOB_MISSING_WINDOW);
	job_windows__decide(&w.j, id, 7, NULL, JOB_MISSING_WINDOW);
	job_windows__decide(&w.j, id + 1, 2, NULL, JOB_MISSING_WINDOW);
	job_windows__decide(&w.j, id, 2, NULL, JOB_MISSING_WINDOW);
	cr_assert_eq(w.j.cnt, 1);
	cr_expect_not(w.j.items[0].is_complete);
	job_windows__decide(&w.j, id, 3, "a_3.ptrec", JOB_MISSING_WINDOW);
	cr_expect(w.j.items[0].is_complete);
	cr_expect_str_eq(w.j.items[0].members[0].file, "a_1.ptrec");
	cr_expect_eq(w.missing[JOB_MISSING_WINDOW], 1, "once, and of its own ranks");
	cr_expect_eq(w.j.items[0].missing, 1);
	job_windows__stop(&w.j);
}

Test(monitor_job_windows, one_recording_alone_is_not_read)
{
	struct world w;
	const struct rank_info same = job("a");
	const uint32_t id = plan(&w, 2);

	job_windows__miss(&w.j, id, JOB_MISSING_LOSS);
	job_windows__decide(&w.j, id, 2, NULL, JOB_MISSING_WINDOW);
	job_windows__decide(&w.j, id, 1, "a_1.ptrec", JOB_MISSING_WINDOW);
	cr_expect_not(job_windows__has(&w.j, &same));
	cr_expect_eq(w.results[JOB_WINDOW_FAILED], 1);
	cr_expect_eq(w.missing[JOB_MISSING_LOSS], 1);
	job_windows__stop(&w.j);
}

Test(monitor_job_windows, a_rank_that_was_not_told_is_not_waited_for)
{
	struct world w;
	const uint32_t id = plan(&w, 3);

	w.late = 2;
	cr_expect_eq(job_windows__due(&w.j), 15 * SECOND_NS);
	job_windows__tick(&w.j, 14 * SECOND_NS);
	cr_expect_eq(w.missing[JOB_MISSING_BUSY], 0);
	job_windows__tick(&w.j, 15 * SECOND_NS);
	cr_expect_eq(w.missing[JOB_MISSING_BUSY], 1);
	cr_expect_eq(job_windows__due(&w.j), UINT64_MAX);
	job_windows__decide(&w.j, id, 1, "a_1.ptrec", JOB_MISSING_WINDOW);
	job_windows__decide(&w.j, id, 3, "a_3.ptrec", JOB_MISSING_WINDOW);
	cr_expect(w.j.items[0].is_complete);
	job_windows__stop(&w.j);
}

Test(monitor_job_windows, all_of_them_may_not_have_been_told)
{
	struct world w;

	plan(&w, 1);
	w.late = 1;
	job_windows__tick(&w.j, 15 * SECOND_NS);
	cr_expect_eq(w.j.cnt, 0);
	cr_expect_eq(w.results[JOB_WINDOW_FAILED], 1);
	job_windows__stop(&w.j);
}

static struct job_figures figures_of(const char *json)
{
	struct job_figures f;

	cr_assert_eq(job_figures__parse(json, strlen(json), &f), 0, "%s", json);
	return f;
}

static const char straggler[] = "{\"straggler\": {\"judged\": true, \"rows\": "
				"[{\"straggler\": 1, \"pid\": 1002, "
				"\"of_step_percent\": 62.5, \"phase\": \"For\\u202eward\"}]}}";

Test(monitor_job_windows, takes_the_straggler_from_a_report)
{
	struct job_figures f = figures_of(straggler);

	cr_expect(f.is_judged);
	cr_expect_eq(f.pid, 1002);
	cr_expect_float_eq(f.wait_ratio, 0.625, 1e-9);
	cr_expect_not(strstr(f.phase, "\u202e"), "it turns text around");
	f = figures_of("{\"straggler\": {\"judged\": true, \"rows\": [{\"straggler\": null, "
		       "\"pid\": null}]}}");
	cr_expect(f.is_judged);
	cr_expect_eq(f.pid, 0);
	f = figures_of("{\"straggler\": {\"judged\": false, \"rows\": [{\"pid\": null}]}}");
	cr_expect_not(f.is_judged);
}

Test(monitor_job_windows, a_report_of_all_ranks_may_lie)
{
	static const char *const lies[] = {
		"{}",
		"{\"straggler\": []}",
		"{\"straggler\": {\"rows\": [{\"pid\": -1, \"of_step_percent\": 50}]}}",
		"{\"straggler\": {\"rows\": [{\"pid\": 5, \"of_step_percent\": 5000}]}}",
		"{\"straggler\": {\"rows\": [{\"pid\": 5, \"of_step_percent\": \"x\"}]}}",
		"{\"straggler\": {\"judged\": \"true\"}}",
	};
	struct job_figures f;

	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		f = figures_of(lies[i]);
		cr_expect(!f.is_judged && !f.pid, "%s", lies[i]);
	}
	cr_expect_neq(job_figures__parse("[]", 2, &f), 0);
	cr_expect_neq(job_figures__parse("{", 1, &f), 0);
}

static int changes;

static void note_change(const struct rank_series *r)
{
	(void)r;
	changes++;
}

static struct rank_series *begin(struct job_series *s, uint32_t id, int rank, uint32_t job_window)
{
	struct rank_info info = job("j");
	struct rank_series *r;

	info.id = id;
	info.pid = (pid_t)(1000 + id);
	info.rank = rank;
	r = job_series__begin(s, &info);
	r->joint.id = job_window;
	snprintf(r->joint.file, sizeof(r->joint.file), "j_%u.ptrec", id);
	return r;
}

static bool has_line(const struct job_series *s, const char *line)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	bool has;

	metrics_text__print(s, out);
	fclose(out);
	has = strstr(text, line) != NULL;
	free(text);
	return has;
}

#define SERIES(rank) "proftrace_straggler_ratio{job_name=\"j\",uid=\"0\",rank=\"" rank "\"}"

Test(monitor_job_windows, the_others_are_no_stragglers_and_who_was_not_in_it_is_nothing)
{
	struct job_series s = {.series_max = 1000};
	struct rank_series *first = begin(&s, 1, 0, 4), *slow = begin(&s, 2, 1, 4),
			   *absent = begin(&s, 3, 2, 0);
	struct job_figures f = figures_of(straggler);

	cr_expect_not(has_line(&s, SERIES("0")), "not known yet");
	job_series__add_job_window(&s, 4, &f, note_change);
	cr_expect(has_line(&s, SERIES("0") " 0\n"));
	cr_expect(has_line(&s, SERIES("1") " 0.625\n"));
	cr_expect_not(has_line(&s, SERIES("2")));
	cr_expect_str_eq(first->joint.read_file, "j_1.ptrec");
	cr_expect_str_eq(absent->joint.read_file, "");
	cr_expect_eq(changes, 1);
	job_series__add_job_window(&s, 4, &f, note_change);
	cr_expect_eq(changes, 1, "it is told once");
	f = (struct job_figures){.is_judged = true};
	job_series__add_job_window(&s, 4, &f, note_change);
	cr_expect_eq(changes, 2);
	cr_expect_eq(slow->joint.wait_ratio, 0);
	f = (struct job_figures){0};
	job_series__add_job_window(&s, 4, &f, note_change);
	cr_expect_not(has_line(&s, SERIES("1")), "it could not be told");
	job_series__free(&s);
}
