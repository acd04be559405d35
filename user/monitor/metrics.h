/* SPDX-License-Identifier: BSD-2-Clause */
/* The metrics: names, types, labels and values. Each output format is a sink. */
#ifndef PROFTRACE_METRICS_H
#define PROFTRACE_METRICS_H

#include <stddef.h>
#include "monitor/job_series.h"

#define METRIC_LABELS 12

struct metric_labels {
	struct {
		const char *name, *value;
	} items[METRIC_LABELS];
	size_t cnt;
};

struct metric_sink {
	/* The following values belong to this metric. Names are as in Prometheus: counters end in
	 * _total. type: counter, gauge or histogram. */
	void (*begin)(void *ctx, const char *name, const char *type, const char *help);
	void (*value)(void *ctx, const struct metric_labels *labels, double value);
	void (*histogram)(void *ctx, const struct metric_labels *labels,
			  const struct rank_series *r);
	void *ctx;
};

void metrics__walk_ranks(const struct job_series *s, const struct metric_sink *sink);
void metrics__walk_monitor(const struct job_series *s, const struct metric_sink *sink);

#endif
