// SPDX-License-Identifier: BSD-2-Clause
/* A window of a session, from its opening to its summary. */
#include "capture/session.h"
#include "capture/message_table.h"
#include "capture/arming/probeless.h"
#include "capture/arming/step_cost.h"
#include "capture/arming/steps_only.h"
#include "common/counted.h"
#include "common/err.h"
#include "common/util.h"
#include <string.h>

#define MS 1000000ull

#define END_LOST_NS	(1000 * MS) /* proftrace has read all records in the ring after this time */
#define LATE_RECORDS_NS (20 * MS)   /* records of other threads may still be on their way */

static const char *late_for(const struct session *s)
{
	if (!s->cupti.awaited)
		return "the probes were not attached in time";
	if (s->windows.opened > 1)
		return "our library in the process ends one window before it begins the next; "
		       "leave more steps between them";
	return "our library in the process was not ready in time";
}

/* Describes by how many steps the window opened late. The shift of earlier windows is
 * subtracted. */
static void describe_shift(struct session *s)
{
	const uint64_t shifted = s->probes.ctl->shifted;
	struct counted steps;

	s->windows.shift = shifted - s->windows.shifted_before;
	s->windows.shifted_before = shifted;
	if (!s->windows.shift)
		return;
	session__progress_end(s);
	s->windows.late_for = late_for(s);
	steps = counted(s->windows.shift, "step", "steps");
	/* `ctl start` names no step, so a late window is no warning then. */
	if (s->probes.ctl->hold != PT_HOLD_NONE)
		log__info(MESSAGE_WINDOW_LATE, steps.s, s->windows.late_for);
	else
		log__warn(MESSAGE_WINDOW_LATE, steps.s, s->windows.late_for);
}

int session__window_open(struct session *s, uint64_t first_step, uint64_t open_ns)
{
	int err;

	s->facts.device_source =
		s->device && !s->cupti.functions_alone && !s->calls_on ? "CUPTI" : NULL;
	probeless__describe(s);
	steps_only__describe(s);
	err = window__open(&s->window, &s->facts, (uint32_t)s->windows.written);
	if (err)
		return err;
	s->window.first_step = s->window.end_step = first_step;
	s->window.open_ns = open_ns;
	s->windows.ending = false;
	s->windows.opened++;
	describe_shift(s);
	s->start.frozen_ns = 0;
	components__window_open(s);
	return 0;
}

void session__window_close(struct session *s, uint64_t close_ns)
{
	s->window.close_ns = close_ns;
	s->windows.ending = true;
	s->windows.closes_seen = s->probes.ctl->closes;
	components__window_close(s);
}

void session__window_close_unseen(struct session *s)
{
	if (!s->window.writer || s->windows.ending)
		return;
	s->window.end_step = s->boundary.step;
	session__window_close(s, s->probes.ctl->window_close_ns);
}

/* Closes a window at whose end the record was lost. */
static int find_end(struct session *s, uint64_t *next_ns)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	const uint64_t now = clock__monotonic_ns();

	(void)next_ns;
	if (ctl->closes == s->windows.closes_seen)
		s->windows.unseen_since_ns = 0;
	else if (!s->windows.unseen_since_ns)
		s->windows.unseen_since_ns = now;
	if (!s->windows.unseen_since_ns || now - s->windows.unseen_since_ns < END_LOST_NS)
		return 0;
	if (!s->window.writer || s->windows.ending) {
		s->windows.closes_seen = ctl->closes;
		return 0;
	}
	session__window_close_unseen(s);
	return 0;
}

const struct component component_window_end = {
	.name = "ends of windows",
	.poll_windows = find_end,
};

void session__count_anew(struct session *s)
{
	s->before.callee_ends = s->probes.ctl->callee_ends;
	s->before.endless = s->probes.ctl->optimizer_endless;
	s->before.beside = s->probes.ctl->aside_beside;
	s->before.cut_names = decoder__cut_names(s->records.decoder);
	s->before.not_ended = decoder__not_ended(s->records.decoder);
	s->before.enclosing_hits = s->probes.ctl->enclosing_hits;
	s->before.sched_ns = sched_source__own_ns(s->probes.skel);
}

static int keep(const struct window *w, struct capture_result *res)
{
	char *path = strdup(w->path);

	if (!path || ARRAY_PUSH(res->paths, res->path_cnt, res->path_cap, path))
		return -ENOMEM;
	return w->memory < 0 ? 0
			     : ARRAY_PUSH(res->memory, res->memory_cnt, res->memory_cap, w->memory);
}

int session__window_complete(struct session *s)
{
	int err;

	s->windows.summary = json_object();
	err = components__window_finish(s, s->windows.summary);
	components__describe(s, s->windows.summary);
	return err;
}

int session__window_write(struct session *s, int err)
{
	struct window *w = &s->window;
	json_t *summary = s->windows.summary;
	int close_err;
	bool kept;

	step_cost__describe(&s->step_cost, json_object_get(summary, "cost"));
	session__count_anew(s);
	s->windows.ending = false;
	s->windows.summary = NULL;
	/* A window cut short by a full disk is kept, too: its records are worth their tables. */
	kept = recording_writer__bytes(w->writer) > 0;
	probeless__poll_verdict(s);
	steps_only__poll(s);
	probeless__describe(s);
	steps_only__describe(s);
	close_err = window__close(w, &s->facts, summary);
	if (s->windows.discard) {
		window__forget(w);
		kept = s->windows.discard = false;
	}
	if (!err)
		err = close_err;
	if (kept) {
		if (keep(w, s->res))
			err = -ENOMEM;
		s->windows.written++;
	}
	return err;
}

int session__window_finish(struct session *s)
{
	return session__window_write(s, session__window_complete(s));
}

/* Finishes a closed window before the next one opens. With a device source the component of device
 * times finishes the window. */
static int finish_ended(struct session *s, uint64_t *next_ns)
{
	const uint64_t now_ns = clock__monotonic_ns();

	if (s->window.writer)
		turn_by(next_ns, now_ns + READ_NS);
	if (!s->windows.ending || s->device || now_ns < s->window.close_ns + LATE_RECORDS_NS)
		return 0;
	return session__window_finish(s);
}

const struct component component_window_file = {
	.name = "files of windows",
	.poll = finish_ended,
};
