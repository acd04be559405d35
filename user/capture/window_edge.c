// SPDX-License-Identifier: BSD-2-Clause
#include "capture/window_edge.h"
#include "capture/step_end.h"

static int take(struct session *s, const struct pt_rec_step *r)
{
	const bool ends = r->prev_state == PT_STATE_RECORD, begins = r->state == PT_STATE_RECORD;
	const uint64_t before_ns = s->boundary.ns;
	int err = step_end__of(s, r);

	if (ends && !begins && s->window.writer && !s->windows.ending)
		session__window_close(s, r->ts_ns);
	else if (ends && !begins) /* it is closed already, or the record of its begin was lost */
		s->windows.closes_seen = s->probes.ctl->closes;
	if (err || !begins || s->windows.timed)
		return err;
	if (s->window.writer && !s->windows.ending) /* the record of its end was lost */
		session__window_close(s, before_ns);
	if (s->windows.ending)
		err = session__window_finish(s);
	return err ? err : session__window_open(s, r->step, r->ts_ns);
}

int window_edge__take(struct session *s)
{
	const int err = take(s, &s->records.edge);

	if (err && !s->records.err)
		s->records.err = err;
	return err;
}
