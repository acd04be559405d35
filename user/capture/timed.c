// SPDX-License-Identifier: BSD-2-Clause
#include "capture/timed.h"
#include "bpf/ctl.h"
#include "capture/capture_ring.h"
#include "capture/session.h"
#include "capture/steps/session_rule.h"
#include "common/util.h"

static int open_now(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;
	const uint64_t next = ctl->started ? ctl->step + 1 : 0;

	/* The step under way began before the window. */
	s->boundary.ns = 0;
	s->boundary.step = next ? next - 1 : 0;
	ctl->state = PT_STATE_RECORD;
	ctl->counting = s->rule.boundary != PT_CLASS_NONE;
	/* Records that come before the file is open wait in the ring. */
	ctl->window_open_ns = clock__monotonic_ns();
	ctl->window_cnt++;
	ctl->window_open = 1;
	return session__window_open(s, next, ctl->window_open_ns);
}

int timed__begin(struct session *s)
{
	s->windows.timed = true;
	session__step_by_iterations(s);
	return s->probes.ctl->hold == PT_HOLD_CLOSED ? 0 : open_now(s);
}

/* Opens the next window when three conditions hold: the window before it is complete, nobody has
 * paused the session, and the probes are attached. */
static int open_if_due(struct session *s, uint64_t *next_ns)
{
	const struct pt_ctl *ctl = s->probes.ctl;

	(void)next_ns;
	if (!s->windows.timed || s->window.writer || !ctl->armed || ctl->hold == PT_HOLD_CLOSED)
		return 0;
	return open_now(s);
}

void timed__close(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;

	ctl->counting = 0;
	ctl->window_close_ns = clock__monotonic_ns();
	ctl->window_open = 0;
	session__drain(s); /* an error stays in s->records.err, and the next turn returns it */
	if (s->sched && sched_source__boundary(s->sched, ctl->window_close_ns, EVENT_NO_ID))
		s->records.err = -ENOMEM;
	session__window_close(s, ctl->window_close_ns);
}

const struct component component_timed = {
	.name = "windows by time",
	.poll_windows = open_if_due,
};
