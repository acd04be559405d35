// SPDX-License-Identifier: BSD-2-Clause
#include "capture/step_end.h"
#include "capture/device/device_time.h"

/* The step before `next` has ended. */
static int step_ended(struct session *s, const struct pt_rec_step *r, uint64_t next, uint64_t ts_ns)
{
	const struct held_step step = {r->h.pid, r->h.tid, next - 1, s->boundary.ns, ts_ns};
	int err = s->boundary.ns && ts_ns ? device_time__step(s, &step) : 0;

	s->boundary.ns = ts_ns;
	s->boundary.step = next;
	return err;
}

/* Recovers steps whose boundary records were lost. The programs remember the latest boundaries. The
 * steps at an older lost boundary stay unknown. */
static int recover_steps(struct session *s, const struct pt_rec_step *r)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	int err = 0;

	while (!err && s->boundary.step + 1 < r->step) {
		uint64_t seq = r->seq - (r->step - s->boundary.step - 1);
		uint64_t ts_ns = ctl->step_ns[seq % PT_STEP_RING];
		bool overwritten = ctl->step_seq - seq >= PT_STEP_RING - 1;

		err = step_ended(s, r, s->boundary.step + 1, overwritten ? 0 : ts_ns);
		s->boundary.recovered_cnt += !overwritten;
	}
	return err;
}

int step_end__of(struct session *s, const struct pt_rec_step *r)
{
	const bool ends = r->prev_state == PT_STATE_RECORD, begins = r->state == PT_STATE_RECORD;
	int err = 0;

	if (ends && s->window.writer && !s->windows.ending) {
		err = recover_steps(s, r);
		if (!err)
			err = step_ended(s, r, r->step, r->ts_ns);
		s->window.end_step = r->step;
	}
	s->boundary.ns = r->ts_ns;
	s->boundary.step = r->step;
	if (!err && s->sched)
		err = sched_source__boundary(s->sched, r->ts_ns, begins ? r->step : EVENT_NO_ID);
	return err;
}
