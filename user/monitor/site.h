/* SPDX-License-Identifier: BSD-2-Clause */
/* The monitor's URL paths and their pages. */
#ifndef PROFTRACE_MONITOR_SITE_H
#define PROFTRACE_MONITOR_SITE_H

#include <stdbool.h>
#include "monitor/http_server.h"
#include "monitor/job_series.h"
#include "monitor/record_request.h"
#include "monitor/report_pages.h"

struct site {
	struct job_series series;
	bool has_counts; /* the parent has sent counts */
	bool pages;	 /* anyone who connects may read pages of recordings */
	struct record_requests records;
	struct report_pages reports;
};

/* An http_page_fn; ctx is the site. */
bool site__answer(void *ctx, const struct http_request *request, struct http_page *page);

#endif
