// SPDX-License-Identifier: BSD-2-Clause
#include "device/shim_request.h"
#include "common/err.h"
#include "common/util.h"
#include "device/message_table.h"
#include <errno.h>
#include <stdio.h>

#define SECOND	 1000000000ull
#define START_NS (20 * SECOND) /* the first use of CUPTI is slow on some machines */
#define STOP_NS	 (4 * SECOND)

static void ask(struct shim_request *r, enum shim_command command)
{
	r->recording = command == SHIM_RECORD;
	r->asked = true;
	r->asked_ns = clock__monotonic_ns();
	r->seq = shim_link__command(r->link, command);
}

void shim_request__want(struct shim_request *r, bool recording)
{
	if (r->recording != recording || !r->asked)
		ask(r, recording ? SHIM_RECORD : SHIM_PARK);
}

void shim_request__give_up(struct shim_request *r, enum shim_refusal why)
{
	r->refused = why;
}

void shim_request__yield(struct shim_request *r, uint64_t kinds)
{
	r->refused = REFUSAL_OTHER_TOOL;
	if (!r->recording)
		return;
	shim_link__keep_kinds(r->link, kinds);
	ask(r, SHIM_YIELD);
}

static void note_answer(struct shim_request *r)
{
	const char *error = shim_link__error(r->link);

	r->late = false;
	if (!r->recording)
		return;
	r->refused = error && error[0] ? REFUSAL_BY_LIBRARY : REFUSAL_NONE;
	snprintf(r->error, sizeof(r->error), "%s", error ? error : "");
}

bool shim_request__is_done(struct shim_request *r, uint64_t now)
{
	enum shim_state state = shim_link__state(r->link);
	bool timed_out = now - r->asked_ns > (r->recording ? START_NS : STOP_NS);

	/* Without an initialised driver nobody answers. */
	if (!r->asked || state == SHIM_ABSENT || state == SHIM_LEFT)
		return true;
	if (shim_link__is_done(r->link, r->seq))
		note_answer(r);
	else if (timed_out && r->recording)
		r->late = true;
	return timed_out || shim_link__is_done(r->link, r->seq);
}

static enum shim_refusal refusal_of(const struct shim_request *r)
{
	if (shim_link__is_torn(r->link))
		return REFUSAL_MEMORY_CUT_OFF;
	if (r->refused)
		return r->refused;
	switch (shim_link__state(r->link)) {
	case SHIM_ABSENT:
		return REFUSAL_NO_CUDA;
	case SHIM_LEFT:
		return REFUSAL_LIBRARY_GAVE_UP;
	default:
		return r->late ? REFUSAL_LATE : REFUSAL_NONE;
	}
}

const char *shim_request__refusal(const struct shim_request *r)
{
	switch (refusal_of(r)) {
	case REFUSAL_NONE:
		return NULL;
	case REFUSAL_BY_LIBRARY:
		return r->error;
	case REFUSAL_MEMORY_CUT_OFF:
		return MESSAGE_TEXT(MESSAGE_SHARED_MEMORY_CUT_OFF);
	case REFUSAL_OTHER_TOOL:
		return MESSAGE_TEXT(MESSAGE_CUPTI_OF_OTHER_TOOL);
	case REFUSAL_SECCOMP_FILTER:
		return MESSAGE_TEXT(MESSAGE_SECCOMP_FILTER_ADDED);
	case REFUSAL_EXEC:
		return MESSAGE_TEXT(MESSAGE_RECORDS_LOST_BY_EXEC);
	case REFUSAL_END:
		return MESSAGE_TEXT(MESSAGE_RECORDS_LOST_BY_END);
	case REFUSAL_NO_CUDA:
		return MESSAGE_TEXT(MESSAGE_CUDA_NOT_INITIALISED);
	case REFUSAL_LIBRARY_GAVE_UP:
		return MESSAGE_TEXT(MESSAGE_LIBRARY_GAVE_UP);
	default:
		return MESSAGE_TEXT(MESSAGE_CUPTI_LATE);
	}
}

static int set_refusal(enum shim_refusal why)
{
	switch (why) {
	case REFUSAL_MEMORY_CUT_OFF:
		return err__set(-EIO, MESSAGE_SHARED_MEMORY_CUT_OFF);
	case REFUSAL_OTHER_TOOL:
		return err__set(-EBUSY, MESSAGE_CUPTI_OF_OTHER_TOOL);
	case REFUSAL_SECCOMP_FILTER:
		return err__set(-EACCES, MESSAGE_SECCOMP_FILTER_ADDED);
	case REFUSAL_EXEC:
		return err__set(-ESRCH, MESSAGE_RECORDS_LOST_BY_EXEC);
	case REFUSAL_END:
		return err__set(-ESRCH, MESSAGE_RECORDS_LOST_BY_END);
	case REFUSAL_NO_CUDA:
		return err__set(-ENODEV, MESSAGE_CUDA_NOT_INITIALISED);
	case REFUSAL_LIBRARY_GAVE_UP:
		return err__set(-ETIMEDOUT, MESSAGE_LIBRARY_GAVE_UP);
	default:
		return err__set(-ETIMEDOUT, MESSAGE_CUPTI_LATE);
	}
}

const char *shim_request__explain(const struct shim_request *r)
{
	const enum shim_refusal why = refusal_of(r);

	return why == REFUSAL_NONE || why == REFUSAL_BY_LIBRARY ? shim_request__refusal(r)
								: err__take(set_refusal(why));
}
