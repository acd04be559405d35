// SPDX-License-Identifier: BSD-2-Clause
/* From the last preparation to the end of the last window. */
#include "capture/session.h"
#include "bpf/events.h"
#include "capture/arming/may_open.h"
#include "capture/arming/probeless.h"
#include "capture/arming/return_sites.h"
#include "capture/arming/step_compare.h"
#include "capture/capture_ring.h"
#include "capture/device/device_start.h"
#include "capture/no_window.h"
#include "capture/processes/await.h"
#include "capture/rendezvous.h"
#include "capture/timed.h"
#include "capture/wait.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/util.h"

#define TURN_US	 10000
#define QUIET_US 1000000
#define SHOWN_US 200000 /* with a visible progress line */

#define LATE_RECORDS_NS 300000000ull
#define LATE_EDGE_NS	100000000ull
#define QUIET_NS	100000000ull

static void window_stop(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;
	bool open = ctl->window_open;

	if (open) /* else the window closed at a step, and keeps that time */
		ctl->window_close_ns = clock__monotonic_ns();
	ctl->window_open = 0;
	ctl->state = PT_STATE_DONE;
	if (open && s->window.writer && !s->windows.ending)
		session__window_close(s, ctl->window_close_ns);
}

static int look_at_ranks(struct session *s, struct wait *w)
{
	(void)w;
	if (rendezvous__is_complete(s->opts->rendezvous))
		return WAIT_IS_OVER;
	session__progress(s, "waiting for the other ranks");
	return WAIT_GOES_ON;
}

/* The captures of other ranks need time to attach and learn. */
static int wait_for_ranks(struct session *s)
{
	struct rendezvous *r = s->opts->rendezvous;
	uint64_t now, begin_ns;
	int err;

	if (!r)
		return 0;
	rendezvous__come(r, s->opts->rendezvous_index);
	err = session__wait(s, &(struct wait){look_at_ranks, .turn_us = TURN_US});
	if (err) /* the other ranks choose the time */
		return err;
	now = clock__monotonic_ns();
	begin_ns = s->probes.ctl->count_from_ns = rendezvous__begin_ns(r, now);
	if (now > begin_ns)
		log__warn(MESSAGE_RANK_LATE, (double)(now - begin_ns) / 1e9);
	return 0;
}

const struct component component_ranks = {
	.name = "other ranks",
	.prepare = wait_for_ranks,
};

/* Time between two looks if no component needs a turn. It is long, so that a job on our processor
 * does not notice us. */
static unsigned int quiet_us(const struct session *s)
{
	return s->opts->progress ? SHOWN_US : QUIET_US;
}

static const char *doing(const struct pt_ctl *ctl)
{
	if (ctl->window_open)
		return "recording";
	return ctl->hold == PT_HOLD_CLOSED ? "paused (proftrace ctl PID start)"
					   : "waiting for the window";
}

static int look_at_schedule(struct session *s, struct wait *w)
{
	struct pt_ctl *ctl = s->probes.ctl;

	(void)w;
	session__progress(s, "step %llu %s", (unsigned long long)probeless__step(ctl), doing(ctl));
	return ctl->state == PT_STATE_DONE ? WAIT_IS_OVER : WAIT_GOES_ON;
}

/* The BPF programs open and close windows at steps. This function awaits the end of the last
 * window. */
static int record_schedule(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;
	struct wait w = {look_at_schedule, .turn_us = quiet_us(s), .stage = STAGE_WINDOWS};
	int err;

	if (s->opts->duration_ns)
		w.end_ns = clock__monotonic_ns() + s->opts->duration_ns;
	ctl->schedule = s->opts->schedule;
	err = components__prepare(s);
	ctl->counting = 1;
	return err ? err : session__wait(s, &w);
}

/* The window ends duration_ns after it began. */
static int look_at_duration(struct session *s, struct wait *w)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	uint64_t *begin_ns = w->ctx;

	if (!*begin_ns && ctl->window_open)
		*begin_ns = ctl->window_open_ns;
	if (*begin_ns && s->opts->duration_ns)
		w->end_ns = *begin_ns + s->opts->duration_ns;
	session__progress(s, "%s, %.1f s",
			  *begin_ns || ctl->hold ? doing(ctl) : "waiting for a step",
			  *begin_ns ? (double)(clock__monotonic_ns() - *begin_ns) / 1e9 : 0);
	return WAIT_GOES_ON;
}

/* A window without steps opens when most return sites of calls are attached. */
struct growth {
	uint32_t cnt;
	uint64_t changed_ns; /* latest growth since the wait began; 0: no growth yet */
};

static int look_at_growth(struct session *s, struct wait *w)
{
	const uint64_t now_ns = clock__monotonic_ns();
	struct growth *g = w->ctx;

	if (s->attaching.return_sites != g->cnt)
		g->changed_ns = now_ns;
	g->cnt = s->attaching.return_sites;
	return g->cnt && now_ns >= g->changed_ns + QUIET_NS ? WAIT_IS_OVER : WAIT_GOES_ON;
}

static int await_return_sites(struct session *s)
{
	struct growth growth = {.cnt = s->attaching.return_sites};

	if (!return_sites__are_needed(s))
		return 0;
	return session__wait(s, &(struct wait){look_at_growth, &growth, .turn_us = 10000,
					       .end_ns = clock__monotonic_ns() + LATE_RECORDS_NS});
}

/* Records duration_ns from the first boundary on, or from now on if there are no steps. */
static int record_duration(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;
	uint64_t begin_ns = 0;
	int err = components__prepare(s);

	if (!err && !s->rule.boundary && !s->start.program)
		err = await_return_sites(s);
	ctl->schedule = (struct pt_schedule){.record = UINT64_MAX / 2, .repeat = 1};
	arm__set_open(s);
	if (s->rule.boundary) {
		ctl->counting = 1;
	} else if (!err) {
		err = timed__begin(s);
	}
	session__thaw(s);
	return err ? err
		   : session__wait(s,
				   &(struct wait){look_at_duration, &begin_ns,
						  .turn_us = quiet_us(s), .stage = STAGE_WINDOWS});
}

/* stopped: the user waits for nothing more. */
static int finish_last(struct session *s, bool stopped)
{
	int err = device_start__await_end(s), complete_err;

	if (err == -EINTR) { /* stopped once more: write the records that have come */
		stopped = true;
		err = 0;
	}
	complete_err = session__window_complete(s);
	err = err ? err : complete_err;
	if (!err && !stopped)
		step_compare__watch(s);
	return session__window_write(s, err);
}

static int look_at_edge(struct session *s, struct wait *w)
{
	(void)w;
	return s->windows.ending ? WAIT_IS_OVER : WAIT_GOES_ON;
}

/* The BPF programs set the state before they send the record of the window's end. */
static int await_edge(struct session *s)
{
	const int err =
		session__wait(s, &(struct wait){look_at_edge, .turn_us = 1000,
						.end_ns = clock__monotonic_ns() + LATE_EDGE_NS,
						.stage = STAGE_END});

	return err == -EINTR ? 0 : err; /* stopped once more: write the records that have come */
}

/* Ends the open window, reads the last records, and closes the file. */
static int record_end(struct session *s, bool stopped)
{
	/* Read the ended steps before the window closes. */
	int err = session__drain(s), finish_err;

	window_stop(s);
	if (!err)
		err = session__drain(s);
	if (!s->window.writer)
		return err;
	if (!err)
		err = await_edge(s);
	session__window_close_unseen(s);
	finish_err = finish_last(s, stopped);
	return err ? err : finish_err;
}

int session__record(struct session *s)
{
	int err, end_err;

	s->before.lost = session__losses(s);
	session__count_anew(s);
	err = s->opts->has_schedule && s->rule.boundary ? record_schedule(s) : record_duration(s);
	session__progress_end(s);
	if (s->opts->stop->asked > 1) {
		s->res->aborted = true;
		if (!s->window.writer || s->opts->in_memory)
			return err__set(-EINTR, MESSAGE_ABORTED);
		return err__set(-EINTR, MESSAGE_ABORTED_RECORDING_LEFT, s->window.path);
	}
	end_err = record_end(s, err != 0);
	if (!end_err && !s->windows.written)
		return no_window__recorded(s, err);
	if (err == -EINTR || err == -ESRCH)
		err = 0; /* stopped, or the target has ended: keep the recorded part */
	return err ? err : end_err;
}
