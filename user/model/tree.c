// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds trees from spans in post-order, looking at each span once: a new span becomes the parent
 * of all pending spans inside it. A span that does not nest marks its track. The trees of that
 * track are built by sorting when they are given out. Only then are overlaps corrected.
 */
#include <string.h>
#include "common/util.h"
#include "model/model_internal.h"

static void adopt_first(struct node *parent, struct span *child)
{
	if (!parent->span.first_child)
		parent->last_child = to_node(child);
	child->next_sibling = parent->span.first_child;
	parent->span.first_child = child;
	if (parent->height < to_node(child)->height + 1)
		parent->height = to_node(child)->height + 1;
}

/* At the depth limit: takes over the children of a child, and drops that child. */
static void adopt_children(struct model *m, struct node *parent, struct node *child)
{
	child->last_child->span.next_sibling = parent->span.first_child;
	if (!parent->span.first_child)
		parent->last_child = child->last_child;
	parent->span.first_child = child->span.first_child;
	if (parent->height < child->height)
		parent->height = child->height;
	m->stats.too_deep++;
	pool__release(&m->pool, child);
}

int tree__add(struct model *m, struct track_state *t, struct node *n)
{
	struct span *s = &n->span;

	n->seq = m->seq++;
	while (t->cnt && !t->unordered) {
		struct span *last = t->pending[t->cnt - 1];

		if (last->ev.ts_ns >= s->ev.ts_ns && span__end(last) <= span__end(s)) {
			t->cnt--;
			if (to_node(last)->height >= MODEL_MAX_DEPTH - 1)
				adopt_children(m, n, to_node(last));
			else
				adopt_first(n, last);
		} else if (span__end(last) <= s->ev.ts_ns) {
			break;
		} else {
			t->unordered = true;
		}
	}
	return ARRAY_PUSH(t->pending, t->cnt, t->cap, s);
}

struct flat {
	struct span **spans;
	size_t cnt, cap;
};

static int flatten(struct flat *f, struct span *s)
{
	while (s) {
		struct span *next = s->next_sibling, *child = s->first_child;
		int err = ARRAY_PUSH(f->spans, f->cnt, f->cap, s);

		if (!err)
			err = flatten(f, child);
		if (err)
			return err;
		s = next;
	}
	return 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct span *x = *(struct span *const *)a, *y = *(struct span *const *)b;
	uint64_t xe = span__end(x), ye = span__end(y);

	if (x->ev.ts_ns != y->ev.ts_ns)
		return x->ev.ts_ns < y->ev.ts_ns ? -1 : 1;
	if (xe != ye)
		return xe > ye ? -1 : 1;
	return ((const struct node *)x)->seq > ((const struct node *)y)->seq ? -1 : 1;
}

/* The stack of open spans at the current place of the rebuild. */
struct spine {
	struct span *open[MODEL_MAX_DEPTH];
	size_t depth;
};

/*
 * Makes `s` nest in the open spans, or follow them. It only moves ends back, never begins, so the
 * order stays. An inferred end moves to the begin of s. Otherwise the end of s moves to the end of
 * the span around it.
 */
static void mend(struct model *m, struct spine *sp, struct span *s)
{
	while (sp->depth) {
		struct span *top = sp->open[sp->depth - 1];
		uint64_t end = span__end(top);

		if (end > s->ev.ts_ns) {
			if (span__end(s) <= end)
				return;
			m->stats.clipped++;
			if (top->ev.end != END_INFERRED) {
				s->ev.dur_ns = end - s->ev.ts_ns;
				return;
			}
			top->ev.dur_ns = s->ev.ts_ns - top->ev.ts_ns;
		}
		sp->depth--;
	}
}

static void append(struct span *parent, struct span *s)
{
	struct node *p = to_node(parent);

	if (p->last_child)
		p->last_child->span.next_sibling = s;
	else
		parent->first_child = s;
	p->last_child = to_node(s);
}

static uint32_t measure_height(struct span *s)
{
	uint32_t height = 0;

	for (struct span *c = s->first_child; c; c = c->next_sibling) {
		uint32_t h = measure_height(c) + 1;

		if (h > height)
			height = h;
	}
	return to_node(s)->height = height;
}

static int rebuild(struct model *m, struct track_state *t)
{
	struct flat f = {};
	struct spine sp = {};
	int err = 0;

	for (size_t i = 0; i < t->cnt && !err; i++) {
		t->pending[i]->next_sibling = NULL;
		err = flatten(&f, t->pending[i]);
	}
	if (err) {
		free(f.spans);
		return err;
	}
	if (f.cnt)
		qsort(f.spans, f.cnt, sizeof(*f.spans), by_begin);
	t->cnt = 0;
	for (size_t i = 0; i < f.cnt; i++) {
		struct span *s = f.spans[i];

		s->first_child = s->next_sibling = NULL;
		to_node(s)->last_child = NULL;
		mend(m, &sp, s);
		if (sp.depth == MODEL_MAX_DEPTH) {
			m->stats.too_deep++;
			pool__release(&m->pool, to_node(s));
			continue;
		}
		if (sp.depth)
			append(sp.open[sp.depth - 1], s);
		else
			f.spans[t->cnt++] = s; /* after the place that is being read */
		sp.open[sp.depth++] = s;
	}
	free(t->pending);
	t->pending = f.spans;
	t->cap = f.cap;
	for (size_t i = 0; i < t->cnt; i++)
		measure_height(t->pending[i]);
	t->unordered = false;
	return 0;
}

int tree__take(struct model *m, struct track_state *t, uint64_t end_ns)
{
	struct span **link = &t->roots;
	size_t n = 0;
	int err = t->unordered ? rebuild(m, t) : 0;

	*link = NULL;
	t->root_cnt = 0;
	if (err)
		return err;
	while (n < t->cnt && span__end(t->pending[n]) <= end_ns) {
		*link = t->pending[n++];
		link = &(*link)->next_sibling;
		*link = NULL;
	}
	t->root_cnt = n;
	if (n)
		memmove(t->pending, t->pending + n, (t->cnt - n) * sizeof(*t->pending));
	t->cnt -= n;
	return 0;
}
