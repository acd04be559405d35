// SPDX-License-Identifier: BSD-2-Clause
/* The monitor's pages. monitor.js replaces <main> with that of a later answer. */
#include <stdlib.h>
#include <string.h>
#include "common/util.h"
#include "monitor/html_text.h"
#include "monitor/jobs_view.h"

static void put_head(FILE *out, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
	      "<title>",
	      out);
	html_text__put(out, title);
	fputs("</title><link rel=\"icon\" href=\"data:,\"><link rel=\"stylesheet\" "
	      "href=\"/monitor.css\"><script src=\"/monitor.js\" defer></script></head><body>\n",
	      out);
}

/* The foot is outside of <main>, so what the user types there stays. */
static void put_foot(const struct jobs_view *v, FILE *out)
{
	fputs("</main>\n<p id=\"age\" class=\"warn\" role=\"status\"></p>\n", out);
	if (v->has_token)
		fputs("<form autocomplete=\"off\"><label>Token <input id=\"token\" "
		      "type=\"password\" "
		      "autocomplete=\"off\"></label> <label>Steps <input id=\"steps\" "
		      "type=\"number\" "
		      "min=\"1\" max=\"1000\" placeholder=\"as usual\"></label></form>\n",
		      out);
	fputs("<p id=\"said\" role=\"status\"></p>\n<nav><a href=\"/\">Jobs</a> · <a "
	      "href=\"/jobs\">JSON</a> · <a href=\"/metrics\">Metrics</a></nav>\n</body></html>\n",
	      out);
}

static void put_job_name(FILE *out, const struct rank_series *r)
{
	fputs("<td class=\"name\">", out);
	fprintf(out, "<a id=\"job%d\" href=\"/jobs/%d.html\">", r->info.pid, r->info.pid);
	html_text__put(out, r->info.key.name);
	fprintf(out, "</a><div class=\"soft\">user %u, process %d<br>", r->info.uid, r->info.pid);
	html_text__put(out, r->framework);
	fputs(" ", out);
	html_text__put(out, r->version);
	fputs("</div></td>", out);
}

/* The other ranks wait for it. */
static void put_straggler(FILE *out, const struct rank_series *r)
{
	fprintf(out, "straggler %.0f&nbsp;%%", 100 * r->joint.wait_ratio);
	if (!*r->joint.phase)
		return;
	fputs(" (", out);
	html_text__put(out, r->joint.phase);
	fputs(")", out);
}

static void put_findings(FILE *out, const struct rank_series *r)
{
	bool has_any = false;

	for (size_t i = 0; i < r->finding_cnt; i++) {
		if (!(r->findings[i].value > 0))
			continue;
		fputs(has_any ? "<br>" : "", out);
		html_text__put(out, r->findings[i].name);
		fprintf(out, " %.0f&nbsp;%%", 100 * r->findings[i].value);
		has_any = true;
	}
	if (r->joint.wait_ratio > 0) {
		fputs(has_any ? "<br>" : "", out);
		put_straggler(out, r);
		has_any = true;
	}
	if (!has_any)
		fputs(r->window_cnt ? "none" : "-", out);
}

static void put_regression(FILE *out, const struct rank_series *r)
{
	char text[REGRESSION_TEXT];

	jobs_view__describe_regression(r, text, sizeof(text));
	fprintf(out, "<span%s>", r->cusum.alarm ? " class=\"warn\"" : "");
	html_text__put(out, text);
	fputs("</span>", out);
}

static void put_button(const struct jobs_view *v, FILE *out, const struct rank_series *r)
{
	if (!v->has_token || r->ended_ns)
		return;
	fprintf(out,
		"<button id=\"record%d\" data-pid=\"%d\"%s aria-label=\"Record a window of process "
		"%d\">Record</button>",
		r->info.pid, r->info.pid, r->state == WATCH_WAITING ? "" : " disabled",
		r->info.pid);
}

static void put_recording(const struct jobs_view *v, FILE *out, const struct rank_series *r)
{
	if (!*r->file)
		fputs("-", out);
	else if (v->has_pages)
		fprintf(out, "<a id=\"report%d\" href=\"/jobs/%d/report.html\">Page</a>",
			r->info.pid, r->info.pid);
	else
		fputs("see the job", out);
	fputs(" ", out);
	put_button(v, out, r);
}

/* The mean of the rank's GPUs. */
static void put_busy(FILE *out, const struct rank_series *r)
{
	double sum = 0;

	for (size_t i = 0; i < r->device_cnt; i++)
		sum += r->devices[i].value;
	if (r->device_cnt)
		fprintf(out, "%.0f&nbsp;%%", 100 * sum / (double)r->device_cnt);
	else
		fputs("-", out);
}

static void put_row(const struct jobs_view *v, FILE *out, const struct rank_series *r)
{
	fputs("<tr>", out);
	put_job_name(out, r);
	fputs("<td>", out);
	html_text__put(out, r->rank);
	fprintf(out, "</td><td>%s</td><td class=\"number\">%llu</td><td class=\"number\">",
		jobs_view__state(r), (unsigned long long)job_series__steps(r));
	html_text__put_step(out, r->median_s);
	fputs("</td><td>", out);
	html_text__put_sparkline(out, r);
	fputs("</td><td>", out);
	html_text__put_phases(out, r);
	fputs("</td><td class=\"number\">", out);
	put_busy(out, r);
	fputs("</td><td>", out);
	put_findings(out, r);
	fputs("</td><td>", out);
	put_regression(out, r);
	fputs("</td><td>", out);
	put_recording(v, out, r);
	fputs("</td></tr>\n", out);
}

static void put_unwatched(const struct job_series *s, FILE *out)
{
	fputs("<h2>Processes not watched</h2>\n<dl>\n", out);
	for (size_t i = 0; i < UNWATCHED_CNT; i++)
		if (s->counts.unwatched[i])
			fprintf(out, "<dt>%s</dt><dd>%llu</dd>\n", unwatched_names[i],
				(unsigned long long)s->counts.unwatched[i]);
	fputs("</dl>\n", out);
}

static void put_hold(const struct job_series *s, FILE *out)
{
	if (s->counts.hold)
		fprintf(out, "<p class=\"warn\">No window opens now: %s.</p>\n",
			hold_names[s->counts.hold]);
}

void jobs_view__html(const struct jobs_view *v, FILE *out)
{
	const struct job_series *s = v->series;

	put_head(out, "proftrace monitor");
	fputs("<main><h1>Jobs on this host</h1>\n", out);
	put_hold(s, out);
	if (!s->cnt)
		fputs("<p>No job is watched.</p>\n", out);
	else
		fputs("<div "
		      "class=\"card\"><table><thead><tr><th>Job</th><th>Rank</th><th>State</th>"
		      "<th class=\"number\">Steps</th><th "
		      "class=\"number\">Step</th>"
		      "<th>Recent</th><th>Phases</th><th "
		      "class=\"number\">GPU</th><th>Findings</th><th>Regression</th>"
		      "<th>Recording</th></tr></thead><tbody>\n",
		      out);
	for (size_t i = 0; i < s->cnt; i++)
		put_row(v, out, s->items[i]);
	if (s->cnt)
		fputs("</tbody></table></div>\n", out);
	put_unwatched(s, out);
	put_foot(v, out);
}

/* ---- one rank ---- */

static void put_fact(FILE *out, const char *name, const char *text)
{
	fputs("<dt>", out);
	html_text__put(out, name);
	fputs("</dt><dd>", out);
	html_text__put(out, *text ? text : "-");
	fputs("</dd>\n", out);
}

static void put_figure(FILE *out, const char *name, const char *format, double value, bool is_known)
{
	char text[64];

	snprintf(text, sizeof(text), format, value);
	put_fact(out, name, is_known ? text : "-");
}

static void put_devices(const struct rank_series *r, FILE *out)
{
	static const char *const texts[DEVICE_TIMES_CNT] = {
		[DEVICE_TIMES_OFF] = "not recorded (--device-times)",
		[DEVICE_TIMES_WITHOUT_CUDA] = "the process does not use CUDA",
		[DEVICE_TIMES_RECORDED] = "recorded",
		[DEVICE_TIMES_REFUSED] = "refused",
	};
	char text[DEVICE_WHY + 32];

	snprintf(text, sizeof(text), "%s%s%s", texts[r->device_times], *r->device_why ? ": " : "",
		 r->device_why);
	put_fact(out, "Device times", text);
	for (size_t i = 0; i < r->device_cnt; i++) {
		/* "GPU0 busy" */
		snprintf(text, sizeof(text), "%.100s busy", r->devices[i].name);
		put_figure(out, text, "%.1f %% of the latest window's steps",
			   100 * r->devices[i].value, true);
	}
}

static void put_facts(const struct rank_series *r, FILE *out)
{
	double overhead = 0;
	char text[REGRESSION_TEXT];

	fputs("<dl>\n", out);
	put_fact(out, "State", jobs_view__state(r));
	put_figure(out, "User", "%.0f", r->info.uid, true);
	put_figure(out, "Process", "%.0f", r->info.pid, true);
	snprintf(text, sizeof(text), "%s %s", r->framework, r->version);
	put_fact(out, "Framework", text);
	put_fact(out, "What is a step", r->step_rule);
	put_fact(out, "Container", r->info.key.container);
	put_figure(out, "Steps counted", "%.0f", (double)job_series__steps(r), true);
	put_figure(out, "Steps recorded", "%.0f", (double)r->sampled_cnt, true);
	put_figure(out, "Median step of the latest window", "%.3f ms", 1e3 * r->median_s,
		   r->median_s > 0);
	put_figure(out, "Processors in use", "%.2f", r->cpus, r->cpus >= 0 && !r->ended_ns);
	put_figure(out, "Estimated cost of probes", "%.3f %% of the time watched", 100 * overhead,
		   job_series__overhead(r, &overhead));
	put_devices(r, out);
	jobs_view__describe_regression(r, text, sizeof(text));
	put_fact(out, "Regression", text);
	put_figure(out, "Other ranks wait for it", "%.0f %% of a step", 100 * r->joint.wait_ratio,
		   r->joint.is_judged);
	put_fact(out, "Latest recording of all ranks", r->joint.read_file);
	fputs("</dl>\n", out);
}

static int by_value(const void *a, const void *b)
{
	const struct named_figure *x = a, *y = b;

	return (x->value < y->value) - (x->value > y->value);
}

static void put_operators(const struct rank_series *r, FILE *out)
{
	struct named_figure sorted[SERIES_OPERATORS];

	memcpy(sorted, r->operators, sizeof(sorted));
	qsort(sorted, r->operator_cnt, sizeof(*sorted), by_value);
	fputs("<h2>Operators</h2>\n<div class=\"card\"><table><thead><tr><th>Operator</th><th "
	      "class=\"number\">CPU time of recorded steps</th><th class=\"number\">Per step</th>"
	      "</tr></thead><tbody>\n",
	      out);
	for (size_t i = 0; i < r->operator_cnt; i++) {
		fputs("<tr><td class=\"name\">", out);
		html_text__put(out, sorted[i].name);
		fputs("</td><td class=\"number\">", out);
		html_text__put_step(out, sorted[i].value);
		fputs("</td><td class=\"number\">", out);
		html_text__put_step(out,
				    r->sampled_cnt ? sorted[i].value / (double)r->sampled_cnt : 0);
		fputs("</td></tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
}

static void put_share(FILE *out, double share)
{
	fprintf(out, "<td class=\"number\">%.1f&nbsp;%%</td>", 100 * share);
}

static void put_threads(const struct rank_series *r, FILE *out)
{
	const struct thread_figures *t = &r->threads;

	fputs("<h2>Threads</h2>\n<p class=\"soft\">Shares of the latest window's steps.</p>\n<div "
	      "class=\"card\"><table><thead><tr><th>Thread</th><th class=\"number\">Runs</th><th "
	      "class=\"number\">Waits for a processor</th></tr></thead><tbody>\n",
	      out);
	for (size_t i = 0; i < t->cnt + !!t->other_cnt; i++) {
		const struct thread_figure *thread = i < t->cnt ? &t->list[i] : &t->others;

		fputs("<tr><td class=\"name\">", out);
		if (i < t->cnt)
			html_text__put(out, thread->name);
		else
			fprintf(out, "%zu%s others", t->other_cnt, t->is_cut ? " or more" : "");
		fputs("</td>", out);
		put_share(out, thread->run);
		put_share(out, thread->runnable);
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
}

static void put_time(FILE *out, double at_s)
{
	char text[32] = "";

	jobs_view__time(at_s, TIME_TO_SECOND, text, sizeof(text));
	fputs(text, out);
}

static void put_page_link(const struct jobs_view *v, const struct rank_series *r, const char *file,
			  FILE *out)
{
	if (!v->has_pages) {
		fputs("-", out);
		return;
	}
	fprintf(out, "<a href=\"/jobs/%d/report.html?recording=", r->info.pid);
	html_text__put(out, file);
	fputs("\">Page</a>", out);
}

static void put_window(const struct jobs_view *v, const struct rank_series *r,
		       const struct past_window *w, FILE *out)
{
	fputs("<tr><td>", out);
	put_time(out, w->at_s);
	fputs("</td><td class=\"number\">", out);
	html_text__put_step(out, w->median_s);
	fputs("</td><td><code>", out);
	html_text__put(out, w->file);
	fputs("</code></td><td>", out);
	put_page_link(v, r, w->file, out);
	fputs("</td></tr>\n", out);
}

/* What takes longer, and the two recordings that were compared. */
static void put_alarm(const struct jobs_view *v, const struct rank_series *r, FILE *out)
{
	const struct {
		const char *title, *file;
	} files[] = {{"Now", r->alarm.recording}, {"Before", r->alarm.baseline}};
	char text[160];

	if (!r->cusum.alarm || !r->alarm.is_compared)
		return;
	alarm_figures__describe(&r->alarm.figures, text, sizeof(text));
	fputs("<h2>Steps take longer</h2>\n<p class=\"warn\">", out);
	html_text__put(out, text);
	fputs("</p>\n<dl>\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		fprintf(out, "<dt>%s</dt><dd><code>", files[i].title);
		html_text__put(out, files[i].file);
		fputs("</code> ", out);
		put_page_link(v, r, files[i].file, out);
		fputs("</dd>\n", out);
	}
	fputs("</dl>\n", out);
}

static void put_windows(const struct jobs_view *v, const struct rank_series *r, FILE *out)
{
	fprintf(out,
		"<h2>Recordings of the latest windows</h2>\n<p class=\"soft\">%s The oldest are "
		"removed "
		"when --keep is full.</p>\n<div class=\"card\"><table><thead><tr><th>Read "
		"at</th><th "
		"class=\"number\">Median step</th><th>File in "
		"--store</th><th>Page</th></tr></thead>"
		"<tbody>\n",
		v->has_pages
			? ""
			: "Pages need --pages all; `proftrace report FILE` prints a recording.");
	for (size_t i = r->past_cnt; i-- > 0;)
		put_window(v, r, &r->past[i], out);
	fputs("</tbody></table></div>\n", out);
}

void jobs_view__html_of(const struct jobs_view *v, const struct rank_series *r, FILE *out)
{
	put_head(out, r->info.key.name);
	fputs("<main><h1>", out);
	html_text__put(out, r->info.key.name);
	fputs(", rank ", out);
	html_text__put(out, r->rank);
	fputs("</h1>\n", out);
	put_hold(v->series, out);
	put_button(v, out, r);
	put_facts(r, out);
	fputs("<h2>Step time</h2>\n", out);
	html_text__put_sparkline(out, r);
	fputs("<h2>Phases</h2>\n", out);
	html_text__put_phases(out, r);
	fputs("<h2>Findings</h2>\n<p>", out);
	put_findings(out, r);
	fputs("</p>\n", out);
	put_alarm(v, r, out);
	put_windows(v, r, out);
	put_operators(r, out);
	put_threads(r, out);
	put_foot(v, out);
}
