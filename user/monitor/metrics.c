// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/metrics.h"
#include <stdio.h>
#include <string.h>
#include "common/util.h"

static void add_label(struct metric_labels *l, const char *name, const char *value)
{
	l->items[l->cnt].name = name;
	l->items[l->cnt++].value = value;
}

/* ---- of ranks ---- */

/* The labels of a rank. */
struct own_labels {
	char uid[16];
	struct metric_labels labels;
};

static void label(struct own_labels *own, const struct rank_series *r)
{
	snprintf(own->uid, sizeof(own->uid), "%u", r->info.uid);
	own->labels.cnt = 0;
	add_label(&own->labels, "job_name", r->info.key.name);
	add_label(&own->labels, "uid", own->uid);
	add_label(&own->labels, "rank", r->rank);
}

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

static bool straggler(const struct rank_series *r, double *value)
{
	*value = r->joint.wait_ratio;
	return r->joint.is_judged;
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
	{"proftrace_straggler_ratio", "gauge",
	 "Share of a step that the other ranks wait for this one, in the latest window of all "
	 "ranks; 0: it is not the straggler. Missing before such a window, and if it could not be "
	 "told.",
	 straggler},
};

static void put_rank_metric(const struct job_series *s, const struct rank_metric *m,
			    const struct metric_sink *sink)
{
	struct own_labels own;
	double value;

	sink->begin(sink->ctx, m->name, m->type, m->help);
	for (size_t i = 0; i < s->cnt; i++) {
		if (!m->value(s->items[i], &value))
			continue;
		label(&own, s->items[i]);
		sink->value(sink->ctx, &own.labels, value);
	}
}

static void put_info(const struct job_series *s, const struct metric_sink *sink)
{
	struct own_labels own;
	char pid[16];

	sink->begin(sink->ctx, "proftrace_job_info", "gauge",
		    "What is watched; empty labels are not known yet.");
	for (size_t i = 0; i < s->cnt; i++) {
		const struct rank_series *r = s->items[i];

		snprintf(pid, sizeof(pid), "%d", r->info.pid);
		label(&own, r);
		add_label(&own.labels, "framework", r->framework);
		add_label(&own.labels, "framework_version", r->version);
		add_label(&own.labels, "detail", r->detail);
		add_label(&own.labels, "step_rule", r->step_rule);
		add_label(&own.labels, "pid", pid);
		add_label(&own.labels, "container_id", r->info.key.container);
		add_label(&own.labels, "pod_uid", r->info.key.pod);
		sink->value(sink->ctx, &own.labels, 1);
	}
}

static void put_histogram(const struct job_series *s, const struct metric_sink *sink)
{
	struct own_labels own;

	sink->begin(sink->ctx, "proftrace_step_duration_seconds", "histogram",
		    "Duration of the steps that were recorded.");
	for (size_t i = 0; i < s->cnt; i++) {
		if (!job_series__counts(s->items[i]))
			continue;
		label(&own, s->items[i]);
		sink->histogram(sink->ctx, &own.labels, s->items[i]);
	}
}

/* Several named figures per rank, with the name as a label. */
struct named_metric {
	const char *name, *type, *help, *label;
	const struct named_figure *(*figures)(const struct rank_series *r, size_t *cnt);
	/* Sum over names without a series of their own; NULL: there is none. False: the rank has
	 * none. */
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

static const struct named_figure *device_busy(const struct rank_series *r, size_t *cnt)
{
	*cnt = r->device_busy_cnt;
	return r->device_busy;
}

static const struct named_figure *device_sampled(const struct rank_series *r, size_t *cnt)
{
	*cnt = r->device_sampled_cnt;
	return r->device_sampled;
}

static const struct named_figure *device_windows(const struct rank_series *r, size_t *cnt)
{
	*cnt = r->device_windows_cnt;
	return r->device_windows;
}

static const struct named_figure *regression_size(const struct rank_series *r, size_t *cnt)
{
	*cnt = r->cusum.alarm;
	return &r->regression;
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
	{"proftrace_regression_ratio", "gauge",
	 "While proftrace_regression is 1: how much longer steps take, by the phase that grew "
	 "most. "
	 "0.05: 5 %.",
	 "cause", regression_size, NULL},
	{"proftrace_device_busy_seconds_total", "counter",
	 "Time of the recorded steps in which a kernel of the rank ran, by GPU.", "device",
	 device_busy, NULL},
	{"proftrace_device_sampled_seconds_total", "counter",
	 "Time of the recorded steps with device times, by GPU.", "device", device_sampled, NULL},
	{"proftrace_device_windows_total", "counter",
	 "Windows of a rank that uses CUDA, by whether they have device times.", "result",
	 device_windows, NULL},
};

static void put_named(const struct metric_sink *sink, const struct named_metric *m,
		      const struct rank_series *r, const char *name, double value)
{
	struct own_labels own;

	label(&own, r);
	add_label(&own.labels, m->label, name);
	sink->value(sink->ctx, &own.labels, value);
}

static void put_named_metric(const struct job_series *s, const struct named_metric *m,
			     const struct metric_sink *sink)
{
	double other;
	size_t cnt;

	sink->begin(sink->ctx, m->name, m->type, m->help);
	for (size_t i = 0; i < s->cnt; i++) {
		const struct rank_series *r = s->items[i];
		const struct named_figure *list = m->figures(r, &cnt);

		for (size_t f = 0; f < cnt; f++)
			put_named(sink, m, r, list[f].name, list[f].value);
		if (m->other && m->other(r, &other))
			put_named(sink, m, r, SERIES_OTHER, other);
	}
}

void metrics__walk_ranks(const struct job_series *s, const struct metric_sink *sink)
{
	put_info(s, sink);
	for (size_t i = 0; i < ARRAY_SIZE(rank_metrics); i++)
		put_rank_metric(s, &rank_metrics[i], sink);
	put_histogram(s, sink);
	for (size_t i = 0; i < ARRAY_SIZE(named_metrics); i++)
		put_named_metric(s, &named_metrics[i], sink);
}

/* ---- of the monitor ---- */

static void put_one(const struct metric_sink *sink, const char *name, const char *type,
		    const char *help, double value)
{
	const struct metric_labels none = {.cnt = 0};

	sink->begin(sink->ctx, name, type, help);
	sink->value(sink->ctx, &none, value);
}

static void put_counts(const struct metric_sink *sink, const char *name, const char *type,
		       const char *help, const char *label_name, const char *const *values,
		       const uint64_t *cnts, size_t cnt)
{
	sink->begin(sink->ctx, name, type, help);
	for (size_t i = 0; i < cnt; i++) {
		struct metric_labels labels = {.cnt = 0};

		add_label(&labels, label_name, values[i]);
		sink->value(sink->ctx, &labels, (double)cnts[i]);
	}
}

static void put_pushes(const struct metric_sink *sink, const struct monitor_counts *c)
{
	sink->begin(sink->ctx, "proftrace_monitor_pushes_total", "counter",
		    "What was sent to --otlp and --pprof, by what became of it.");
	for (size_t to = 0; to < PUSH_TO_CNT; to++)
		for (size_t result = 0; result < PUSH_RESULT_CNT; result++) {
			struct metric_labels labels = {.cnt = 0};

			add_label(&labels, "to", push_to_names[to]);
			add_label(&labels, "result", push_result_names[result]);
			sink->value(sink->ctx, &labels, (double)c->pushes[to][result]);
		}
}

void metrics__walk_monitor(const struct job_series *s, const struct metric_sink *sink)
{
	static const char *const kinds[] = {"anonymous", "bpf"};
	const struct monitor_counts *c = &s->counts;
	const uint64_t memory[] = {c->anonymous_bytes, c->bpf_bytes};
	uint64_t held[HOLD_CNT] = {0};
	struct metric_labels version = {.cnt = 0};

	add_label(&version, "version", PROFTRACE_VERSION);
	sink->begin(sink->ctx, "proftrace_build_info", "gauge", "Version of proftrace.");
	sink->value(sink->ctx, &version, 1);
	put_one(sink, "proftrace_monitor_budget_ratio", "gauge", "--budget.", c->budget);
	put_counts(sink, "proftrace_monitor_windows_total", "counter", "Windows by how they ended.",
		   "result", window_result_names, c->windows, WINDOW_RESULT_CNT);
	put_counts(sink, "proftrace_monitor_job_windows_total", "counter",
		   "Windows of all ranks of a job at the same moment, by how they ended.", "result",
		   job_window_result_names, c->job_windows, JOB_WINDOW_RESULT_CNT);
	put_counts(sink, "proftrace_monitor_job_window_ranks_missing_total", "counter",
		   "Ranks of this host that were not in such a window.", "reason",
		   job_missing_names, c->job_missing, JOB_MISSING_CNT);
	held[c->hold] = 1;
	put_counts(sink, "proftrace_monitor_held", "gauge", "1: no window opens, for this reason.",
		   "reason", hold_names + 1, held + 1, HOLD_CNT - 1);
	put_counts(sink, "proftrace_monitor_reloads_total", "counter",
		   "SIGHUPs by what became of the configuration.", "result", reload_names,
		   c->reloads, RELOAD_CNT);
	put_pushes(sink, c);
	put_one(sink, "proftrace_monitor_events_lost_total", "counter", "Events lost in windows.",
		(double)c->events_lost);
	put_counts(sink, "proftrace_monitor_attach_failures_total", "counter",
		   "Sessions that ended before they were ready.", "reason", attach_failure_names,
		   c->attach_failures, ATTACH_FAILURE_CNT);
	put_counts(sink, "proftrace_monitor_unwatched_processes", "gauge",
		   "Processes of this host that are not watched, at the latest scan.", "reason",
		   unwatched_names, c->unwatched, UNWATCHED_CNT);
	put_counts(sink, "proftrace_monitor_memory_bytes", "gauge",
		   "Memory of the monitor and its sessions.", "kind", kinds, memory,
		   ARRAY_SIZE(memory));
	put_one(sink, "proftrace_monitor_series_dropped_total", "counter",
		"Series that --max-series refused.", (double)s->dropped);
	put_one(sink, "process_cpu_seconds_total", "counter",
		"CPU time of the monitor and its sessions.", c->cpu_s);
	put_one(sink, "proftrace_monitor_last_update_timestamp_seconds", "gauge",
		"When the monitor last passed figures on. Older ones do not follow the jobs any "
		"more.",
		((double)clock__ns(CLOCK_REALTIME) -
		 (double)(clock__monotonic_ns() - s->heard_ns)) /
			1e9);
	put_one(sink, "process_start_time_seconds", "gauge", "When the monitor began.",
		c->start_time_s);
}
