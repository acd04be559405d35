// SPDX-License-Identifier: BSD-2-Clause
/*
 * Device events get their launch by correlation id, however many steps the device is behind its
 * host. Events without a launch in the recording are given out with the batch that was current when
 * they were read, or at the end.
 */
#include <stdlib.h>
#include <string.h>
#include "common/util.h"
#include "model/model_internal.h"

#define REST_PART (1u << 16) /* most events of a batch of unmatched ones */

static bool is_sound(const struct model *m, const struct event *e)
{
	const struct track *t = recording__track(m->r, e->track);

	return t && t->kind == TRACK_DEVICE && !event__is_impossible(e);
}

static enum span_kind kind_of(const struct model *m, const struct span *s)
{
	switch (model__category(m, s)) {
	case CAT_KERNEL:
		return KIND_KERNEL;
	case CAT_MEMCPY:
		return KIND_MEMCPY;
	case CAT_MEMSET:
		return KIND_MEMSET;
	case CAT_SYNC:
		return KIND_SYNC;
	default:
		return KIND_OTHER;
	}
}

static struct node *new_node(struct model *m, const struct event *e)
{
	struct node *n = model__copy_span(m, e);

	if (!n)
		return NULL;
	n->seq = m->seq++;
	n->span.phase = KIND_OTHER;
	n->span.kind = kind_of(m, &n->span);
	n->span.kernel_ns = n->span.kind == KIND_KERNEL ? e->dur_ns : 0;
	n->span.device_ns = span_kind__is_device_work(n->span.kind) ? e->dur_ns : 0;
	return n;
}

/* ---- of a launch ---- */

struct taking {
	struct model *m;
	struct span *launch, *last;
};

static int take_one(void *ctx, const struct event *e)
{
	struct taking *t = ctx;
	struct node *n;

	if (!is_sound(t->m, e))
		return 0;
	n = new_node(t->m, e);
	if (!n)
		return -ENOMEM;
	n->span.launch = t->launch;
	*(t->last ? &t->last->next_device : &t->launch->first_device) = &n->span;
	t->last = &n->span;
	return ARRAY_PUSH(t->m->device_done, t->m->device_done_cnt, t->m->device_done_cap, n);
}

int device__take(struct model *m, uint32_t pid, struct span *launch)
{
	struct taking t = {m, launch};

	return device_join__take(&m->join, (struct launch_key){launch->ev.id, pid}, take_one, &t);
}

uint32_t device__expect(const struct model *m, const struct event *e)
{
	const struct name *n = e->name ? recording__name(m->r, e->name) : NULL;
	const struct track *t = recording__track(m->r, e->track);

	if (!n || !t || e->id == EVENT_NO_ID ||
	    (n->category != CAT_RUNTIME && n->category != CAT_DRIVER))
		return 0;
	return device_index__expect(&m->join.index, (struct launch_key){e->id, t->pid});
}

/* ---- of none ---- */

int device__see(struct model *m, const struct event *e)
{
	const uint64_t number = m->device_seen++;
	const struct track *t = recording__track(m->r, e->track);
	struct node *n;

	if (!is_sound(m, e)) {
		m->stats.malformed++;
		return 0;
	}
	if (event__is_from_before(e)) {
		device_join__mark(&m->join, number);
		return 0;
	}
	if (device_index__may_have_launch(&m->join.index, (struct launch_key){e->id, t->pid}))
		return 0;
	n = new_node(m, e);
	if (!n)
		return -ENOMEM;
	m->stats.unlinked++;
	device_join__mark(&m->join, number);
	return ARRAY_PUSH(m->unlinked, m->unlinked_cnt, m->unlinked_cap, n);
}

int device__take_unlinked(struct model *m, uint64_t end_ns)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < m->unlinked_cnt; i++) {
		struct node *n = m->unlinked[i];

		if (!err && span__end(&n->span) <= end_ns)
			err = ARRAY_PUSH(m->device_done, m->device_done_cnt, m->device_done_cap, n);
		else
			m->unlinked[kept++] = n;
	}
	m->unlinked_cnt = kept;
	return err;
}

static int take_rest(void *ctx, const struct event *e)
{
	struct model *m = ctx;
	struct node *n;

	if (!is_sound(m, e))
		return 0;
	n = new_node(m, e);
	if (!n)
		return -ENOMEM;
	m->stats.unlinked++;
	return ARRAY_PUSH(m->device_done, m->device_done_cnt, m->device_done_cap, n);
}

int device__take_rest(struct model *m)
{
	return device_join__take_rest(&m->join, REST_PART, take_rest, m);
}

/* ---- of a batch ---- */

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
	device_join__free(&m->join);
	free(m->unlinked);
	free(m->device_done);
}
