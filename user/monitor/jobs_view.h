/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of jobs, for programs and for a browser. */
#ifndef PROFTRACE_JOBS_VIEW_H
#define PROFTRACE_JOBS_VIEW_H

#include <stdio.h>
#include "monitor/job_series.h"

/* 0 or -ENOMEM. */
int jobs_view__json(const struct job_series *s, FILE *out);
void jobs_view__html(const struct job_series *s, FILE *out);

#endif
