// SPDX-License-Identifier: BSD-2-Clause
#include "model/marks.h"
#include <stdlib.h>
#include "common/util.h"

/* Operators are marks in a compiled graph. Operators of a backward pass with a span of its own are
 * no marks. */
static bool is_mark(const struct marks *k, enum span_category cat)
{
	return cat == CAT_DATALOADER || cat == CAT_FORWARD || cat == CAT_BACKWARD ||
	       cat == CAT_OPTIMIZER || cat == CAT_ZERO_GRAD || cat == CAT_OPTIMIZER_OP ||
	       cat == CAT_OPTIMIZER_BEGIN || (k->graph_ns && mark__is_operator(cat));
}

static void note_kind(struct marks *k, const struct span *s, enum span_category cat)
{
	if (cat == CAT_SCRIPT && !k->graph_ns)
		k->graph_ns = s->ev.ts_ns;
	k->has_operators |= cat == CAT_OPERATOR || cat == FORWARD_OP;
	k->has_updates |= cat == CAT_OPTIMIZER_OP;
	k->has_forward |= cat == CAT_FORWARD;
	k->has_backward |= cat == CAT_BACKWARD || cat == CAT_BACKWARD_NODE;
}

/* A graph's operator without a phase belongs to the one before it. */
static bool goes_on(const struct model *m, const struct span *s, enum span_category cat)
{
	return cat == CAT_OPERATOR && m->has_scopes && recording__full_name(m->r, s->ev.overload);
}

static void count_operator(struct marks *k, const struct span *s, enum span_category cat)
{
	if (cat != CAT_OPERATOR || s->ev.ts_ns < k->operator_end_ns)
		return;
	k->operators++;
	k->operator_end_ns = span__end(s);
}

static bool holds_backward(const struct model *m, const struct span *s)
{
	for (const struct span *c = s->first_child; c; c = c->next_sibling)
		if (scopes__category(m, c) == CAT_BACKWARD || holds_backward(m, c))
			return true;
	return false;
}

/* A span inside the latest extent is a part of it. */
static int add_extent(struct extents *e, const struct span *s)
{
	const struct extent extent = {s->ev.ts_ns, span__end(s)};

	if (e->cnt && extent.begin < e->items[e->cnt - 1].end)
		return 0;
	return ARRAY_PUSH(e->items, e->cnt, e->cap, extent);
}

static bool extents__hold(const struct extents *e, uint64_t ts_ns)
{
	const size_t begun = COUNT_FIRST(e->cnt, i, e->items[i].begin <= ts_ns);

	return begun && ts_ns < e->items[begun - 1].end;
}

static int collect(const struct model *m, struct span *s, struct marks *k);

/* Does the closure begin with zero_grad, its first mark, and not with the forward pass? It does the
 * same in each run. Before the first run the optimizer computes nothing. */
static bool begins_with_zero_grad(const struct span *s, const struct marks *k, size_t first,
				  uint32_t operators_before)
{
	const struct mark *zero = k->items + first, *next = zero + 1;
	uint32_t early;

	if (first + 1 >= k->cnt || zero->cat != CAT_ZERO_GRAD || next->cat != CAT_BACKWARD)
		return false;
	early = zero->operators - operators_before;
	if (early || next->operators)
		return early < next->operators;
	return zero->begin - s->ev.ts_ns < next->begin - zero->end;
}

/* Marks what the optimizer computes between two runs of its closure. True: some of it is known. */
static bool note_updates(struct marks *k, size_t first)
{
	bool any = false;

	for (size_t i = first + 1; i < k->cnt; i++) {
		struct mark *mark = &k->items[i];

		if (mark->cat != CAT_ZERO_GRAD || k->items[i - 1].cat != CAT_BACKWARD)
			continue;
		mark->behind_update = true;
		mark->continued = any;
		any = true;
	}
	return any;
}

/* optimizer.step(closure): the closure runs the forward and backward pass. So the phases are those
 * inside, and the update is what follows them. */
static int collect_closure(const struct model *m, struct span *s, struct marks *k)
{
	struct mark update = {.end = span__end(s), .cat = CLOSURE_UPDATE};
	const size_t first = k->cnt;
	const uint32_t operators_before = k->operators;
	int err = collect(m, s->first_child, k);

	to_node(s)->ran_closure = true;
	if (err)
		return err;
	if (begins_with_zero_grad(s, k, first, operators_before))
		update.continued = note_updates(k, first);
	update.begin = k->items[k->cnt - 1].end;
	return ARRAY_PUSH(k->items, k->cnt, k->cap, update);
}

static int collect(const struct model *m, struct span *s, struct marks *k)
{
	size_t last = 0; /* index after the latest operator among these siblings, 0: none */
	int err = 0;

	for (; s && !err; s = s->next_sibling) {
		enum span_category cat = scopes__category(m, s);
		/* The begin of an optimizer counts as the first of its operators. */
		struct mark mark = {s->ev.ts_ns, span__end(s),
				    cat == CAT_OPTIMIZER_BEGIN ? CAT_OPTIMIZER_OP : cat};

		if (cat == CAT_EVALUATION || cat == CAT_SCRIPT)
			err = add_extent(cat == CAT_SCRIPT ? &k->graphs : &k->evaluations, s);
		if (err || cat == CAT_EVALUATION)
			continue;
		note_kind(k, s, cat);
		count_operator(k, s, cat);
		if (cat == CAT_OPTIMIZER && holds_backward(m, s)) {
			err = collect_closure(m, s, k);
			last = 0;
			continue;
		}
		if (last && last == k->cnt && goes_on(m, s, cat))
			k->items[last - 1].end = span__end(s);
		if (!is_mark(k, cat)) {
			err = collect(m, s->first_child, k);
			continue;
		}
		mark.operators = k->operators;
		k->operators = 0;
		err = ARRAY_PUSH(k->items, k->cnt, k->cap, mark);
		last = mark__is_operator(mark.cat) ? k->cnt : 0;
	}
	return err;
}

static bool has_category(const struct marks *k, enum span_category cat)
{
	for (size_t i = 0; i < k->cnt; i++)
		if (k->items[i].cat == cat)
			return true;
	return false;
}

/* ---- operators of other threads ---- */

/* Is the mark in the step, and in no phase or evaluation of the step's thread? If full names do not
 * show whose it is, it belongs to a graph for which this thread waits. */
static bool is_free(const struct model *m, const struct marks *k, size_t own_cnt,
		    const struct step *step, const struct mark *mark)
{
	if (mark->begin < step->ts_ns || mark->begin >= step->ts_ns + step->dur_ns ||
	    extents__hold(&k->evaluations, mark->begin) ||
	    (!m->has_scopes && !extents__hold(&k->graphs, mark->begin)))
		return false;
	for (size_t i = 0; i < own_cnt; i++)
		if (mark->begin >= k->items[i].begin && mark->begin < k->items[i].end)
			return false;
	return true;
}

static int by_begin(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static int take_operators(const struct model *m, const struct track_state *t,
			  const struct step *step, size_t own_cnt, struct marks *k)
{
	/* The step's thread may have only the graph's call. Then these are the marks of the
	 * executing thread. */
	struct marks theirs = {.graph_ns = k->graph_ns};
	int err = collect(m, t->roots, &theirs);

	k->others_backward |= has_category(&theirs, CAT_BACKWARD);
	if (m->has_scopes && !has_category(&theirs, CAT_BACKWARD_NODE))
		theirs.cnt = 0;
	for (size_t i = 0; i < theirs.cnt && !err; i++) {
		const struct mark *mark = &theirs.items[i];

		if (mark__is_operator(mark->cat) && is_free(m, k, own_cnt, step, mark))
			err = ARRAY_PUSH(k->items, k->cnt, k->cap, *mark);
	}
	marks__free(&theirs);
	return err;
}

/* Threads that share a graph may update one parameter while others still compute gradients. That
 * time belongs to the backward pass. */
static void drop_early_updates(struct marks *k)
{
	uint64_t gradients_end_ns = 0;
	size_t cnt = 0;

	for (size_t i = 0; i < k->cnt; i++) {
		const struct mark mark = k->items[i];

		if (mark.cat == CAT_OPTIMIZER_OP && mark.begin < gradients_end_ns)
			continue;
		if (mark.cat == CAT_BACKWARD_NODE && mark.end > gradients_end_ns)
			gradients_end_ns = mark.end;
		k->items[cnt++] = mark;
	}
	k->cnt = cnt;
}

/* Without full names, a graph trains if it has gradients. Gradients of a backward pass on another
 * thread belong to what that graph trains. */
static bool are_of_graph(const struct model *m, const struct marks *k, size_t own_cnt)
{
	if (m->has_scopes)
		return k->cnt > own_cnt;
	return has_category(k, CAT_BACKWARD_NODE) && !k->others_backward;
}

static int look_elsewhere(const struct model *m, const struct track_state *own,
			  const struct step *step, struct marks *k)
{
	const size_t own_cnt = k->cnt;
	int err = 0;

	for (size_t i = 0; i < m->active_cnt && !err; i++) {
		const struct track_state *t = m->active[i];

		if (t != own && t->track->pid == own->track->pid)
			err = take_operators(m, t, step, own_cnt, k);
	}
	k->elsewhere = are_of_graph(m, k, own_cnt);
	if (!k->elsewhere) {
		k->cnt = own_cnt;
		return err;
	}
	k->has_operators = k->has_backward = true;
	qsort(k->items, k->cnt, sizeof(*k->items), by_begin);
	drop_early_updates(k);
	return err;
}

/* ---- operators by their full names ---- */

static bool is_update_next(const struct marks *k, size_t i)
{
	while (i < k->cnt && k->items[i].cat == FORWARD_OP)
		i++;
	return i < k->cnt && k->items[i].cat == CAT_OPTIMIZER_OP;
}

/* An optimizer need not have a place of its own in the network. So what lies between the last
 * gradient and an update belongs to the optimizer. Other operators after the gradients have no
 * phase. Neither has any operator of a graph without gradients. */
static void end_forward(struct marks *k)
{
	bool known = has_category(k, CAT_BACKWARD_NODE) && !k->has_forward &&
		     !has_category(k, CAT_BACKWARD);
	size_t cnt = 0, gradients_end = 0;

	for (size_t i = 0; i < k->cnt; i++)
		if (k->items[i].cat == CAT_BACKWARD_NODE)
			gradients_end = i + 1;
	for (size_t i = 0; i < k->cnt; i++) {
		struct mark mark = k->items[i];

		if (mark.cat == FORWARD_OP && (!known || i >= gradients_end)) {
			if (!known || !is_update_next(k, i))
				continue;
			mark.cat = CAT_OPTIMIZER_OP;
		}
		k->by_scope |= mark.cat == FORWARD_OP;
		k->items[cnt++] = mark;
	}
	k->cnt = cnt;
}

int marks__collect(const struct model *m, const struct track_state *t, const struct step *step,
		   struct marks *k)
{
	int err = collect(m, t->roots, k);

	if (!err && step && k->graph_ns && !k->has_backward && !k->has_forward)
		err = look_elsewhere(m, t, step, k);
	if (!err)
		end_forward(k);
	return err;
}

void marks__free(struct marks *k)
{
	free(k->items);
	free(k->graphs.items);
	free(k->evaluations.items);
}
