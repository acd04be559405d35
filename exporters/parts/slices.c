// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/parts/slices.h"
#include <string.h>
#include "common/util.h"
#include "exporters/parts/event_text.h"

#define LANES_MAX 256

struct slices {
	const struct recording *r;
	struct timeline *timeline;
	struct slice_row *rows; /* by track id; then as many for synchronisations */
	uint32_t track_cnt, row_cnt;
	struct slice_row *lanes[LANES_MAX];
	uint32_t lane_cnt;
	struct timeline_event pending; /* waits until slices that are over have ended on its row */
	struct slice_row *pending_row; /* NULL: no event waits */
	bool drained;
	uint32_t closing; /* row whose slices are ended after the last event */
	uint64_t end_ns;
};

static void rows__make(struct slices *s)
{
	for (uint32_t i = 0; i < 2 * (s->track_cnt + 1); i++) {
		struct slice_row *row = &s->rows[i];
		const uint32_t track = i % (s->track_cnt + 1);

		row->id = i;
		row->track = track ? recording__track(s->r, track) : NULL;
		row->kind = i > s->track_cnt ? ROW_SYNC : ROW_THREAD;
		if (row->track && row->track->kind == TRACK_DEVICE && row->kind == ROW_THREAD)
			row->kind = ROW_STREAM;
		else if (row->track && row->track->kind != TRACK_DEVICE && row->kind == ROW_SYNC)
			row->track = NULL;
	}
	s->row_cnt = 2 * (s->track_cnt + 1);
}

int slices__open(const struct recording *r, struct slices **out)
{
	struct slices *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (!s)
		return -ENOMEM;
	s->r = r;
	s->track_cnt = recording__track_cnt(r);
	s->rows = calloc(2 * ((size_t)s->track_cnt + 1), sizeof(*s->rows));
	if (s->rows) {
		rows__make(s);
		err = timeline__open(r, NULL, NULL, &s->timeline);
	}
	if (err) {
		slices__close(s);
		return err;
	}
	*out = s;
	return 0;
}

void slices__close(struct slices *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; s->rows && i < 2 * (s->track_cnt + 1); i++)
		free(s->rows[i].open_ns);
	for (uint32_t i = 0; i < s->lane_cnt; i++) {
		free(s->lanes[i]->open_ns);
		free(s->lanes[i]);
	}
	timeline__close(s->timeline);
	free(s->rows);
	free(s);
}

uint64_t slices__begin_ns(const struct slices *s)
{
	return timeline__begin_ns(s->timeline);
}

uint64_t slices__end_ns(const struct slices *s)
{
	return s->end_ns;
}

uint32_t slices__row_cnt(const struct slices *s)
{
	return s->row_cnt;
}

static struct slice_row *row_at(const struct slices *s, uint32_t id)
{
	const uint32_t fixed = 2 * (s->track_cnt + 1);

	return id < fixed ? &s->rows[id] : s->lanes[id - fixed];
}

const struct slice_row *slices__row(const struct slices *s, uint32_t id)
{
	return row_at(s, id);
}

void slice_row__name(const struct slice_row *row, char *name, size_t size)
{
	size_t len;

	if (row->kind == ROW_LANE) {
		snprintf(name, size, "asynchronous %u", row->lane);
		return;
	}
	track__label(row->track, name, size);
	len = strlen(name);
	if (row->kind == ROW_SYNC)
		snprintf(name + len, size - len, " synchronisation");
}

/* ---- which row ---- */

static bool lane_is_free(const struct slice_row *lane, uint32_t pid, uint64_t ts_ns)
{
	return lane->track->pid == pid && (!lane->open_cnt || lane->open_ns[0] <= ts_ns);
}

static struct slice_row *lane_for(struct slices *s, const struct event *e)
{
	const struct track *t = recording__track(s->r, e->track);
	struct slice_row *lane;

	for (uint32_t i = 0; t && i < s->lane_cnt; i++)
		if (lane_is_free(s->lanes[i], t->pid, e->ts_ns))
			return s->lanes[i];
	if (!t || s->lane_cnt == LANES_MAX)
		return t ? s->lanes[LANES_MAX - 1] : NULL;
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return NULL;
	*lane = (struct slice_row){
		.id = s->row_cnt++, .kind = ROW_LANE, .track = t, .lane = s->lane_cnt};
	s->lanes[s->lane_cnt++] = lane;
	return lane;
}

static struct slice_row *row_for(struct slices *s, const struct event *e)
{
	const struct name *n = e->name ? recording__name(s->r, e->name) : NULL;
	struct slice_row *row;

	if (!e->track || e->track > s->track_cnt || !s->rows[e->track].track)
		return NULL;
	if (e->type == EVENT_ASYNC)
		return lane_for(s, e);
	row = &s->rows[e->track];
	if (n && n->category == CAT_SYNC && row->kind == ROW_STREAM)
		return &s->rows[s->track_cnt + 1 + e->track];
	return row;
}

/* ---- begins and ends ---- */

static bool is_span(const struct event *e)
{
	return e->type == EVENT_SPAN || e->type == EVENT_STEP || e->type == EVENT_ASYNC ||
	       e->type == EVENT_DEVICE;
}

static int end_slice(struct slice_row *row, struct slice *out)
{
	*out = (struct slice){
		.what = SLICE_END, .row = row, .ts_ns = row->open_ns[--row->open_cnt]};
	return 1;
}

/* True: the event was given back to the timeline, because it begins inside a slice and ends long
 * after it. */
static bool put_off(struct slices *s, const struct slice_row *row)
{
	const struct event *e = &s->pending.ev;
	const uint64_t end_ns = e->ts_ns + e->dur_ns;
	uint64_t enclosing_end_ns;

	if (!row->open_cnt)
		return false;
	enclosing_end_ns = row->open_ns[row->open_cnt - 1];
	return end_ns > enclosing_end_ns &&
	       end_ns - enclosing_end_ns > enclosing_end_ns - e->ts_ns &&
	       timeline__defer(s->timeline, &s->pending, enclosing_end_ns);
}

static int begin_slice(struct slices *s, struct slice_row *row, struct slice *out)
{
	const struct event *e = &s->pending.ev;
	uint64_t begin_ns = e->ts_ns > row->last_ns ? e->ts_ns : row->last_ns;
	uint64_t end_ns = e->ts_ns + e->dur_ns;

	if (row->open_cnt && end_ns > row->open_ns[row->open_cnt - 1])
		end_ns = row->open_ns[row->open_cnt - 1];
	if (end_ns < begin_ns)
		end_ns = begin_ns;
	row->last_ns = begin_ns;
	row->slices++;
	if (end_ns > s->end_ns)
		s->end_ns = end_ns;
	*out = (struct slice){.what = SLICE_BEGIN,
			      .row = row,
			      .ts_ns = begin_ns,
			      .end_ns = end_ns,
			      .clipped_ns = s->pending.cut_ns + e->dur_ns - (end_ns - begin_ns),
			      .ev = *e};
	return ARRAY_PUSH(row->open_ns, row->open_cnt, row->open_cap, end_ns) ? -ENOMEM : 1;
}

/* Gives the waiting event, or an end before it. 0: neither. */
static int give_pending(struct slices *s, struct slice *out)
{
	struct slice_row *row = s->pending_row;
	const struct event *e = &s->pending.ev;

	if (is_span(e) && row->open_cnt && row->open_ns[row->open_cnt - 1] <= e->ts_ns)
		return end_slice(row, out);
	s->pending_row = NULL;
	if (is_span(e))
		return put_off(s, row) ? 0 : begin_slice(s, row, out);
	if (e->ts_ns > s->end_ns)
		s->end_ns = e->ts_ns;
	*out = (struct slice){.what = SLICE_POINT, .row = row, .ts_ns = e->ts_ns, .ev = *e};
	return 1;
}

static int give_last_ends(struct slices *s, struct slice *out)
{
	for (; s->closing < s->row_cnt; s->closing++) {
		struct slice_row *row = row_at(s, s->closing);

		if (row->open_cnt)
			return end_slice(row, out);
	}
	return 0;
}

int slices__next(struct slices *s, struct slice *out)
{
	int err;

	while (!s->drained) {
		err = s->pending_row ? give_pending(s, out) : 0;
		if (err)
			return err;
		if (s->pending_row)
			continue;
		err = timeline__next(s->timeline, &s->pending);
		if (err < 0)
			return err;
		if (!err)
			s->drained = true;
		else
			s->pending_row = row_for(s, &s->pending.ev);
	}
	return give_last_ends(s, out);
}
