/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_METRICS_TEXT_H
#define PROFTRACE_METRICS_TEXT_H

#include <stdio.h>
#include "monitor/job_series.h"

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Prometheus' text format 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats). */
void metrics_text__print(const struct job_series *s, FILE *out);

#endif
