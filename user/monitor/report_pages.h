/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of recordings in the exporter: which the parent was asked for, and the latest that it sent. */
#ifndef PROFTRACE_REPORT_PAGES_H
#define PROFTRACE_REPORT_PAGES_H

#include <stdbool.h>
#include <stdint.h>
#include "monitor/http_server.h"
#include "monitor/messages.h"

#define REPORT_PAGES 4 /* that are kept, or asked for, at once */

struct report_page {
	char file[RECORDING_NAME]; /* "": none */
	bool is_made;
	enum page_result result;
	int fd; /* of PAGE_OK */
	uint64_t at_ns;
};

struct report_pages {
	int parent;
	struct report_page items[REPORT_PAGES];
};

/* Of a recording: the page, why there is none, or page->is_later: once more after report_pages__set. */
void report_pages__take(struct report_pages *p, const char *file, struct http_page *page, uint64_t now_ns);
/* What the parent says; fd stays the caller's. */
void report_pages__set(struct report_pages *p, const struct page_made *made, int fd, uint64_t now_ns);
/* The parent does not answer, or what it said is old. True: one is awaited no longer. */
bool report_pages__expire(struct report_pages *p, uint64_t now_ns);
void report_pages__free(struct report_pages *p);

#endif
