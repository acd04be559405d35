// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/messages.h"
#include <string.h>

const char *const unwatched_names[UNWATCHED_CNT] = {
	"no_framework", "part_of_job", "denied", "not_allowed", "young",
	"backoff",	"too_many",    "queued", "limit",
};
const char *const hold_names[HOLD_CNT] = {"none", "disk", "cpu", "memory", "pressure"};
const char *const push_to_names[PUSH_TO_CNT] = {"otlp", "pprof"};
const char *const push_result_names[PUSH_RESULT_CNT] = {
	"ok", "partial", "refused", "dropped", "lost", "retried",
};
const char *const reload_names[RELOAD_CNT] = {"ok", "refused"};
const char *const window_result_names[WINDOW_RESULT_CNT] = {
	"ok", "events_lost", "no_whole_step", "unreadable", "timeout", "too_large",
};
const char *const job_window_result_names[JOB_WINDOW_RESULT_CNT] = {"ok", "partial", "failed"};
const char *const job_missing_names[JOB_MISSING_CNT] = {"not_ready", "events_lost", "busy",
							"window"};
const char *const attach_failure_names[ATTACH_FAILURE_CNT] = {"failed", "killed", "timeout"};
const char *const device_times_names[DEVICE_TIMES_CNT] = {"off", "without_cuda", "recorded",
							  "refused"};
const char *const watch_state_names[WATCH_STATE_CNT] = {
	"attaching", "waiting", "recording", "reading", "ending",
};

bool rank_info__is_same_job(const struct rank_info *a, const struct rank_info *b)
{
	return a->uid == b->uid && !strcmp(a->key.name, b->key.name) &&
	       !strcmp(a->key.container, b->key.container);
}
