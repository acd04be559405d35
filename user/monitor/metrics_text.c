// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/metrics_text.h"
#include <stdlib.h>
#include <string.h>
#include "monitor/metrics.h"

struct text_sink {
	FILE *out;
	const char *name;
};

static void put_label_value(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			fputc('\\', out);
		fputc(*text, out);
	}
}

/* "{a="1",b="2"", or nothing. */
static void put_labels(FILE *out, const struct metric_labels *labels)
{
	for (size_t i = 0; i < labels->cnt; i++) {
		fprintf(out, "%c%s=\"", i ? ',' : '{', labels->items[i].name);
		put_label_value(out, labels->items[i].value);
		fputc('"', out);
	}
}

/* The fewest digits from which the same number can be read back. */
static void put_number(FILE *out, double value)
{
	char text[32];
	int digits = 6;

	do
		snprintf(text, sizeof(text), "%.*g", digits, value);
	while (strtod(text, NULL) != value && digits++ < 17);
	fputs(text, out);
}

static void put_line(FILE *out, const char *name, const char *suffix,
		     const struct metric_labels *labels, double value)
{
	fprintf(out, "%s%s", name, suffix);
	put_labels(out, labels);
	fputs(labels->cnt ? "} " : " ", out);
	put_number(out, value);
	fputc('\n', out);
}

static void begin(void *ctx, const char *name, const char *type, const char *help)
{
	struct text_sink *t = ctx;

	t->name = name;
	fprintf(t->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_value(void *ctx, const struct metric_labels *labels, double value)
{
	const struct text_sink *t = ctx;

	put_line(t->out, t->name, "", labels, value);
}

static void put_histogram(void *ctx, const struct metric_labels *labels,
			  const struct rank_series *r)
{
	const struct text_sink *t = ctx;
	struct metric_labels bucket = *labels;
	char limit[32];
	uint64_t cnt = 0;

	bucket.items[bucket.cnt].name = "le";
	bucket.items[bucket.cnt++].value = limit;
	for (size_t b = 0; b <= SERIES_BUCKETS; b++) {
		cnt += r->buckets[b];
		if (b < SERIES_BUCKETS)
			snprintf(limit, sizeof(limit), "%.6g", job_series__bucket(b));
		else
			strcpy(limit, "+Inf");
		put_line(t->out, t->name, "_bucket", &bucket, (double)cnt);
	}
	put_line(t->out, t->name, "_sum", labels, r->sampled_s);
	put_line(t->out, t->name, "_count", labels, (double)cnt);
}

void metrics_text__print(const struct job_series *s, FILE *out)
{
	struct text_sink text = {.out = out};
	const struct metric_sink sink = {
		.begin = begin, .value = put_value, .histogram = put_histogram, .ctx = &text};

	metrics__walk_ranks(s, &sink);
	metrics__walk_monitor(s, &sink);
}
