/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_METRICS_OTLP_H
#define PROFTRACE_METRICS_OTLP_H

#include <stdint.h>
#include "common/proto.h"
#include "monitor/job_series.h"

#define METRICS_OTLP_TYPE "application/x-protobuf"

/* Writes an ExportMetricsServiceRequest of OTLP 1.x: one resource per rank, and one for the
 * monitor. Names are those of metrics.h without _total, which OTLP's type implies. Step times are
 * an exponential histogram. now_ns: since 1970. */
void metrics_otlp__put(const struct job_series *s, const char *host, uint64_t now_ns, struct proto *out);

#endif
