// SPDX-License-Identifier: BSD-2-Clause
#include "device/shim_wish.h"
#include "common/util.h"
#include <stdio.h>

#define SECOND	 1000000000ull
#define START_NS (20 * SECOND) /* the first use of CUPTI takes long on some machines */
#define STOP_NS	 (4 * SECOND)

static void ask(struct shim_wish *w, enum shim_command command)
{
	w->recording = command == SHIM_RECORD;
	w->asked = true;
	w->asked_ns = clock__monotonic_ns();
	w->seq = shim_link__command(w->link, command);
}

void shim_wish__want(struct shim_wish *w, bool recording)
{
	if (w->recording != recording || !w->asked)
		ask(w, recording ? SHIM_RECORD : SHIM_PARK);
}

static void refuse(struct shim_wish *w, const char *why)
{
	snprintf(w->refused, sizeof(w->refused), "%s", why);
}

void shim_wish__give_up(struct shim_wish *w, const char *why)
{
	refuse(w, why);
}

void shim_wish__yield(struct shim_wish *w, uint64_t kinds)
{
	refuse(w, "another tool began to use CUPTI in it (torch.profiler?)");
	if (!w->recording)
		return;
	shim_link__keep_kinds(w->link, kinds);
	ask(w, SHIM_YIELD);
}

static void note_answer(struct shim_wish *w)
{
	const char *error = shim_link__error(w->link);

	w->late = false;
	if (w->recording)
		refuse(w, error ? error : "");
}

bool shim_wish__settled(struct shim_wish *w, uint64_t now)
{
	enum shim_state state = shim_link__state(w->link);
	bool timed_out = now - w->asked_ns > (w->recording ? START_NS : STOP_NS);

	/* Before the driver is initialised there is nobody to answer. */
	if (!w->asked || state == SHIM_ABSENT || state == SHIM_LEFT)
		return true;
	if (shim_link__is_done(w->link, w->seq))
		note_answer(w);
	else if (timed_out && w->recording)
		w->late = true;
	return timed_out || shim_link__is_done(w->link, w->seq);
}

const char *shim_wish__refusal(const struct shim_wish *w)
{
	if (shim_link__is_torn(w->link))
		return "the process cut off the memory that it shares with proftrace "
		       "($PROFTRACE_SHIM)";
	if (w->refused[0])
		return w->refused;
	switch (shim_link__state(w->link)) {
	case SHIM_ABSENT:
		return "the process has not initialised CUDA";
	case SHIM_LEFT:
		return "the library in the process gave up: proftrace did not answer for too long";
	default:
		return w->late ? "CUPTI did not start in time" : NULL;
	}
}
