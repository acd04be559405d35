/* SPDX-License-Identifier: BSD-2-Clause */
/* The jobs for programs (JSON) and for browsers (HTML). Names come from strangers. */
#ifndef PROFTRACE_JOBS_VIEW_H
#define PROFTRACE_JOBS_VIEW_H

#include <stdbool.h>
#include <stdio.h>
#include "monitor/job_series.h"

struct jobs_view {
	const struct job_series *series;
	bool has_token; /* a token exists, so windows can be requested */
	bool has_pages; /* anyone who connects may read pages of recordings */
};

/* 0 or a negative errno. */
int jobs_view__json(const struct job_series *s, FILE *out);
/* JSON of one rank, with its latest windows. 0 or a negative errno. */
int jobs_view__json_of(const struct rank_series *r, FILE *out);
void jobs_view__html(const struct jobs_view *v, FILE *out);
void jobs_view__html_of(const struct jobs_view *v, const struct rank_series *r, FILE *out);

const char *jobs_view__state(const struct rank_series *r);
#define TIME_TO_MINUTE "%Y-%m-%d %H:%M UTC"
#define TIME_TO_SECOND "%Y-%m-%d %H:%M:%S UTC"
/* Unchanged if the time (seconds since 1970) is 0. It is UTC, since the process cannot open the file of a time zone. */
void jobs_view__time(double at_s, const char *format, char *out, size_t size);
#define REGRESSION_TEXT 128
/* Describes the result, or why there is none yet. */
void jobs_view__describe_regression(const struct rank_series *r, char *out, size_t size);

#endif
