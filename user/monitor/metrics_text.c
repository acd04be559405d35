// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/metrics_text.h"
#include <string.h>
#include "common/util.h"

/* ---- lines ---- */

static void put_head(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_value(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void put_label(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s=\"", name);
	put_value(out, value);
	fputc('"', out);
}

/* "name{job_name="...",uid="...",rank="..."", and more labels may follow. */
static void begin(FILE *out, const char *name, const struct rank_series *r)
{
	char uid[16];

	snprintf(uid, sizeof(uid), "%u", r->info.uid);
	fprintf(out, "%s{", name);
	put_label(out, "job_name", r->info.key.name);
	fputc(',', out);
	put_label(out, "uid", uid);
	fputc(',', out);
	put_label(out, "rank", r->rank);
}

static void more(FILE *out, const char *name, const char *value)
{
	fputc(',', out);
	put_label(out, name, value);
}

/* As few digits as lead back to the same number. */
static void put_number(FILE *out, double value)
{
	char text[32];
	int digits = 6;

	do
		snprintf(text, sizeof(text), "%.*g", digits, value);
	while (strtod(text, NULL) != value && digits++ < 17);
	fputs(text, out);
}

static void end(FILE *out, double value)
{
	fputs("} ", out);
	put_number(out, value);
	fputc('\n', out);
}

/* ---- of ranks ---- */

/* A figure of each rank; false: the rank has none. */
struct rank_metric {
	const char *name, *type, *help;
	bool (*value)(const struct rank_series *r, double *value);
};

static bool steps(const struct rank_series *r, double *value)
{
	*value = (double)job_series__steps(r);
	return job_series__counts(r);
}

static bool sampled(const struct rank_series *r, double *value)
{
	*value = (double)r->sampled_cnt;
	return job_series__counts(r);
}

static bool regression(const struct rank_series *r, double *value)
{
	*value = r->cusum.alarm;
	return cusum__is_warm(&r->cusum);
}

static bool resets(const struct rank_series *r, double *value)
{
	*value = (double)r->cusum_resets;
	return true;
}

static const struct rank_metric rank_metrics[] = {
	{"proftrace_steps_total", "counter",
	 "Steps since the job is watched, counted without probes. Missing while no session counts "
	 "them.",
	 steps},
	{"proftrace_sampled_steps_total", "counter", "Steps whose inside was recorded.", sampled},
	{"proftrace_monitor_overhead_ratio", "gauge",
	 "Estimated share of the time watched that probes cost the job. Missing until a window has "
	 "an "
	 "estimate.",
	 job_series__overhead},
	{"proftrace_regression", "gauge",
	 "1: steps take longer for good than in the first 60 windows. Missing before those.",
	 regression},
	{"proftrace_regression_resets_total", "counter",
	 "Baselines that were dropped: steps are found by another rule, or another process "
	 "goes on under the name.",
	 resets},
};

static void put_rank_metric(const struct job_series *s, const struct rank_metric *m, FILE *out)
{
	double value;

	put_head(out, m->name, m->type, m->help);
	for (size_t i = 0; i < s->cnt; i++) {
		if (!m->value(s->items[i], &value))
			continue;
		begin(out, m->name, s->items[i]);
		end(out, value);
	}
}

static void put_info(const struct job_series *s, FILE *out)
{
	char pid[16];

	put_head(out, "proftrace_job_info", "gauge",
		 "What is watched; empty labels are not known yet.");
	for (size_t i = 0; i < s->cnt; i++) {
		const struct rank_series *r = s->items[i];

		snprintf(pid, sizeof(pid), "%d", r->info.pid);
		begin(out, "proftrace_job_info", r);
		more(out, "framework", r->framework);
		more(out, "framework_version", r->version);
		more(out, "detail", r->detail);
		more(out, "step_rule", r->step_rule);
		more(out, "pid", pid);
		more(out, "container_id", r->info.key.container);
		more(out, "pod_uid", r->info.key.pod);
		end(out, 1);
	}
}

static void put_histogram(const struct job_series *s, FILE *out)
{
	static const char name[] = "proftrace_step_duration_seconds";
	char limit[32];

	put_head(out, name, "histogram", "Duration of the steps that were recorded.");
	for (size_t i = 0; i < s->cnt; i++) {
		const struct rank_series *r = s->items[i];
		uint64_t cnt = 0;

		if (!job_series__counts(r))
			continue;
		for (size_t b = 0; b <= SERIES_BUCKETS; b++) {
			cnt += r->buckets[b];
			snprintf(limit, sizeof(limit), "%.6g", job_series__bucket(b));
			begin(out, "proftrace_step_duration_seconds_bucket", r);
			more(out, "le", b < SERIES_BUCKETS ? limit : "+Inf");
			end(out, (double)cnt);
		}
		begin(out, "proftrace_step_duration_seconds_sum", r);
		end(out, r->sampled_s);
		begin(out, "proftrace_step_duration_seconds_count", r);
		end(out, (double)cnt);
	}
}

/* Figures of each rank that have names, by a label. */
struct named_metric {
	const char *name, *type, *help, *label;
	const struct named_figure *(*figures)(const struct rank_series *r, size_t *cnt);
	/* What those without a series have; NULL: none. False: the rank has none. */
	bool (*other)(const struct rank_series *r, double *value);
};

static const struct named_figure *phases(const struct rank_series *r, size_t *cnt)
{
	*cnt = r->phase_cnt;
	return r->phases;
}

static const struct named_figure *operators(const struct rank_series *r, size_t *cnt)
{
	*cnt = r->operator_cnt;
	return r->operators;
}

static bool other_operators(const struct rank_series *r, double *value)
{
	*value = r->other_s;
	return r->window_cnt;
}

static const struct named_figure *findings(const struct rank_series *r, size_t *cnt)
{
	*cnt = r->finding_cnt;
	return r->findings;
}

static const struct named_metric named_metrics[] = {
	{"proftrace_phase_seconds_total", "counter",
	 "Time of the recorded steps by phase; per step: divide by proftrace_sampled_steps_total.",
	 "phase", phases, NULL},
	{"proftrace_operator_seconds_total", "counter",
	 "CPU-side time of the recorded steps by outermost operator; 'other': those without a "
	 "series.",
	 "operator", operators, other_operators},
	{"proftrace_finding_ratio", "gauge",
	 "Share of the step that a finding of the latest window is about; 0: not found again.",
	 "rule", findings, NULL},
};

static void put_named(FILE *out, const struct named_metric *m, const struct rank_series *r,
		      const char *name, double value)
{
	begin(out, m->name, r);
	more(out, m->label, name);
	end(out, value);
}

static void put_named_metric(const struct job_series *s, const struct named_metric *m, FILE *out)
{
	double other;
	size_t cnt;

	put_head(out, m->name, m->type, m->help);
	for (size_t i = 0; i < s->cnt; i++) {
		const struct rank_series *r = s->items[i];
		const struct named_figure *list = m->figures(r, &cnt);

		for (size_t f = 0; f < cnt; f++)
			put_named(out, m, r, list[f].name, list[f].value);
		if (m->other && m->other(r, &other))
			put_named(out, m, r, SERIES_OTHER, other);
	}
}

/* ---- of the monitor ---- */

static void put_one(FILE *out, const char *name, const char *type, const char *help, double value)
{
	put_head(out, name, type, help);
	fprintf(out, "%s ", name);
	put_number(out, value);
	fputc('\n', out);
}

static void put_counts(FILE *out, const char *name, const char *type, const char *help,
		       const char *label, const char *const *values, const uint64_t *cnts,
		       size_t cnt)
{
	put_head(out, name, type, help);
	for (size_t i = 0; i < cnt; i++)
		fprintf(out, "%s{%s=\"%s\"} %llu\n", name, label, values[i],
			(unsigned long long)cnts[i]);
}

static void put_monitor(const struct job_series *s, FILE *out)
{
	static const char *const kinds[] = {"anonymous", "bpf"};
	const struct monitor_counts *c = &s->counts;
	const uint64_t memory[] = {c->anonymous_bytes, c->bpf_bytes};
	uint64_t held[HOLD_CNT] = {0};

	put_head(out, "proftrace_build_info", "gauge", "Version of proftrace.");
	fprintf(out, "proftrace_build_info{version=\"%s\"} 1\n", PROFTRACE_VERSION);
	put_one(out, "proftrace_monitor_budget_ratio", "gauge", "--budget.", c->budget);
	put_counts(out, "proftrace_monitor_windows_total", "counter", "Windows by how they ended.",
		   "result", window_result_names, c->windows, WINDOW_RESULT_CNT);
	held[c->hold] = 1;
	put_counts(out, "proftrace_monitor_held", "gauge", "1: no window opens, for this reason.",
		   "reason", hold_names + 1, held + 1, HOLD_CNT - 1);
	put_counts(out, "proftrace_monitor_reloads_total", "counter",
		   "SIGHUPs by what became of the configuration.", "result", reload_names,
		   c->reloads, RELOAD_CNT);
	put_one(out, "proftrace_monitor_events_lost_total", "counter", "Events lost in windows.",
		(double)c->events_lost);
	put_counts(out, "proftrace_monitor_attach_failures_total", "counter",
		   "Sessions that ended before they were ready.", "reason", attach_failure_names,
		   c->attach_failures, ATTACH_FAILURE_CNT);
	put_counts(out, "proftrace_monitor_unwatched_processes", "gauge",
		   "Processes of this host that are not watched, at the latest scan.", "reason",
		   unwatched_names, c->unwatched, UNWATCHED_CNT);
	put_counts(out, "proftrace_monitor_memory_bytes", "gauge",
		   "Memory of the monitor and its sessions.", "kind", kinds, memory,
		   ARRAY_SIZE(memory));
	put_one(out, "proftrace_monitor_series_dropped_total", "counter",
		"Series that --max-series refused.", (double)s->dropped);
	put_one(out, "process_cpu_seconds_total", "counter",
		"CPU time of the monitor and its sessions.", c->cpu_s);
	put_one(out, "process_start_time_seconds", "gauge", "When the monitor began.",
		c->start_time_s);
}

void metrics_text__print(const struct job_series *s, FILE *out)
{
	put_info(s, out);
	for (size_t i = 0; i < ARRAY_SIZE(rank_metrics); i++)
		put_rank_metric(s, &rank_metrics[i], out);
	put_histogram(s, out);
	for (size_t i = 0; i < ARRAY_SIZE(named_metrics); i++)
		put_named_metric(s, &named_metrics[i], out);
	put_monitor(s, out);
}
