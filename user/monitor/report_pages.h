/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of recordings in the exporter: those requested from the parent, and the latest ones that it
 * sent. */
#ifndef PROFTRACE_REPORT_PAGES_H
#define PROFTRACE_REPORT_PAGES_H

#include <stdbool.h>
#include <stdint.h>
#include "monitor/http_server.h"
#include "monitor/messages.h"

#define REPORT_PAGES 4 /* pages that are kept or awaited at a time */

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

/* The page of a recording, or why there is none. page->is_later: repeat it after
 * report_pages__set(). */
void report_pages__take(struct report_pages *p, const char *file, struct http_page *page, uint64_t now_ns);
/* Takes the parent's answer. fd is borrowed. */
void report_pages__set(struct report_pages *p, const struct page_made *made, int fd, uint64_t now_ns);
/* Drops pages that the parent does not answer, and old ones. True: an awaited page was dropped. */
bool report_pages__expire(struct report_pages *p, uint64_t now_ns);
void report_pages__free(struct report_pages *p);

#endif
