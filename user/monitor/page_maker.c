// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/page_maker.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "common/err.h"
#include "monitor/message_table.h"
#include "common/util.h"
#include "monitor/window_store.h"

#define CPU_SHARE 0.5

static void begin_next(struct page_maker *p);

/* Charges the elapsed time. On a busy host that is more than the CPU time. */
static void pay(struct page_maker *p, uint64_t now_ns)
{
	p->credit_s -= (double)(now_ns - p->begin_ns) / 1e9;
}

static void earn(struct page_maker *p, uint64_t now_ns)
{
	const double seconds = (double)(now_ns - p->credit_ns) / 1e9;

	p->credit_s = fmin(PAGE_CREDIT_S, p->credit_s + seconds * p->cpus * CPU_SHARE);
	p->credit_ns = now_ns;
}

static void finish(struct page_maker *p, enum page_result result, int fd)
{
	char file[RECORDING_NAME];

	memcpy(file, p->queue[0], sizeof(file));
	p->cnt--;
	memmove(p->queue, p->queue + 1, p->cnt * sizeof(*p->queue));
	p->done(p->ctx, file, result, fd);
	begin_next(p);
}

static void on_report(void *ctx, int fd)
{
	struct page_maker *p = ctx;

	pay(p, clock__monotonic_ns());
	finish(p, fd < 0 ? PAGE_FAILED : PAGE_OK, fd);
}

static void begin_next(struct page_maker *p)
{
	char path[PATH_MAX],
		*argv[] = {"proftrace", "report", "--quiet", "--html", "-", path, NULL};
	int err;

	if (!p->cnt)
		return;
	p->begin_ns = clock__monotonic_ns();
	snprintf(path, sizeof(path), "%s/%s", p->directory, p->queue[0]);
	err = output_child__start(&p->report, argv, PAGE_BYTES_MAX);
	if (!err)
		return;
	log__warn(MESSAGE_PAGE_NOT_MADE, p->queue[0], err__take(err));
	finish(p, PAGE_FAILED, -1);
}

void page_maker__init(struct page_maker *p, struct event_loop *loop)
{
	p->report = (struct output_child){.loop = loop, .done = on_report, .ctx = p};
	p->credit_s = PAGE_CREDIT_S;
	p->credit_ns = clock__monotonic_ns();
}

void page_maker__ask(struct page_maker *p, const char *file, uint64_t now_ns)
{
	earn(p, now_ns);
	if (strlen(file) >= RECORDING_NAME || !window_store__has(p->store, file)) {
		p->done(p->ctx, file, PAGE_GONE, -1);
	} else if (p->cnt == PAGE_QUEUE || p->credit_s <= 0) {
		p->done(p->ctx, file, PAGE_BUSY, -1);
	} else {
		strcpy(p->queue[p->cnt++], file);
		if (p->cnt == 1)
			begin_next(p);
	}
}

uint64_t page_maker__due(const struct page_maker *p)
{
	return output_child__due(&p->report);
}

void page_maker__tick(struct page_maker *p, uint64_t now_ns)
{
	output_child__tick(&p->report, now_ns);
}

void page_maker__stop(struct page_maker *p)
{
	output_child__stop(&p->report);
}
