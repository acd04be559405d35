// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/jobs_view.h"
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <time.h>

const char *jobs_view__state(const struct rank_series *r)
{
	return r->ended_ns ? r->lives ? "backoff" : "ended" : watch_state_names[r->state];
}

void jobs_view__time(double at_s, const char *format, char *out, size_t size)
{
	const time_t at = (time_t)at_s;
	struct tm tm;

	if (at_s > 0 && gmtime_r(&at, &tm))
		strftime(out, size, format, &tm);
}

/* "step 12.1 % longer since 2026-01-31 14:05 UTC: dataloader" */
static void describe_alarm(const struct rank_series *r, char *out, size_t size)
{
	char since[32] = "";

	jobs_view__time(r->alarm.since_s, TIME_TO_MINUTE, since, sizeof(since));
	snprintf(out, size, "step %.1f %% longer%s%s%s%s", 100 * cusum__change(&r->cusum),
		 *since ? " since " : "", since, r->alarm.is_compared ? ": " : "",
		 !r->alarm.is_compared	   ? ""
		 : *r->alarm.figures.cause ? r->alarm.figures.cause
					   : "no phase alone");
}

void jobs_view__describe_regression(const struct rank_series *r, char *out, size_t size)
{
	if (!cusum__is_warm(&r->cusum))
		snprintf(out, size, "unknown: %zu of %d windows", r->cusum.warm_up_cnt,
			 CUSUM_WARM_UP);
	else if (r->cusum.alarm)
		describe_alarm(r, out, size);
	else
		snprintf(out, size, "none");
}

static json_t *named(const struct named_figure *list, size_t cnt)
{
	json_t *all = json_object();

	for (size_t i = 0; i < cnt; i++)
		json_object_set_new(all, list[i].name, json_real(list[i].value));
	return all;
}

static json_t *thread_json(const struct thread_figure *t)
{
	return json_pack("{s:s, s:f, s:f}", "name", t->name, "run", t->run, "runnable",
			 t->runnable);
}

static json_t *threads_json(const struct thread_figures *t)
{
	json_t *all = json_array();

	for (size_t i = 0; i < t->cnt; i++)
		json_array_append_new(all, thread_json(&t->list[i]));
	return all;
}

static json_t *other_threads_json(const struct thread_figures *t)
{
	return json_pack("{s:I, s:f, s:f, s:b}", "threads", (json_int_t)t->other_cnt, "run",
			 t->others.run, "runnable", t->others.runnable, "more", t->is_cut);
}

static json_t *rank_json(const struct rank_series *r)
{
	json_t *all;
	char change[REGRESSION_TEXT];

	jobs_view__describe_regression(r, change, sizeof(change));
	all = json_pack(
		"{s:s, s:I, s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:f, "
		"s:o, "
		"s:o, s:o, s:o, s:s, s:s, s:o, s:s, s:s, s:o, s:s, s:s, s:s, s:s}",
		"job_name", r->info.key.name, "uid", (json_int_t)r->info.uid, "rank", r->rank,
		"pid", (int)r->info.pid, "state", jobs_view__state(r), "framework", r->framework,
		"framework_version", r->version, "step_rule", r->step_rule, "container_id",
		r->info.key.container, "pod_uid", r->info.key.pod, "steps",
		(json_int_t)job_series__steps(r), "sampled_steps", (json_int_t)r->sampled_cnt,
		"windows", (json_int_t)r->window_cnt, "step_seconds",
		r->median_s > 0 ? json_real(r->median_s) : json_null(), "cpus",
		r->cpus >= 0 && !r->ended_ns ? json_real(r->cpus) : json_null(), "duty", r->duty,
		"window_overhead", r->overhead > 0 ? json_real(r->overhead) : json_null(), "phases",
		named(r->phases, r->phase_cnt), "operators", named(r->operators, r->operator_cnt),
		"findings", named(r->findings, r->finding_cnt), "regression", change,
		"latest_recording", r->file, "straggler",
		r->joint.is_judged ? json_real(r->joint.wait_ratio) : json_null(),
		"straggler_phase", r->joint.phase, "latest_recording_of_all_ranks",
		r->joint.read_file, "devices", named(r->devices, r->device_cnt), "device_times",
		device_times_names[r->device_times], "device_times_refused", r->device_why,
		"regression_recording", r->alarm.recording, "regression_baseline",
		r->alarm.baseline);
	json_object_set_new(all, "threads", threads_json(&r->threads));
	json_object_set_new(all, "other_threads", other_threads_json(&r->threads));
	return all;
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

static json_t *past_json(const struct rank_series *r)
{
	json_t *all = json_array();

	for (size_t i = 0; i < r->past_cnt; i++)
		json_array_append_new(all,
				      json_pack("{s:s, s:f, s:f}", "recording", r->past[i].file,
						"step_seconds", r->past[i].median_s,
						"read_at_seconds", r->past[i].at_s));
	return all;
}

int jobs_view__json_of(const struct rank_series *r, FILE *out)
{
	json_t *all = rank_json(r);
	int err;

	json_object_set_new(all, "recent_windows", past_json(r));
	err = all ? json_dumpf(all, out, JSON_INDENT(1)) : -1;
	fputc('\n', out);
	json_decref(all);
	return err ? -ENOMEM : 0;
}
