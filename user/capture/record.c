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
#define SHOWN_US 200000 /* where somebody looks at the progress */

#define LATE_RECORDS_NS 300000000ull
#define LATE_EDGE_NS	100000000ull
#define QUIET_NS	100000000ull

static void window_stop(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;
	bool open = ctl->window_open;

	if (open) /* else it closed at a step, and its edge stays there */
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

/* The captures of other ranks take their time to attach and learn. */
static int wait_for_ranks(struct session *s)
{
	struct rendezvous *r = s->opts->rendezvous;
	uint64_t now, begin_ns;
	int err;

	if (!r)
		return 0;
	rendezvous__come(r, s->opts->rendezvous_index);
	err = session__wait(s, &(struct wait){look_at_ranks, .turn_us = TURN_US});
	if (err) /* the moment of the others is theirs to choose */
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

/* How often it looks, where no component needs a turn: far from a window nothing comes, and whoever
 * shares a core with us should not notice us. */
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

/* Steps [A,B) and spans: the programs open and close the window; here their end is awaited. */
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

/* It ends so long after it began. */
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

/* A window that opens without steps has the places of most calls. */
struct growth {
	uint32_t cnt;
	uint64_t changed_ns; /* since the wait began; 0: it has not */
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

/* From the first boundary, or from now if there are no steps, for a time. */
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

/* stopped: nobody waits for more. */
static int finish_last(struct session *s, bool stopped)
{
	int err = device_start__await_end(s), complete_err;

	if (err == -EINTR) { /* asked once more: what has come is written */
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

/* The programs say that a window is over before they send the record of its end. */
static int await_edge(struct session *s)
{
	const int err =
		session__wait(s, &(struct wait){look_at_edge, .turn_us = 1000,
						.end_ns = clock__monotonic_ns() + LATE_EDGE_NS,
						.stage = STAGE_END});

	return err == -EINTR ? 0 : err; /* asked once more: what has come is written */
}

/* Ends the window if one is open, reads what is on its way, and closes the file. */
static int record_end(struct session *s, bool stopped)
{
	/* Steps that are over already are read before the window is told that it ends. */
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
		err = 0; /* asked to stop, or nothing more to come: what was seen is kept */
	return err ? err : end_err;
}
