// SPDX-License-Identifier: BSD-2-Clause
/* If a job's steps become longer: keeps its baseline, records a window, has both compared. */
#include <string.h>
#include "common/err.h"
#include "common/util.h"
#include "monitor/message_table.h"
#include "monitor/monitor_internal.h"
#include "monitor/window_store.h"

void monitor__keep_baseline(struct monitor *m, const char *file)
{
	char name[RECORDING_NAME];
	const int err = window_store__keep_as(m->store, file, KEEP_BASELINE, name);

	if (err)
		log__warn(MESSAGE_RECORDING_NOT_KEPT, file, strerror(-err));
}

void monitor__alarm_compared(void *ctx, const struct alarm_made *alarm, int json)
{
	const struct message message = {.kind = TELL_ALARM, .alarm = *alarm};
	struct monitor *m = ctx;

	exporter_watch__send(&m->exporter, &message, json);
}

void monitor__compare_alarm(struct monitor *m, const struct watch *w)
{
	struct alarm_made alarm = {.id = w->id};
	int err = window_store__keep_as(m->store, w->read.file, KEEP_ALARM, alarm.recording);

	if (err)
		log__warn(MESSAGE_RECORDING_NOT_KEPT, w->read.file, strerror(-err));
	memcpy(alarm.baseline, w->alarm.baseline, sizeof(alarm.baseline));
	if (!err && !alarms__add(&m->alarms, &alarm))
		log__warn(MESSAGE_ALARM_NOT_COMPARED, alarm.recording, "too many wait");
}

void monitor__record_alarm(struct monitor *m, struct watch *w, const char *file)
{
	if (w && window_store__has(m->store, file))
		watch__record_alarm(w, file, clock__monotonic_ns());
}
