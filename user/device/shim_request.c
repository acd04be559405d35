// SPDX-License-Identifier: BSD-2-Clause
#include "device/shim_request.h"
#include "common/util.h"
#include <stdio.h>

#define SECOND	 1000000000ull
#define START_NS (20 * SECOND) /* the first use of CUPTI takes long on some machines */
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

static void refuse(struct shim_request *r, const char *why)
{
	snprintf(r->refused, sizeof(r->refused), "%s", why);
}

void shim_request__give_up(struct shim_request *r, const char *why)
{
	refuse(r, why);
}

void shim_request__yield(struct shim_request *r, uint64_t kinds)
{
	refuse(r, "another tool began to use CUPTI in it (torch.profiler?)");
	if (!r->recording)
		return;
	shim_link__keep_kinds(r->link, kinds);
	ask(r, SHIM_YIELD);
}

static void note_answer(struct shim_request *r)
{
	const char *error = shim_link__error(r->link);

	r->late = false;
	if (r->recording)
		refuse(r, error ? error : "");
}

bool shim_request__is_done(struct shim_request *r, uint64_t now)
{
	enum shim_state state = shim_link__state(r->link);
	bool timed_out = now - r->asked_ns > (r->recording ? START_NS : STOP_NS);

	/* Before the driver is initialised there is nobody to answer. */
	if (!r->asked || state == SHIM_ABSENT || state == SHIM_LEFT)
		return true;
	if (shim_link__is_done(r->link, r->seq))
		note_answer(r);
	else if (timed_out && r->recording)
		r->late = true;
	return timed_out || shim_link__is_done(r->link, r->seq);
}

const char *shim_request__refusal(const struct shim_request *r)
{
	if (shim_link__is_torn(r->link))
		return "the process cut off the memory that it shares with proftrace "
		       "($PROFTRACE_SHIM)";
	if (r->refused[0])
		return r->refused;
	switch (shim_link__state(r->link)) {
	case SHIM_ABSENT:
		return "the process has not initialised CUDA";
	case SHIM_LEFT:
		return "the library in the process gave up: proftrace did not answer for too long";
	default:
		return r->late ? "CUPTI did not start in time" : NULL;
	}
}
