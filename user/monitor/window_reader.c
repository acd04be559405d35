// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/window_reader.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "common/err.h"
#include "common/message_table.h"
#include "monitor/message_table.h"
#include "common/util.h"
#include "monitor/figures.h"

static void begin_next(struct window_reader *r);

static void finish(struct window_reader *r, int json)
{
	const struct window_ready window = r->queue[0];

	r->cnt--;
	memmove(r->queue, r->queue + 1, r->cnt * sizeof(*r->queue));
	r->done(r->ctx, &window, json);
	begin_next(r);
}

static void on_report(void *ctx, int fd)
{
	finish(ctx, fd);
}

static void begin_next(struct window_reader *r)
{
	char path[PATH_MAX],
		*argv[] = {"proftrace",	   "report",	  "--quiet", "--format", "json", "--table",
			   FIGURES_TABLES, "--row-limit", "2000",    path,	 NULL};
	int err;

	if (!r->cnt)
		return;
	snprintf(path, sizeof(path), "%s/%s", r->directory, r->queue[0].file);
	err = output_child__start(&r->report, argv, WINDOW_JSON_MAX);
	if (!err)
		return;
	log__warn(MESSAGE_WINDOW_NOT_READ, r->queue[0].file, err__take(err));
	finish(r, -1);
}

void window_reader__init(struct window_reader *r, struct event_loop *loop)
{
	r->report = (struct output_child){.loop = loop, .done = on_report, .ctx = r};
}

bool window_reader__add(struct window_reader *r, const struct window_ready *window)
{
	if (r->cnt == READER_QUEUE)
		return false;
	r->queue[r->cnt++] = *window;
	if (r->cnt == 1)
		begin_next(r);
	return true;
}

bool window_reader__has(const struct window_reader *r, uint32_t id)
{
	for (size_t i = 0; i < r->cnt; i++)
		if (r->queue[i].id == id)
			return true;
	return false;
}

uint64_t window_reader__due(const struct window_reader *r)
{
	return output_child__due(&r->report);
}

void window_reader__tick(struct window_reader *r, uint64_t now_ns)
{
	output_child__tick(&r->report, now_ns);
}

void window_reader__stop(struct window_reader *r)
{
	output_child__stop(&r->report);
}
