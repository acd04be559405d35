// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/alarms.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "common/err.h"
#include "common/util.h"
#include "monitor/message_table.h"
#include "monitor/window_reader.h"

static void begin_next(struct alarms *a);

static void finish(struct alarms *a, int json)
{
	const struct alarm_made alarm = a->queue[0];

	a->cnt--;
	memmove(a->queue, a->queue + 1, a->cnt * sizeof(*a->queue));
	a->done(a->ctx, &alarm, json);
	begin_next(a);
}

static void on_diff(void *ctx, int fd)
{
	finish(ctx, fd);
}

static void begin_next(struct alarms *a)
{
	char before[PATH_MAX], after[PATH_MAX],
		*argv[] = {"proftrace", "diff", "--quiet", "--format", "json", before, after, NULL};
	int err;

	if (!a->cnt)
		return;
	snprintf(before, sizeof(before), "%s/%s", a->directory, a->queue[0].baseline);
	snprintf(after, sizeof(after), "%s/%s", a->directory, a->queue[0].recording);
	err = output_child__start(&a->diff, argv, WINDOW_JSON_MAX);
	if (!err)
		return;
	log__warn(MESSAGE_ALARM_NOT_COMPARED, a->queue[0].recording, err__take(err));
	finish(a, -1);
}

void alarms__init(struct alarms *a, struct event_loop *loop)
{
	a->diff = (struct output_child){.loop = loop, .done = on_diff, .ctx = a};
}

bool alarms__add(struct alarms *a, const struct alarm_made *alarm)
{
	if (a->cnt == ALARM_QUEUE)
		return false;
	a->queue[a->cnt++] = *alarm;
	if (a->cnt == 1)
		begin_next(a);
	return true;
}

uint64_t alarms__due(const struct alarms *a)
{
	return output_child__due(&a->diff);
}

void alarms__tick(struct alarms *a, uint64_t now_ns)
{
	output_child__tick(&a->diff, now_ns);
}

void alarms__stop(struct alarms *a)
{
	output_child__stop(&a->diff);
	a->cnt = 0;
}
