// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/forward_ops.h"
#include <jansson.h>
#include <stdlib.h>
#include "analysis/left_out.h"
#include "analysis/tables/spans_by_name.h"
#include "common/util.h"
#include "model/call_stack.h"

#define KEEP_MAX (1u << 16) /* operators that are kept if there are no steps */
#define APART	 64	    /* most nodes that one operator makes */

static int by_seq(const void *x, const void *y)
{
	const struct forward_op *p = x, *q = y;

	if (p->pid != q->pid)
		return p->pid < q->pid ? -1 : 1;
	if (p->seq != q->seq)
		return p->seq < q->seq ? -1 : 1;
	return p->order < q->order ? -1 : p->order > q->order;
}

static int take_track(const struct analysis *a, struct forward_ops *f, const struct track_batch *t)
{
	int err = 0;

	for (const struct span *s = t->roots; s && !err; s = span__next(s, NULL)) {
		const struct forward_op op = {.seq = s->ev.id,
					      .order = f->order++,
					      .begin_ns = s->ev.ts_ns,
					      .end_ns = s->ev.ts_ns + s->ev.dur_ns,
					      .track = t->track,
					      .pid = t->track->pid,
					      .group = by_name__group(a, t->track),
					      .name = s->ev.name,
					      .stack = span__stack(a->r, s)};

		if (s->kind == KIND_OPERATOR && s->ev.id != EVENT_NO_ID &&
		    recording__category(a->r, s->ev.name) == CAT_OPERATOR)
			err = ARRAY_PUSH(f->items, f->cnt, f->cap, op);
	}
	return err;
}

/* Is the next operator inside this one, with the same node number? */
static bool next_is_inside(const struct forward_op *op)
{
	const struct forward_op *next = op + 1;

	return next->pid == op->pid && next->seq == op->seq && next->track == op->track &&
	       next->begin_ns < op->end_ns;
}

int forward_ops__take(const struct analysis *a, struct forward_ops *f, const struct batch *b)
{
	int err = 0;

	if (b->step || f->cnt > KEEP_MAX)
		f->cnt = 0;
	for (size_t i = 0; i < b->track_cnt && !err; i++)
		if (b->tracks[i].track->kind == TRACK_THREAD)
			err = take_track(a, f, &b->tracks[i]);
	if (f->cnt)
		qsort(f->items, f->cnt, sizeof(*f->items), by_seq);
	return err;
}

const struct forward_op *forward_ops__of(const struct analysis *a, struct forward_ops *f,
					 const struct track *t, const struct span *node)
{
	const struct forward_op key = {.pid = t->pid, .seq = node->ev.id};
	size_t low = 0, high = f->cnt;

	if (node->ev.id == EVENT_NO_ID ||
	    recording__category(a->r, node->ev.name) != CAT_BACKWARD_NODE)
		return NULL;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (by_seq(&f->items[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == f->cnt || f->items[low].pid != t->pid || f->items[low].seq - key.seq >= APART)
		return NULL;
	if (f->items[low].seq != key.seq && left_out__has_operators(a)) {
		f->unsure++;
		return NULL;
	}
	while (low + 1 < f->cnt && next_is_inside(&f->items[low]))
		low++;
	return &f->items[low];
}

void forward_ops__free(struct forward_ops *f)
{
	free(f->items);
}
