// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/jobs_view.h"
#include <errno.h>
#include <jansson.h>
#include <string.h>

static const char *state_of(const struct rank_series *r)
{
	return r->ended_ns ? r->lives ? "backoff" : "ended" : watch_state_names[r->state];
}

/* Why there is no answer yet, or the answer. */
static void describe_regression(const struct rank_series *r, char *out, size_t size)
{
	if (!cusum__is_warm(&r->cusum))
		snprintf(out, size, "unknown: %zu of %d windows", r->cusum.warm_up_cnt,
			 CUSUM_WARM_UP);
	else if (r->cusum.alarm)
		snprintf(out, size, "step %.1f %% longer", 100 * cusum__change(&r->cusum));
	else
		snprintf(out, size, "none");
}

/* ---- JSON ---- */

static json_t *named(const struct named_figure *list, size_t cnt)
{
	json_t *all = json_object();

	for (size_t i = 0; i < cnt; i++)
		json_object_set_new(all, list[i].name, json_real(list[i].value));
	return all;
}

static json_t *rank_json(const struct rank_series *r)
{
	char change[64];

	describe_regression(r, change, sizeof(change));
	return json_pack(
		"{s:s, s:I, s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:f, "
		"s:o, "
		"s:o, s:o, s:o, s:s, s:s}",
		"job_name", r->info.key.name, "uid", (json_int_t)r->info.uid, "rank", r->rank,
		"pid", (int)r->info.pid, "state", state_of(r), "framework", r->framework,
		"framework_version", r->version, "step_rule", r->step_rule, "container_id",
		r->info.key.container, "pod_uid", r->info.key.pod, "steps",
		(json_int_t)job_series__steps(r), "sampled_steps", (json_int_t)r->sampled_cnt,
		"windows", (json_int_t)r->window_cnt, "step_seconds",
		r->median_s > 0 ? json_real(r->median_s) : json_null(), "cpus",
		r->cpus >= 0 && !r->ended_ns ? json_real(r->cpus) : json_null(), "duty", r->duty,
		"window_overhead", r->overhead > 0 ? json_real(r->overhead) : json_null(), "phases",
		named(r->phases, r->phase_cnt), "operators", named(r->operators, r->operator_cnt),
		"findings", named(r->findings, r->finding_cnt), "regression", change,
		"latest_recording", r->file);
}

int jobs_view__json(const struct job_series *s, FILE *out)
{
	json_t *ranks = json_array(), *unwatched = json_object(), *all;
	int err;

	for (size_t i = 0; i < s->cnt; i++)
		json_array_append_new(ranks, rank_json(s->items[i]));
	for (size_t i = 0; i < UNWATCHED_CNT; i++)
		json_object_set_new(unwatched, unwatched_names[i],
				    json_integer((json_int_t)s->counts.unwatched[i]));
	all = json_pack("{s:o, s:o}", "ranks", ranks, "unwatched_processes", unwatched);
	err = all ? json_dumpf(all, out, JSON_INDENT(1)) : -1;
	fputc('\n', out);
	json_decref(all);
	return err ? -ENOMEM : 0;
}

/* ---- HTML ---- */

static void put_text(FILE *out, const char *text)
{
	static const struct {
		char c;
		const char *entity;
	} escaped[] = {
		{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};

	for (; *text; text++) {
		const char *entity = NULL;

		for (size_t i = 0; i < sizeof(escaped) / sizeof(*escaped); i++)
			if (escaped[i].c == *text)
				entity = escaped[i].entity;
		if (entity)
			fputs(entity, out);
		else
			fputc(*text, out);
	}
}

static void put_cell(FILE *out, const char *text)
{
	fputs("<td>", out);
	put_text(out, text);
	fputs("</td>", out);
}

static void put_phases(FILE *out, const struct rank_series *r)
{
	fputs("<td>", out);
	for (size_t i = 0; i < r->phase_cnt && r->sampled_s > 0; i++) {
		put_text(out, r->phases[i].name);
		fprintf(out, " %.0f&nbsp;%% ", 100 * r->phases[i].value / r->sampled_s);
	}
	fputs("</td>", out);
}

static void put_findings(FILE *out, const struct rank_series *r)
{
	fputs("<td>", out);
	for (size_t i = 0; i < r->finding_cnt; i++) {
		if (!r->findings[i].value)
			continue;
		put_text(out, r->findings[i].name);
		fprintf(out, " %.0f&nbsp;%% ", 100 * r->findings[i].value);
	}
	fputs("</td>", out);
}

static void put_rank(FILE *out, const struct rank_series *r)
{
	char text[64];

	fputs("<tr>", out);
	put_cell(out, r->info.key.name);
	put_cell(out, r->rank);
	snprintf(text, sizeof(text), "%d", r->info.pid);
	put_cell(out, text);
	put_cell(out, state_of(r));
	snprintf(text, sizeof(text), "%.31s %.31s", r->framework, r->version);
	put_cell(out, text);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)job_series__steps(r));
	put_cell(out, text);
	snprintf(text, sizeof(text), r->median_s > 0 ? "%.3f ms" : "-", 1e3 * r->median_s);
	put_cell(out, text);
	put_phases(out, r);
	put_findings(out, r);
	describe_regression(r, text, sizeof(text));
	put_cell(out, text);
	put_cell(out, r->file);
	fputs("</tr>\n", out);
}

void jobs_view__html(const struct job_series *s, FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	      "<title>proftrace monitor</title>"
	      "<style>body{font:14px sans-serif;margin:1em}td,th{text-align:left;"
	      "padding:.2em .8em .2em 0;vertical-align:top}</style></head><body>\n"
	      "<h1>Jobs on this host</h1>\n",
	      out);
	if (!s->cnt)
		fputs("<p>No job is watched.</p>\n", out);
	fputs("<table><tr><th>Job</th><th>Rank</th><th>PID</th><th>State</th><th>Framework</th>"
	      "<th>Steps</th><th>Step</th><th>Phases</th><th>Findings</th><th>Regression</th>"
	      "<th>Latest recording</th></tr>\n",
	      out);
	for (size_t i = 0; i < s->cnt; i++)
		put_rank(out, s->items[i]);
	fputs("</table>\n<h2>Processes not watched</h2>\n<ul>\n", out);
	for (size_t i = 0; i < UNWATCHED_CNT; i++)
		if (s->counts.unwatched[i])
			fprintf(out, "<li>%s: %llu</li>\n", unwatched_names[i],
				(unsigned long long)s->counts.unwatched[i]);
	fputs("</ul>\n<p><a href=\"/metrics\">/metrics</a> <a href=\"/jobs\">/jobs</a></p>\n"
	      "</body></html>\n",
	      out);
}
