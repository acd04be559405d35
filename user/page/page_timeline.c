// SPDX-License-Identifier: BSD-2-Clause
/* The spans of a few steps. Small adjacent spans are merged. */
#include <string.h>
#include "common/util.h"
#include "exporters/parts/event_text.h"
#include "model/device_info.h"
#include "page/page_internal.h"

/* ---- reading ---- */

/* The row of a track. TIMELINE_ROWS_MAX: there are too many. */
static uint32_t row_of(struct page_timeline *t, uint32_t track)
{
	for (uint32_t i = 0; i < t->row_cnt; i++)
		if (t->rows[i] == track)
			return i;
	if (t->row_cnt == TIMELINE_ROWS_MAX)
		return TIMELINE_ROWS_MAX;
	t->rows[t->row_cnt] = track;
	return (uint32_t)t->row_cnt++;
}

/* Kernels of collectives are shown as communication, as in the tables. */
static enum span_kind kind_of(const struct recording *r, const struct span *s)
{
	const struct name *n = recording__name(r, s->ev.name);

	return s->kind == KIND_KERNEL && n && kernel_name__is_collective(n->text)
		       ? KIND_COMMUNICATION
		       : s->kind;
}

static int add_span(struct page_timelines *all, struct page_timeline *t, const struct span *s,
		    uint32_t row, int depth)
{
	const struct timeline_span out = {
		.begin_ns = s->ev.ts_ns,
		.end_ns = s->ev.ts_ns + s->ev.dur_ns,
		.row = row,
		.frame = page_names__frame(all->names, s),
		.cnt = 1,
		.depth = (uint16_t)depth,
		.kind = (uint8_t)kind_of(all->r, s),
		.cut = s->ev.flags & (EVENT_CUT_BEGIN | EVENT_CUT_END),
	};
	int err;

	if (row == TIMELINE_ROWS_MAX || depth >= TIMELINE_DEPTH_MAX ||
	    t->cnt == TIMELINE_READ_MAX) {
		t->left_out++;
		return 0;
	}
	err = ARRAY_PUSH(t->spans, t->cnt, t->cap, out);
	for (const struct span *c = s->first_child; c && !err; c = c->next_sibling)
		err = add_span(all, t, c, row, depth + 1);
	return err;
}

static int add_batch(struct page_timelines *all, struct page_timeline *t, const struct batch *b)
{
	int err = 0;

	if (b->step) {
		t->of = *b->step;
		row_of(t, b->step->track);
	}
	for (size_t i = 0; i < b->track_cnt && !err; i++) {
		const struct span *s = b->tracks[i].roots;
		const uint32_t row = s ? row_of(t, b->tracks[i].track->id) : 0;

		for (; s && !err; s = s->next_sibling)
			err = add_span(all, t, s, row, 0);
	}
	return err;
}

/* Adds what the device still runs in the next step. */
static int add_carried(struct page_timelines *all, struct page_timeline *t, const struct batch *b)
{
	const uint64_t end_ns = b->step->ts_ns + b->step->dur_ns;
	int err = 0;

	row_of(t, b->step->track);
	for (size_t i = 0; i < b->track_cnt; i++) {
		if (b->tracks[i].track->kind != TRACK_DEVICE)
			continue;
		for (const struct span *s = b->tracks[i].roots; s && !err; s = s->next_sibling)
			if (s->ev.ts_ns + s->ev.dur_ns > end_ns)
				err = add_span(all, t, s, row_of(t, b->tracks[i].track->id), 0);
	}
	return err;
}

int page_timelines__visit(const struct batch *b, void *ctx)
{
	struct page_timelines *all = ctx;
	int err = 0;

	if (all->stepless)
		return b->step ? 0 : add_batch(all, &all->items[0], b);
	if (!b->step)
		return 0;
	for (size_t i = 0; i < all->cnt && !err; i++)
		if (all->items[i].step.ordinal == all->seen)
			err = add_batch(all, &all->items[i], b);
		else if (all->items[i].step.ordinal == all->seen + 1)
			err = add_carried(all, &all->items[i], b);
	all->seen++;
	return err;
}

/* ---- merging ---- */

static int by_place(const void *x, const void *y)
{
	const struct timeline_span *p = x, *q = y;

	if (p->row != q->row)
		return p->row < q->row ? -1 : 1;
	if (p->depth != q->depth)
		return p->depth < q->depth ? -1 : 1;
	if (p->begin_ns != q->begin_ns)
		return p->begin_ns < q->begin_ns ? -1 : 1;
	return p->end_ns < q->end_ns ? -1 : p->end_ns > q->end_ns;
}

static bool is_small(const struct timeline_span *s, uint64_t small_ns)
{
	return s->cnt > 1 || s->end_ns - s->begin_ns < small_ns;
}

/* Are both small, and nearly adjacent? */
static bool merges(const struct timeline_span *a, const struct timeline_span *b, uint64_t small_ns)
{
	return a->row == b->row && a->depth == b->depth && is_small(a, small_ns) &&
	       is_small(b, small_ns) &&
	       (b->begin_ns <= a->end_ns || b->begin_ns - a->end_ns < small_ns);
}

static void merge_small(struct page_timeline *t, uint64_t small_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < t->cnt; i++) {
		struct timeline_span *last = n ? &t->spans[n - 1] : NULL, *s = &t->spans[i];

		if (!last || !merges(last, s, small_ns)) {
			t->spans[n++] = *s;
			continue;
		}
		last->end_ns = s->end_ns > last->end_ns ? s->end_ns : last->end_ns;
		last->cnt += s->cnt;
		last->cut |= s->cut;
		if (s->kind != last->kind)
			last->kind = KIND_OTHER;
	}
	t->cnt = n;
}

static uint64_t length_ns(const struct page_timeline *t)
{
	uint64_t begin = UINT64_MAX, end = 0;

	for (size_t i = 0; i < t->cnt; i++) {
		begin = t->spans[i].begin_ns < begin ? t->spans[i].begin_ns : begin;
		end = t->spans[i].end_ns > end ? t->spans[i].end_ns : end;
	}
	return t->cnt ? end - begin : 0;
}

/* If there are still too many, removes the deepest spans and the last rows. */
static void cut_off(struct page_timeline *t, size_t most)
{
	for (size_t i = most; i < t->cnt; i++)
		t->left_out += t->spans[i].cnt;
	if (t->cnt > most)
		t->cnt = most;
}

void page_timeline__merge(struct page_timeline *t, size_t most)
{
	const uint64_t whole_ns = length_ns(t);

	if (t->cnt)
		qsort(t->spans, t->cnt, sizeof(*t->spans), by_place);
	t->small_ns = whole_ns >> 16;
	while (t->cnt > most && t->small_ns < whole_ns) {
		t->small_ns = t->small_ns ? 2 * t->small_ns : 1;
		merge_small(t, t->small_ns);
	}
	cut_off(t, most);
	for (size_t i = 0; i < t->cnt; i++)
		t->merged += t->spans[i].cnt > 1 ? t->spans[i].cnt : 0;
	if (!t->merged)
		t->small_ns = 0;
}

/* ---- JSON ---- */

/* The range of the step, or of what it launched if that is longer. */
static void range_of(const struct page_timeline *t, uint64_t *begin_ns, uint64_t *end_ns)
{
	*begin_ns = t->of.dur_ns ? t->of.ts_ns : UINT64_MAX;
	*end_ns = t->of.ts_ns + t->of.dur_ns;
	for (size_t i = 0; i < t->cnt; i++) {
		if (!t->of.dur_ns && t->spans[i].begin_ns < *begin_ns)
			*begin_ns = t->spans[i].begin_ns;
		if (t->spans[i].end_ns > *end_ns)
			*end_ns = t->spans[i].end_ns;
	}
	if (*begin_ns > *end_ns)
		*begin_ns = *end_ns;
}

static void write_rows(const struct page_timeline *t, const struct recording *r,
		       struct text_file *out)
{
	char name[256];

	text_file__print(out, "\"rows\":[");
	for (size_t i = 0; i < t->row_cnt; i++) {
		const struct track *track = recording__track(r, t->rows[i]);

		name[0] = '\0';
		if (track)
			track__label(track, name, sizeof(name));
		text_file__print(out, "%s{\"device\":%s,\"name\":", i ? "," : "",
				 track && track->kind == TRACK_DEVICE ? "true" : "false");
		page_json__string(out, name);
		text_file__put(out, "}", 1);
	}
	text_file__print(out, "],");
}

/* [row, depth, begin ns relative to the timeline, ns, name, kind, number of spans] */
static int write_span(const struct timeline_span *s, uint64_t begin_ns, struct page_names *names,
		      struct text_file *out)
{
	const uint64_t from_ns = s->begin_ns > begin_ns ? s->begin_ns - begin_ns : 0;
	const uint64_t to_ns = s->end_ns > begin_ns ? s->end_ns - begin_ns : 0;
	uint32_t name = 0;
	int err = s->cnt == 1 ? page_names__number(names, s->frame, &name) : 0;

	if (!err)
		text_file__print(out, "[%u,%u,%llu,%llu,%d,%u,%u]", s->row, s->depth,
				 (unsigned long long)from_ns, (unsigned long long)(to_ns - from_ns),
				 s->cnt == 1 ? (int)name : -1, s->kind, s->cnt);
	return err;
}

static int write_one(struct page_timeline *t, const struct recording *r, struct page_names *names,
		     struct text_file *out)
{
	uint64_t begin_ns, end_ns;
	int err = 0;

	range_of(t, &begin_ns, &end_ns);
	text_file__print(out,
			 "{\"why\":\"%s\",\"step\":%lld,\"step_ns\":%llu,\"length_ns\":%llu,"
			 "\"merged\":%llu,\"small_ns\":%llu,\"left_out\":%llu,",
			 t->step.why, t->of.dur_ns ? (long long)t->of.index : -1LL,
			 (unsigned long long)t->of.dur_ns, (unsigned long long)(end_ns - begin_ns),
			 (unsigned long long)t->merged, (unsigned long long)t->small_ns,
			 (unsigned long long)t->left_out);
	write_rows(t, r, out);
	text_file__print(out, "\"spans\":[");
	for (size_t i = 0; i < t->cnt && !err; i++) {
		text_file__put(out, ",\n", i ? 2 : 0);
		err = write_span(&t->spans[i], begin_ns, names, out);
	}
	text_file__print(out, "]}");
	return err;
}

int page_timelines__write(struct page_timelines *all, const struct recording *r,
			  struct page_names *names, struct text_file *out)
{
	int err = 0;

	text_file__put(out, "[", 1);
	for (size_t i = 0; i < all->cnt && !err; i++) {
		text_file__put(out, ",\n", i ? 2 : 0);
		page_timeline__merge(&all->items[i], TIMELINE_SPANS_MAX);
		err = write_one(&all->items[i], r, names, out);
	}
	text_file__put(out, "]", 1);
	return err;
}

void page_timelines__free(struct page_timelines *all)
{
	for (size_t i = 0; i < TIMELINES_MAX; i++)
		free(all->items[i].spans);
}
