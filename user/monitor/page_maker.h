/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes pages of kept recordings with `proftrace report --html` in its own sandbox, one after the
 * other. Pages get a share of --cpu, so that requests for pages cannot stop the windows. */
#ifndef PROFTRACE_PAGE_MAKER_H
#define PROFTRACE_PAGE_MAKER_H

#include <stdint.h>
#include "monitor/messages.h"
#include "monitor/output_child.h"

#define PAGE_BYTES_MAX (8 << 20)
#define PAGE_QUEUE     8
#define PAGE_CREDIT_S  20.0 /* seconds of making pages that may be saved up */

struct page_maker {
	/* fd: the page of PAGE_OK, closed afterwards; else -1. */
	void (*done)(void *ctx, const char *file, enum page_result result, int fd);
	void *ctx;
	int store; /* descriptor of the directory of recordings, */
	const char *directory; /* and its path */
	double cpus; /* of --cpu; pages take at most half of it */
	char queue[PAGE_QUEUE][RECORDING_NAME]; /* the first one is being made */
	size_t cnt;
	struct output_child report;
	double credit_s;
	uint64_t credit_ns, begin_ns;
};

void page_maker__init(struct page_maker *p, struct event_loop *loop);
/* file: an unchecked name. Calls `done` once for it, now or later. */
void page_maker__ask(struct page_maker *p, const char *file, uint64_t now_ns);
uint64_t page_maker__due(const struct page_maker *p);
void page_maker__tick(struct page_maker *p, uint64_t now_ns);
void page_maker__stop(struct page_maker *p);

#endif
