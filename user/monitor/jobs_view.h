/* SPDX-License-Identifier: BSD-2-Clause */
/* The jobs for programs (JSON) and for a browser (HTML). Names are what strangers chose. */
#ifndef PROFTRACE_JOBS_VIEW_H
#define PROFTRACE_JOBS_VIEW_H

#include <stdbool.h>
#include <stdio.h>
#include "monitor/job_series.h"

struct jobs_view {
	const struct job_series *series;
	bool has_token; /* windows can be asked for */
	bool has_pages; /* recordings have pages for whoever may connect */
};

/* 0 or a negative errno. */
int jobs_view__json(const struct job_series *s, FILE *out);
/* Of one rank, with its latest windows. 0 or a negative errno. */
int jobs_view__json_of(const struct rank_series *r, FILE *out);
void jobs_view__html(const struct jobs_view *v, FILE *out);
void jobs_view__html_of(const struct jobs_view *v, const struct rank_series *r, FILE *out);

const char *jobs_view__state(const struct rank_series *r);
/* Why there is no answer yet, or the answer. */
void jobs_view__describe_regression(const struct rank_series *r, char *out, size_t size);

#endif
