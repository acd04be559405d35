// SPDX-License-Identifier: BSD-2-Clause
/* Field numbers: opentelemetry-proto, metrics/v1/metrics.proto, common/v1/common.proto,
 * resource/v1/resource.proto and collector/metrics/v1/metrics_service.proto. */
#include "monitor/metrics_otlp.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "common/util.h"
#include "monitor/metrics.h"

enum { REQUEST_RESOURCE_METRICS = 1 };
enum { RESOURCE_METRICS_RESOURCE = 1, RESOURCE_METRICS_SCOPE_METRICS = 2 };
enum { RESOURCE_ATTRIBUTES = 1 };
enum { SCOPE_METRICS_SCOPE = 1, SCOPE_METRICS_METRICS = 2 };
enum { SCOPE_NAME = 1, SCOPE_VERSION = 2 };
enum {
	METRIC_NAME = 1,
	METRIC_DESCRIPTION = 2,
	METRIC_UNIT = 3,
	METRIC_GAUGE = 5,
	METRIC_SUM = 7,
	METRIC_EXPONENTIAL = 10,
};
enum { DATA_POINTS = 1, DATA_TEMPORALITY = 2, SUM_IS_MONOTONIC = 3 };
enum { POINT_START = 2, POINT_TIME = 3, POINT_DOUBLE = 4, POINT_ATTRIBUTES = 7 };
enum {
	EXPONENTIAL_ATTRIBUTES = 1,
	EXPONENTIAL_START = 2,
	EXPONENTIAL_TIME = 3,
	EXPONENTIAL_COUNT = 4,
	EXPONENTIAL_SUM = 5,
	EXPONENTIAL_SCALE = 6,
	EXPONENTIAL_ZERO_COUNT = 7,
	EXPONENTIAL_POSITIVE = 8,
};
enum { BUCKETS_OFFSET = 1, BUCKETS_COUNTS = 2 };
enum { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE = 2 };
enum { ANY_STRING = 1, ANY_INT = 3 };
enum { CUMULATIVE = 2 };

struct otlp_sink {
	struct proto *p;
	uint64_t start_ns, now_ns;
	const char *name, *type, *help;
	size_t metric, data; /* begin of the open messages; 0: none is open */
};

/* ---- attributes ---- */

static void put_string(struct proto *p, uint32_t field, const char *name, const char *value)
{
	const size_t pair = proto__begin(p, field);
	size_t any;

	proto__string(p, KEY_VALUE_KEY, name);
	any = proto__begin(p, KEY_VALUE_VALUE);
	proto__string(p, ANY_STRING, value);
	proto__end(p, any);
	proto__end(p, pair);
}

static void put_known(struct proto *p, const char *name, const char *value)
{
	if (*value)
		put_string(p, RESOURCE_ATTRIBUTES, name, value);
}

static void put_int(struct proto *p, const char *name, int64_t value)
{
	const size_t pair = proto__begin(p, RESOURCE_ATTRIBUTES);
	size_t any;

	proto__string(p, KEY_VALUE_KEY, name);
	any = proto__begin(p, KEY_VALUE_VALUE);
	proto__varint(p, ANY_INT, (uint64_t)value);
	proto__end(p, any);
	proto__end(p, pair);
}

static void put_labels(struct proto *p, uint32_t field, const struct metric_labels *labels)
{
	for (size_t i = 0; i < labels->cnt; i++)
		put_string(p, field, labels->items[i].name, labels->items[i].value);
}

/* ---- metrics ---- */

static bool ends_with(const char *text, const char *end)
{
	const size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

static size_t name_len(const char *name)
{
	return strlen(name) - (ends_with(name, "_total") ? strlen("_total") : 0);
}

/* UCUM units */
static const char *unit_of(const char *name)
{
	char base[96];

	snprintf(base, sizeof(base), "%.*s", (int)name_len(name), name);
	return ends_with(base, "_seconds") ? "s" : ends_with(base, "_bytes") ? "By" : "1";
}

static bool is_counter(const struct otlp_sink *o)
{
	return !strcmp(o->type, "counter");
}

static void close_metric(struct otlp_sink *o)
{
	if (!o->metric)
		return;
	if (strcmp(o->type, "gauge") != 0)
		proto__varint(o->p, DATA_TEMPORALITY, CUMULATIVE);
	if (is_counter(o))
		proto__varint(o->p, SUM_IS_MONOTONIC, true);
	proto__end(o->p, o->data);
	proto__end(o->p, o->metric);
	o->metric = o->data = 0;
}

/* A metric without values is left out. */
static void open_metric(struct otlp_sink *o, uint32_t data)
{
	if (o->metric)
		return;
	o->metric = proto__begin(o->p, SCOPE_METRICS_METRICS);
	proto__bytes(o->p, METRIC_NAME, o->name, name_len(o->name));
	proto__string(o->p, METRIC_DESCRIPTION, o->help);
	proto__string(o->p, METRIC_UNIT, unit_of(o->name));
	o->data = proto__begin(o->p, data);
}

static void begin(void *ctx, const char *name, const char *type, const char *help)
{
	struct otlp_sink *o = ctx;

	close_metric(o);
	o->name = name;
	o->type = type;
	o->help = help;
}

static void put_value(void *ctx, const struct metric_labels *labels, double value)
{
	struct otlp_sink *o = ctx;
	size_t point;

	open_metric(o, is_counter(o) ? METRIC_SUM : METRIC_GAUGE);
	point = proto__begin(o->p, DATA_POINTS);
	put_labels(o->p, POINT_ATTRIBUTES, labels);
	if (is_counter(o))
		proto__fixed64(o->p, POINT_START, o->start_ns);
	proto__fixed64(o->p, POINT_TIME, o->now_ns);
	proto__double(o->p, POINT_DOUBLE, value);
	proto__end(o->p, point);
}

static uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static void put_buckets(struct proto *p, const struct rank_series *r)
{
	size_t first = 0, last = SERIES_FINE, buckets, counts;

	while (first < SERIES_FINE && !r->fine_buckets[first])
		first++;
	while (last > first && !r->fine_buckets[last - 1])
		last--;
	if (first == last)
		return;
	buckets = proto__begin(p, EXPONENTIAL_POSITIVE);
	proto__varint(p, BUCKETS_OFFSET, zigzag(SERIES_FINE_FIRST + (int64_t)first));
	counts = proto__begin(p, BUCKETS_COUNTS);
	for (size_t i = first; i < last; i++)
		proto__raw_varint(p, r->fine_buckets[i]);
	proto__end(p, counts);
	proto__end(p, buckets);
}

static void put_histogram(void *ctx, const struct metric_labels *labels,
			  const struct rank_series *r)
{
	struct otlp_sink *o = ctx;
	size_t point;

	open_metric(o, METRIC_EXPONENTIAL);
	point = proto__begin(o->p, DATA_POINTS);
	put_labels(o->p, EXPONENTIAL_ATTRIBUTES, labels);
	proto__fixed64(o->p, EXPONENTIAL_START, o->start_ns);
	proto__fixed64(o->p, EXPONENTIAL_TIME, o->now_ns);
	proto__fixed64(o->p, EXPONENTIAL_COUNT, r->sampled_cnt);
	proto__double(o->p, EXPONENTIAL_SUM, r->sampled_s);
	proto__varint(o->p, EXPONENTIAL_SCALE, zigzag(SERIES_FINE_SCALE));
	put_buckets(o->p, r);
	proto__end(o->p, point);
}

/* ---- resources ---- */

static void put_scope(struct proto *p)
{
	const size_t scope = proto__begin(p, SCOPE_METRICS_SCOPE);

	proto__string(p, SCOPE_NAME, "proftrace");
	proto__string(p, SCOPE_VERSION, PROFTRACE_VERSION);
	proto__end(p, scope);
}

static void put_metrics(struct otlp_sink *o, const struct job_series *s,
			void (*walk)(const struct job_series *s, const struct metric_sink *sink))
{
	const struct metric_sink sink = {
		.begin = begin, .value = put_value, .histogram = put_histogram, .ctx = o};
	const size_t metrics = proto__begin(o->p, RESOURCE_METRICS_SCOPE_METRICS);

	put_scope(o->p);
	walk(s, &sink);
	close_metric(o);
	proto__end(o->p, metrics);
}

static void put_rank(const struct otlp_sink *with, const struct rank_series *r, const char *host)
{
	struct rank_series *items[] = {(struct rank_series *)r};
	const struct job_series alone = {.items = items, .cnt = 1};
	struct otlp_sink o = *with;
	size_t all, resource;

	o.start_ns = r->begun_ns;
	all = proto__begin(o.p, REQUEST_RESOURCE_METRICS);
	resource = proto__begin(o.p, RESOURCE_METRICS_RESOURCE);
	put_known(o.p, "service.name", r->info.key.name);
	put_known(o.p, "host.name", host);
	put_int(o.p, "process.pid", r->info.pid);
	put_known(o.p, "container.id", r->info.key.container);
	put_known(o.p, "k8s.pod.uid", r->info.key.pod);
	proto__end(o.p, resource);
	put_metrics(&o, &alone, metrics__walk_ranks);
	proto__end(o.p, all);
}

static void put_monitor(const struct otlp_sink *with, const struct job_series *s, const char *host)
{
	struct otlp_sink o = *with;
	size_t all, resource;

	o.start_ns = (uint64_t)(s->counts.start_time_s * 1e9);
	all = proto__begin(o.p, REQUEST_RESOURCE_METRICS);
	resource = proto__begin(o.p, RESOURCE_METRICS_RESOURCE);
	put_known(o.p, "service.name", "proftrace-monitor");
	put_known(o.p, "service.version", PROFTRACE_VERSION);
	put_known(o.p, "host.name", host);
	proto__end(o.p, resource);
	put_metrics(&o, s, metrics__walk_monitor);
	proto__end(o.p, all);
}

void metrics_otlp__put(const struct job_series *s, const char *host, uint64_t now_ns,
		       struct proto *out)
{
	const struct otlp_sink sink = {.p = out, .now_ns = now_ns};

	for (size_t i = 0; i < s->cnt; i++)
		put_rank(&sink, s->items[i], host);
	put_monitor(&sink, s, host);
}
