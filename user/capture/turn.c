// SPDX-License-Identifier: BSD-2-Clause
/* One turn of a session: reads what has come, then does what is due. */
#include "capture/session.h"
#include "capture/arming/arm.h"
#include "capture/arming/idle.h"
#include "capture/arming/return_sites.h"
#include "capture/capture_ring.h"
#include "capture/control/control.h"
#include "capture/decode/long_names.h"
#include "capture/device/device_calls.h"
#include "capture/device/device_time.h"
#include "capture/processes/follow.h"
#include "capture/steps/optimizer_step.h"
#include "common/err.h"
#include "common/util.h"
#include <signal.h>
#include <string.h>

#define MS 1000000ull

volatile sig_atomic_t capture_stop;

static void look_at_target(struct session *s)
{
	bool was_stopped = s->target->is_stopped;

	if (!target__alive(s->target))
		s->target_gone = true;
	else if (s->target->is_stopped && !was_stopped)
		session__warn_stopped(s);
}

static int poll_target(struct session *s)
{
	const uint64_t now = clock__monotonic_ns();
	int err = 0;

	if (now - s->turn.alive_ns > 200 * MS) {
		s->turn.alive_ns = now;
		look_at_target(s);
		err = long_names__drain(s->records.long_names);
	}
	if (now - s->turn.flush_ns > 1000 * MS) {
		s->turn.flush_ns = now;
		if (!err && s->sched)
			err = sched_source__poll(s->sched);
		if (!err && s->window.writer)
			err = recording_writer__flush(s->window.writer);
	}
	return err;
}

static int poll_sched_ring(struct session *s)
{
	return s->sched ? sched_source__fit(s->sched, capture_ring__unread_ns(s)) : 0;
}

static int poll_children(struct session *s)
{
	follow__poll(s);
	return 0;
}

/* What is due whenever records were read, in this order. */
static int (*const polls[])(struct session *s) = {
	poll_children,	    /* a child's first calls are seen if it gets its probes at once */
	device_time__pump,  /* before a window is closed for good: its activities belong to it */
	poll_sched_ring,    /* grows before it is full */
	poll_target,	    /* and what is written once a second */
	device_calls__poll, /* probes take over where CUPTI is another tool's by now */
	return_sites__poll, /* places that calls return to, seen since the last turn */
	control__finish_window, /* last: nothing else may come for that window */
};

int session__pump(struct session *s, int timeout_ms)
{
	int err;

	/* Records do not wake us: they are read in batches, steps wake at the window's edges. */
	err = ring__wait(s->records.ring, timeout_ms);
	if (!s->records.err && (!err || err == -EINTR))
		err = capture_ring__fit(s);
	if (s->records.err)
		return s->records.err;
	if (err)
		return err__set(err, "reading events failed: %s", strerror(-err));
	err = session__drain(s);
	for (size_t i = 0; i < ARRAY_SIZE(polls) && !err; i++)
		err = polls[i](s);
	control__pump(s); /* also after an error: whoever asks gets an answer */
	if (!err && s->target_gone)
		err = -ESRCH;
	if (!err && capture_stop)
		err = -EINTR;
	return err;
}

static int min_ms(int ms, uint64_t end_ns)
{
	const uint64_t now = clock__monotonic_ns(), left = now < end_ns ? (end_ns - now) / MS : 0;

	return left < (uint64_t)ms ? (int)left : ms;
}

/* Reads what has come, and does what is due, by end_ns at the latest. Far from a window nothing
 * comes, and whoever shares a core with us should not notice us. */
int session__turn(struct session *s, uint64_t end_ns)
{
	const int ms = idle__ms(s);
	int err;

	if (ms)
		idle__sleep(s, min_ms(ms, end_ns));
	err = session__pump(s, ms ? 0 : 10);
	if (!err)
		session__find_end(s);
	if (!err)
		err = arm__poll(s);
	if (!err)
		err = optimizer_step__poll(s);
	return err ? err : device_time__poll(s);
}
