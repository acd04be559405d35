/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of kept recordings. `proftrace report --html` makes them in its own sandbox, one after the other. They
 * may take a share of --cpu: who asks for pages must not stop the windows. */
#ifndef PROFTRACE_PAGE_MAKER_H
#define PROFTRACE_PAGE_MAKER_H

#include <stdint.h>
#include "monitor/messages.h"
#include "monitor/output_child.h"

#define PAGE_BYTES_MAX (8 << 20)
#define PAGE_QUEUE     8
#define PAGE_CREDIT_S  20.0 /* seconds of pages that may be made at once */

struct page_maker {
	/* fd: PAGE_OK's page, closed afterwards; else -1. */
	void (*done)(void *ctx, const char *file, enum page_result result, int fd);
	void *ctx;
	int store; /* its directory's descriptor, */
	const char *directory; /* and its path */
	double cpus; /* --cpu: pages take half of it */
	char queue[PAGE_QUEUE][RECORDING_NAME]; /* the first is being made */
	size_t cnt;
	struct output_child report;
	double credit_s;
	uint64_t credit_ns, begin_ns;
};

void page_maker__init(struct page_maker *p, struct event_loop *loop);
/* file: a name that nobody has looked at. `done` is called once for it, now or later. */
void page_maker__ask(struct page_maker *p, const char *file, uint64_t now_ns);
uint64_t page_maker__due(const struct page_maker *p);
void page_maker__tick(struct page_maker *p, uint64_t now_ns);
void page_maker__stop(struct page_maker *p);

#endif
