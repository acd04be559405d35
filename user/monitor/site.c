// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/site.h"
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include "common/util.h"
#include "monitor/assets.h"
#include "monitor/jobs_view.h"
#include "monitor/metrics_text.h"

#define SILENT_NS 60000000000ull /* the parent normally sends something every few seconds */
#define TEXT	  "text/plain; charset=utf-8"
#define HTML	  "text/html; charset=utf-8"
#define JSON	  "application/json"

static bool is_healthy(const struct site *s)
{
	return clock__monotonic_ns() - s->series.heard_ns < SILENT_NS;
}

static struct jobs_view view_of(const struct site *s)
{
	return (struct jobs_view){
		.series = &s->series, .has_token = s->records.token, .has_pages = s->pages};
}

static bool put_health(struct site *s, struct http_page *page)
{
	page->type = TEXT;
	page->status = is_healthy(s) ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
	fputs(is_healthy(s) ? "ok\n" : "the monitor does not answer\n", page->out);
	return true;
}

static bool put_metrics(struct site *s, struct http_page *page)
{
	page->type = METRICS_TYPE;
	metrics_text__print(&s->series, page->out);
	return true;
}

static bool put_jobs(struct site *s, struct http_page *page)
{
	page->type = JSON;
	return !jobs_view__json(&s->series, page->out);
}

static bool put_index(struct site *s, struct http_page *page)
{
	const struct jobs_view view = view_of(s);

	page->type = HTML;
	jobs_view__html(&view, page->out);
	return true;
}

static bool put_css(struct site *s, struct http_page *page)
{
	page->type = "text/css; charset=utf-8";
	fputs(monitor_asset_css, page->out);
	return true;
}

static bool put_js(struct site *s, struct http_page *page)
{
	page->type = "text/javascript; charset=utf-8";
	fputs(monitor_asset_js, page->out);
	return true;
}

static const struct {
	const char *path;
	bool (*put)(struct site *s, struct http_page *page);
} paths[] = {
	{"/", put_index},	   {"/health", put_health},   {"/jobs", put_jobs},
	{"/metrics", put_metrics}, {"/monitor.css", put_css}, {"/monitor.js", put_js},
};

/* ---- /jobs/PID... ---- */

/* Returns the text after the number. NULL: there is no number. */
static const char *parse_pid(const char *path, int *pid)
{
	static const char begin[] = "/jobs/";
	char *end;
	long number;

	if (strncmp(path, begin, strlen(begin)) != 0 || path[strlen(begin)] < '1' ||
	    path[strlen(begin)] > '9')
		return NULL;
	errno = 0;
	number = strtol(path + strlen(begin), &end, 10);
	if (errno || number > INT32_MAX)
		return NULL;
	*pid = (int)number;
	return end;
}

static bool refuse(struct http_page *page, unsigned int status, const char *why)
{
	page->type = TEXT;
	page->status = status;
	fprintf(page->out, "%s\n", why);
	return true;
}

static const char *find_recording(const struct rank_series *r, const char *name)
{
	if (!name)
		return *r->file ? r->file : NULL;
	for (size_t i = 0; i < r->past_cnt; i++)
		if (!strcmp(r->past[i].file, name))
			return r->past[i].file;
	if (*name && !strcmp(r->alarm.recording, name))
		return r->alarm.recording;
	return *name && !strcmp(r->alarm.baseline, name) ? r->alarm.baseline : NULL;
}

static bool put_report(struct site *s, const struct rank_series *r,
		       const struct http_request *request, struct http_page *page)
{
	const char *file = find_recording(r, request->recording);

	if (!s->pages && !record_request__has_token(&s->records, request))
		return refuse(
			page, MHD_HTTP_FORBIDDEN,
			"pages of recordings show command lines and file names: start the monitor "
			"with "
			"--pages all, or give the token of --token-file (Authorization: Bearer "
			"TOKEN)");
	if (!file)
		return refuse(page, MHD_HTTP_NOT_FOUND,
			      request->recording ? "the job has no such recording: see /jobs/PID"
						 : "no window of it was read yet: ask again later");
	report_pages__take(&s->reports, file, page, clock__monotonic_ns());
	return true;
}

static bool put_rank(struct site *s, const struct rank_series *r, bool is_html,
		     struct http_page *page)
{
	const struct jobs_view view = view_of(s);

	page->type = is_html ? HTML : JSON;
	if (!is_html)
		return !jobs_view__json_of(r, page->out);
	jobs_view__html_of(&view, r, page->out);
	return true;
}

static bool put_job(struct site *s, const struct http_request *request, struct http_page *page)
{
	int pid;
	const char *rest = parse_pid(request->path, &pid);
	const struct rank_series *r;

	if (!rest || (*rest && strcmp(rest, ".html") != 0 && strcmp(rest, "/report.html") != 0))
		return false;
	r = job_series__of_pid(&s->series, pid);
	if (!r)
		return refuse(page, MHD_HTTP_NOT_FOUND,
			      "no process with this number is watched: see /jobs");
	if (*rest == '/')
		return put_report(s, r, request, page);
	return put_rank(s, r, *rest || request->wants_html, page);
}

bool site__answer(void *ctx, const struct http_request *request, struct http_page *page)
{
	struct site *s = ctx;

	if (!s->has_counts)
		return refuse(page, MHD_HTTP_SERVICE_UNAVAILABLE,
			      "the monitor looks at this host for the first time");
	job_series__expire(&s->series, clock__monotonic_ns());
	if (request->is_post) {
		page->type = TEXT;
		page->status = record_request__take(&s->records, request, &s->series, page->out);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (!strcmp(request->path, paths[i].path))
			return paths[i].put(s, page);
	return put_job(s, request, page);
}
