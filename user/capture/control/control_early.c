// SPDX-License-Identifier: BSD-2-Clause
#include "capture/control/control_early.h"
#include "bpf/ctl.h"
#include "capture/session.h"
#include "common/duration_text.h"
#include "common/util.h"
#include <stdio.h>

#define S_NS 1000000000ull

bool control_early__is(const struct session *s)
{
	return s->start.at_ns || !s->attaching.is_done;
}

static struct duration_text left(const struct session *s)
{
	const uint64_t now = clock__ns(CLOCK_REALTIME);

	return duration_text(s->start.at_ns > now ? (s->start.at_ns - now + S_NS / 2) / S_NS : 0);
}

static uint32_t get_hold(const struct session *s)
{
	return s->probes.ctl ? s->probes.ctl->hold : s->start.hold;
}

void control_early__state(const struct session *s, char *out, size_t size)
{
	const char *paused =
		get_hold(s) == PT_HOLD_CLOSED ? "; paused: no window opens before `start`" : "";

	if (s->start.at_ns)
		snprintf(out, size, "%swaiting to start, in %s%s",
			 s->attaching.is_done ? "attached, " : "", left(s).s, paused);
	else
		snprintf(out, size, "%s%s",
			 s->start.awaits_framework ? "waiting for a framework" : "attaching",
			 paused);
}

static void set_hold(struct session *s, uint32_t hold)
{
	s->start.hold = hold;
	if (s->probes.ctl)
		s->probes.ctl->hold = hold;
}

/* Ends the wait. The windows stay as they were chosen at the start, unless the session is paused.
 * Then a window opens. */
static void end_wait(struct session *s, char *out, size_t size)
{
	snprintf(out, size, "it starts now, and not in %s", left(s).s);
	s->start.now = true;
	s->start.at_ns = 0;
	if (get_hold(s) == PT_HOLD_CLOSED)
		set_hold(s, PT_HOLD_RECORD);
}

static bool start(struct session *s, char *out, size_t size)
{
	if (s->start.at_ns) {
		end_wait(s, out, size);
		return true;
	}
	set_hold(s, PT_HOLD_RECORD);
	snprintf(out, size, "recording begins when the probes are attached");
	return true;
}

static bool pause_windows(struct session *s, char *out, size_t size)
{
	if (get_hold(s) == PT_HOLD_CLOSED) {
		snprintf(out, size, "it is paused already");
		return false;
	}
	set_hold(s, PT_HOLD_CLOSED);
	snprintf(out, size, "no window opens before `start`");
	return true;
}

bool control_early__obey(struct session *s, enum control_verb verb, char *out, size_t size)
{
	char state[128];

	switch (verb) {
	case CONTROL_START:
	case CONTROL_RESUME:
		return start(s, out, size);
	case CONTROL_PAUSE:
		return pause_windows(s, out, size);
	default:
		control_early__state(s, state, sizeof(state));
		snprintf(out, size, "no window is open yet: %s", state);
		return false;
	}
}
