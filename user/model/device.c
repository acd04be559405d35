// SPDX-License-Identifier: BSD-2-Clause
/*
 * Device events wait here, by correlation id, for the host call that launched them. They come from
 * buffers that are flushed late, so the model holds two batches back when a device was recorded.
 */
#include <stdlib.h>
#include <string.h>
#include "common/util.h"
#include "model/model_internal.h"

/* Slots hold chains of one hash each, linked by next_device; emptied chains stay in place. */
static size_t slot_of(const struct device_table *t, uint64_t id)
{
	return (id * 0x9e3779b97f4a7c15ull >> 32) & (t->slot_cnt - 1);
}

static void chain(struct device_table *t, struct node *n)
{
	struct node **slot = &t->slots[slot_of(t, n->span.ev.id)];

	n->span.next_device = *slot ? &(*slot)->span : NULL;
	*slot = n;
	t->used++;
}

static int grow(struct device_table *t)
{
	struct device_table grown = {.slot_cnt = t->slot_cnt ? t->slot_cnt * 2 : 4096};

	grown.slots = calloc(grown.slot_cnt, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < t->slot_cnt; i++) {
		struct span *s = t->slots[i] ? &t->slots[i]->span : NULL;

		while (s) {
			struct span *next = s->next_device;

			chain(&grown, to_node(s));
			s = next;
		}
	}
	free(t->slots);
	*t = grown;
	return 0;
}

int device__add(struct model *m, struct node *n)
{
	struct device_table *t = &m->devices;
	int err = t->used >= t->slot_cnt ? grow(t) : 0;

	if (!err)
		chain(t, n);
	return err;
}

struct node *device__take(struct model *m, uint64_t correlation)
{
	struct device_table *t = &m->devices;
	struct span *taken = NULL, *s, *keep = NULL;
	struct node **slot;

	if (!t->used)
		return NULL;
	slot = &t->slots[slot_of(t, correlation)];
	s = *slot ? &(*slot)->span : NULL;
	while (s) {
		struct span *next = s->next_device;
		struct span **to = s->ev.id == correlation ? &taken : &keep;

		t->used -= to == &taken;
		s->next_device = *to;
		*to = s;
		s = next;
	}
	*slot = keep ? to_node(keep) : NULL;
	return taken ? to_node(taken) : NULL;
}

int device__done(struct model *m, struct node *n)
{
	return ARRAY_PUSH(m->device_done, m->device_done_cnt, m->device_done_cap, n);
}

static bool has_call(const struct model *m, const struct span *s, uint64_t id)
{
	const enum span_category cat = model__category(m, s);

	if (s->ev.id == id && (cat == CAT_RUNTIME || cat == CAT_DRIVER))
		return true;
	for (const struct span *c = s->first_child; c; c = c->next_sibling)
		if (has_call(m, c, id))
			return true;
	return false;
}

/* It is in what a thread has begun by then, and which goes on past this batch. */
static bool is_launch_pending(const struct model *m, const struct span *device)
{
	for (size_t i = 0; i < m->active_cnt; i++) {
		const struct track_state *t = m->active[i];

		for (size_t k = 0; k < t->cnt && t->pending[k]->ev.ts_ns <= device->ev.ts_ns; k++)
			if (has_call(m, t->pending[k], device->ev.id))
				return true;
	}
	return false;
}

int device__take_unlinked(struct model *m, uint64_t end_ns)
{
	struct device_table *t = &m->devices;
	int err = 0;

	for (size_t i = 0; i < t->slot_cnt && t->used; i++) {
		struct span *s = t->slots[i] ? &t->slots[i]->span : NULL, *keep = NULL;

		while (s) {
			struct span *next = s->next_device;

			if (!err && span__end(s) <= end_ns && !is_launch_pending(m, s)) {
				s->next_device = NULL;
				t->used--;
				m->stats.unlinked++;
				err = device__done(m, to_node(s));
			} else {
				s->next_device = keep;
				keep = s;
			}
			s = next;
		}
		t->slots[i] = keep ? to_node(keep) : NULL;
	}
	return err;
}

static int by_track_and_time(const void *a, const void *b)
{
	const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;
	const struct event *e = &x->span.ev, *f = &y->span.ev;

	if (e->track != f->track)
		return e->track < f->track ? -1 : 1;
	if (e->ts_ns != f->ts_ns)
		return e->ts_ns < f->ts_ns ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

void device__emit(struct model *m, struct track_batch *out, size_t *cnt)
{
	struct span *last = NULL;

	if (m->device_done_cnt)
		qsort(m->device_done, m->device_done_cnt, sizeof(*m->device_done),
		      by_track_and_time);
	for (size_t i = 0; i < m->device_done_cnt; i++) {
		struct span *s = &m->device_done[i]->span;

		if (last && last->ev.track == s->ev.track) {
			last->next_sibling = s;
		} else {
			out[*cnt].track = m->tracks[s->ev.track].track;
			out[(*cnt)++].roots = s;
		}
		last = s;
	}
}

void device__free(struct model *m)
{
	free(m->devices.slots);
	free(m->device_done);
}
