// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/parts/backward_waits.h"
#include <stdlib.h>
#include "common/util.h"

static uint64_t end_of(const struct span *s)
{
	return s->ev.ts_ns + s->ev.dur_ns;
}

static int take_track(struct backward_waits *w, const struct recording *r,
		      const struct track_batch *t)
{
	int err = 0;

	for (const struct span *s = t->roots; s && !err; s = s->next_sibling) {
		const struct name *n = recording__name(r, s->ev.name);
		const struct backward_node node = {t->track->pid, s->ev.ts_ns, end_of(s)};

		if (n && n->category == CAT_BACKWARD_NODE)
			err = ARRAY_PUSH(w->items, w->cnt, w->cap, node);
	}
	return err;
}

static int by_begin(const void *x, const void *y)
{
	const struct backward_node *p = x, *q = y;

	if (p->pid != q->pid)
		return p->pid < q->pid ? -1 : 1;
	return (p->begin_ns > q->begin_ns) - (p->begin_ns < q->begin_ns);
}

static void merge(struct backward_waits *w)
{
	size_t kept = 0;

	if (w->cnt)
		qsort(w->items, w->cnt, sizeof(*w->items), by_begin);
	for (size_t i = 0; i < w->cnt; i++) {
		struct backward_node *last = kept ? &w->items[kept - 1] : NULL, *n = &w->items[i];

		if (!last || last->pid != n->pid || last->end_ns < n->begin_ns)
			w->items[kept++] = *n;
		else if (last->end_ns < n->end_ns)
			last->end_ns = n->end_ns;
	}
	w->cnt = kept;
}

int backward_waits__take(struct backward_waits *w, const struct recording *r, const struct batch *b)
{
	int err = 0;

	w->cnt = 0;
	for (size_t i = 0; i < b->track_cnt && !err; i++)
		if (b->tracks[i].track->kind == TRACK_THREAD)
			err = take_track(w, r, &b->tracks[i]);
	merge(w);
	return err;
}

static uint64_t overlap(const struct backward_waits *w, uint32_t pid, uint64_t begin, uint64_t end)
{
	uint64_t sum = 0;
	size_t at = COUNT_FIRST(w->cnt, i,
				w->items[i].pid < pid ||
					(w->items[i].pid == pid && w->items[i].end_ns <= begin));

	for (; at < w->cnt && w->items[at].pid == pid && w->items[at].begin_ns < end; at++) {
		const struct backward_node *n = &w->items[at];

		sum += (n->end_ns < end ? n->end_ns : end) -
		       (n->begin_ns > begin ? n->begin_ns : begin);
	}
	return sum;
}

uint64_t backward_waits__of(const struct backward_waits *w, uint32_t pid, const struct span *s)
{
	uint64_t sum = 0, at = s->ev.ts_ns;

	if (s->kind != KIND_BACKWARD || !s->ev.name || !w->cnt)
		return 0;
	for (const struct span *c = s->first_child; c; c = c->next_sibling) {
		sum += at < c->ev.ts_ns ? overlap(w, pid, at, c->ev.ts_ns) : 0;
		at = end_of(c) > at ? end_of(c) : at;
	}
	return sum + (at < end_of(s) ? overlap(w, pid, at, end_of(s)) : 0);
}

void backward_waits__free(struct backward_waits *w)
{
	free(w->items);
	*w = (struct backward_waits){0};
}
