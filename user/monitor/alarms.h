/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares windows that were recorded because of an alarm with the job's baseline, by `proftrace diff`, one after the
 * other. The comparison says which phase takes longer.
 */
#ifndef PROFTRACE_ALARMS_H
#define PROFTRACE_ALARMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "monitor/messages.h"
#include "monitor/output_child.h"

#define ALARM_QUEUE 16

struct alarms {
	/* json: the comparison; the descriptor is closed afterwards. -1: there is none. */
	void (*done)(void *ctx, const struct alarm_made *alarm, int json);
	void *ctx;
	const char *directory;
	struct alarm_made queue[ALARM_QUEUE]; /* the first one is being compared */
	size_t cnt;
	struct output_child diff;
};

void alarms__init(struct alarms *a, struct event_loop *loop);
/* False: too many wait. */
bool alarms__add(struct alarms *a, const struct alarm_made *alarm);
uint64_t alarms__due(const struct alarms *a);
void alarms__tick(struct alarms *a, uint64_t now_ns);
void alarms__stop(struct alarms *a);

#endif
