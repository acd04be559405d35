// SPDX-License-Identifier: BSD-2-Clause
/*
 * The phases of a step: those that the framework shows, and inferred ones. Inferred are the forward
 * pass, and an optimizer of which only operators are seen. In a compiled graph all phases are
 * inferred, from the names of operators or their places in the network.
 */
#include <string.h>
#include "common/util.h"
#include "model/marks.h"

struct gaps {
	struct interval *items;
	size_t cnt, cap, pos;
};

static int add_gap(struct gaps *g, uint64_t begin, uint64_t end, enum span_kind kind,
		   bool continued)
{
	struct interval gap = {begin, end, kind, continued};

	return begin < end ? ARRAY_PUSH(g->items, g->cnt, g->cap, gap) : 0;
}

/* A graph's operators may come in any order. Of several runs of one kind with only other operators
 * between, the later ones continue the first. */
static bool is_continued(const struct marks *k, size_t i)
{
	const enum span_category cat = k->items[i].cat;

	while (i-- > 0 && mark__is_operator(k->items[i].cat))
		if (k->items[i].cat == cat)
			return true;
	return false;
}

static enum span_kind run_kind(enum span_category cat)
{
	return cat == CAT_OPTIMIZER_OP ? KIND_OPTIMIZATION
	       : cat == FORWARD_OP     ? KIND_FORWARD
				       : KIND_BACKWARD;
}

/* A graph's first forward operator begins the phase at the graph's begin. */
static uint64_t graph_begin(const struct marks *k, size_t i)
{
	uint64_t free_ns = i ? k->items[i - 1].end : 0, begin = k->items[i].begin;

	if (k->graph_ns > begin || k->graph_ns < free_ns)
		return begin;
	return k->graph_ns;
}

/* Without steps and other phases, nothing shows which updates belong together. A server of
 * parameters waits between them. */
static bool are_apart(const struct marks *k, const struct step *step)
{
	for (size_t i = 0; i < k->cnt; i++)
		if (k->items[i].cat != CAT_OPTIMIZER_OP)
			return false;
	return !step;
}

/* If mark i is the first of a run of operators of one kind, adds the run. It lasts from the begin
 * of the first operator to the end of the last, whatever is called between. */
static int add_run(const struct marks *k, size_t i, struct gaps *g)
{
	const enum span_category cat = k->items[i].cat;
	struct interval run = {
		.begin = k->items[i].begin,
		.kind = run_kind(cat),
		.continued = is_continued(k, i),
	};

	if (i && k->items[i - 1].cat == cat)
		return 0;
	if (cat == FORWARD_OP && !run.continued)
		run.begin = graph_begin(k, i);
	for (; i < k->cnt && k->items[i].cat == cat; i++)
		if (k->items[i].end > run.end)
			run.end = k->items[i].end;
	if (i < k->cnt && run.end > k->items[i].begin)
		run.end = k->items[i].begin; /* belongs to another thread */
	return ARRAY_PUSH(g->items, g->cnt, g->cap, run);
}

/* zero_grad, which is mark i - 1, may follow the forward pass. The operators show whether the gap
 * before or after it is the forward pass. Without probes on operators, the gaps' lengths decide. */
static bool follows_forward(const struct marks *k, size_t i, uint64_t early_ns, uint64_t late_ns)
{
	const uint32_t early = k->items[i - 1].operators;
	const uint32_t late = i < k->cnt ? k->items[i].operators : k->operators;

	return early || late ? early > late : early_ns > late_ns;
}

#define NOT_KNOWN UINT64_MAX

/* Adds the gap after the first `i` marks, up to a backward at end. first_ns: the begin of a forward
 * without a mark before it, or NOT_KNOWN. */
static int gap_before(const struct marks *k, size_t i, uint64_t first_ns, uint64_t end,
		      struct gaps *g)
{
	uint64_t begin = i ? k->items[i - 1].end : first_ns;
	bool two = false;
	int err = 0;

	if (i && k->items[i - 1].cat == CAT_ZERO_GRAD && !k->items[i - 1].behind_update) {
		uint64_t early = i > 1 ? k->items[i - 2].end : first_ns;
		uint64_t until = k->items[i - 1].begin;

		two = early < until &&
		      follows_forward(k, i, until - early, end > begin ? end - begin : 0);
		if (two)
			err = add_gap(g, early, until, KIND_FORWARD, false);
	}
	return err ? err : add_gap(g, begin, end, KIND_FORWARD, two);
}

/* Without a backward pass, all that follows a batch is forward. A compiled graph's work is unknown
 * if its operators are. */
static bool is_inference(const struct marks *k)
{
	return !k->has_backward && (!k->graph_ns || (k->has_operators && !k->has_updates));
}

/* A user's step may open at the backward itself, so that its own forward lies at the end of the
 * step before. Two signs show this: the backward begins early and, if operators are known, more
 * operators follow it than precede it. The first sign alone is not enough: a forward is also early
 * in a step with a long evaluation or wait. */
static bool opens_at_backward(const struct model *m, const struct marks *k, const struct step *step)
{
	const struct mark *first = k->items;

	if (!step || !k->cnt || first->cat != CAT_BACKWARD)
		return false;
	if (first->begin <= step->ts_ns)
		return true;
	return !m->steps_found && first->begin - step->ts_ns < step->dur_ns / 20 &&
	       (!first->operators || first->operators < k->operators);
}

/* A step may open inside the forward pass (at an operator, for example) and end after the next
 * batch. */
static bool opens_in_forward(const struct marks *k, const struct step *step)
{
	return step && is_inference(k) && !k->has_forward && k->cnt &&
	       k->items[0].cat == CAT_DATALOADER && k->items[0].begin > step->ts_ns &&
	       k->items[0].begin - step->ts_ns >= step->dur_ns / 20;
}

/* With these operators PyTorch's loader draws the seed of its next epoch. No network consists of
 * them. */
static bool draws_seed(const struct model *m, const struct span *s)
{
	static const char *const names[] = {"empty", "random_", "item", "_local_scalar_dense",
					    "randperm"};
	const char *name = span__name(m->r, s), *base = strrchr(name, ':');

	base = base ? base + 1 : name;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(base, names[i]))
			return true;
	return false;
}

/* Were operators, or graphs of them, called from begin to end? Those for a seed do not count. */
static bool calls_operators(const struct model *m, const struct span *s, uint64_t begin,
			    uint64_t end, bool but_seeds)
{
	for (; s && s->ev.ts_ns < end; s = s->next_sibling) {
		const enum span_category cat = scopes__category(m, s);

		if (s->ev.ts_ns >= begin && (cat == CAT_OPERATOR || cat == FORWARD_OP ||
					     cat == CAT_SCRIPT || cat == CAT_EVALUATION)) {
			if (cat == CAT_OPERATOR && but_seeds && draws_seed(m, s))
				continue;
			return true;
		}
		if (span__end(s) > begin &&
		    calls_operators(m, s->first_child, begin, end, but_seeds))
			return true;
	}
	return false;
}

/* Of two requests for a batch, only the second is followed by operators (other than those for a
 * seed). So the first ended an epoch and got no batch. What follows it is no forward pass. */
static bool ends_epoch(const struct model *m, const struct span *roots, const struct marks *k,
		       size_t i, const struct step *step)
{
	const struct mark *mark = &k->items[i], *next = mark + 1;

	return step && i + 1 < k->cnt && next->cat == CAT_DATALOADER &&
	       calls_operators(m, roots, next->end, step->ts_ns + step->dur_ns, false) &&
	       !calls_operators(m, roots, mark->end, next->begin, true);
}

static uint64_t first_backward(const struct model *m, const struct span *s, uint64_t until_ns)
{
	for (; s && s->ev.ts_ns < until_ns; s = s->next_sibling) {
		if (scopes__category(m, s) == CAT_BACKWARD)
			return s->ev.ts_ns;
		until_ns = first_backward(m, s->first_child, until_ns);
	}
	return until_ns;
}

/* The forward at the end of a step lasts until the next step, or until a backward that continues
 * into the next step. Such a backward is not among the roots yet. */
static uint64_t forward_end(const struct model *m, const struct track_state *t,
			    const struct step *step)
{
	uint64_t end = step->ts_ns + step->dur_ns;

	for (size_t i = 0; i < t->cnt; i++)
		end = first_backward(m, t->pending[i], end);
	return end;
}

static int find_gaps(const struct model *m, const struct track_state *t, const struct marks *k,
		     const struct step *step, struct gaps *g)
{
	bool at_backward = opens_at_backward(m, k, step), in_forward = opens_in_forward(k, step);
	const bool apart = are_apart(k, step);
	int err = in_forward ? add_gap(g, step->ts_ns, k->items[0].begin, KIND_FORWARD, false) : 0;

	for (size_t i = at_backward; i < k->cnt && !err; i++) {
		const struct mark *mark = &k->items[i];

		if (mark__is_operator(mark->cat)) {
			/* A graph's forward pass lies before its first gradient. */
			if (mark->cat == CAT_BACKWARD_NODE && !k->has_forward && !k->by_scope &&
			    !g->cnt)
				err = add_gap(g, k->graph_ns, mark->begin, KIND_FORWARD, false);
			if (!err)
				err = apart ? add_gap(g, mark->begin, mark->end, KIND_OPTIMIZATION,
						      false)
					    : add_run(k, i, g);
		} else if (mark->cat == CLOSURE_UPDATE) {
			err = add_gap(g, mark->begin, mark->end, KIND_OPTIMIZATION,
				      mark->continued);
		} else if (mark->behind_update) {
			err = add_gap(g, mark[-1].end, mark->begin, KIND_OPTIMIZATION,
				      mark->continued);
		} else if (k->has_forward) {
			continue;
		} else if (mark->cat == CAT_BACKWARD && (i || step)) {
			err = gap_before(k, i, step ? step->ts_ns : NOT_KNOWN, mark->begin, g);
		} else if (is_inference(k) && mark->cat == CAT_DATALOADER) {
			bool last = i + 1 == k->cnt;
			uint64_t end = last ? (step ? step->ts_ns + step->dur_ns : 0)
					    : k->items[i + 1].begin;

			if (!ends_epoch(m, t->roots, k, i, step))
				err = add_gap(g, mark->end, end, KIND_FORWARD, in_forward);
		}
	}
	if (!err && at_backward && !k->has_forward)
		err = gap_before(k, k->cnt, NOT_KNOWN, forward_end(m, t, step), g);
	return err;
}

/* Puts the gaps on the tree. A level is a list of siblings that is rebuilt. */
struct level {
	struct span **link;
	struct node *parent; /* NULL: the roots */
	struct span *piece;  /* the open forward span of this level */
	struct span **piece_link;
	uint64_t pos; /* end of the latest span on this level */
};

struct cover {
	struct model *m;
	struct track_state *t;
	struct gaps *gaps;
	bool started; /* the current gap already has a span */
};

static int open_piece(struct cover *c, struct level *l)
{
	const struct interval *gap = &c->gaps->items[c->gaps->pos];
	struct node *n = pool__new(&c->m->pool);

	if (!n)
		return -ENOMEM;
	n->synthetic = gap->kind == KIND_FORWARD    ? CAT_FORWARD
		       : gap->kind == KIND_BACKWARD ? CAT_BACKWARD
						    : CAT_OPTIMIZER;
	n->span.ev = (struct event){
		.ts_ns = gap->begin > l->pos ? gap->begin : l->pos,
		.id = EVENT_NO_ID,
		.track = c->t->track->id,
		.type = EVENT_SPAN,
		.end = END_INFERRED,
		.flags = c->started || gap->continued ? EVENT_CUT_BEGIN : 0,
	};
	c->started = true;
	*l->link = l->piece = &n->span;
	l->link = &n->span.next_sibling;
	l->piece_link = &n->span.first_child;
	c->t->root_cnt += !l->parent;
	return 0;
}

static void close_piece(struct level *l, uint64_t end_ns)
{
	if (!l->piece)
		return;
	l->piece->ev.dur_ns = end_ns - l->piece->ev.ts_ns;
	l->piece = NULL;
	l->pos = end_ns;
}

/* Ends the gaps on this level that lie before until_ns, and the earlier part of one that
 * continues. */
static int cover_until(struct cover *c, struct level *l, uint64_t until_ns, bool cut)
{
	struct gaps *g = c->gaps;

	for (; g->pos < g->cnt; g->pos++, c->started = false) {
		const struct interval *gap = &g->items[g->pos];
		uint64_t begin = gap->begin > l->pos ? gap->begin : l->pos;
		uint64_t end = gap->end < until_ns ? gap->end : until_ns;
		int err;

		if (gap->end > until_ns && !cut)
			return 0;
		if (!l->piece && begin < end) {
			err = open_piece(c, l);
			if (err)
				return err;
		}
		close_piece(l, end);
		if (gap->end > until_ns)
			return 0;
	}
	return 0;
}

static int cover_level(struct cover *c, struct span **list, struct node *parent, uint64_t end_ns,
		       int depth);

static int cover_child(struct cover *c, struct level *l, struct span *s, int depth)
{
	struct gaps *g = c->gaps;
	const struct interval *gap;
	int err = cover_until(c, l, s->ev.ts_ns, false);

	if (err)
		return err;
	gap = g->pos < g->cnt ? &g->items[g->pos] : NULL;
	if (gap && gap->begin <= s->ev.ts_ns && span__end(s) <= gap->end) {
		err = l->piece ? 0 : open_piece(c, l);
		if (err)
			return err;
		*l->piece_link = s;
		l->piece_link = &s->next_sibling;
		c->t->root_cnt -= !l->parent;
		return 0;
	}
	if (gap && gap->begin < span__end(s))
		err = cover_until(c, l, s->ev.ts_ns, true);
	*l->link = s;
	l->link = &s->next_sibling;
	if (!err && gap && gap->begin < span__end(s) && depth < MODEL_MAX_DEPTH)
		err = cover_level(c, &s->first_child, to_node(s), span__end(s), depth + 1);
	l->pos = span__end(s);
	return err;
}

static int cover_level(struct cover *c, struct span **list, struct node *parent, uint64_t end_ns,
		       int depth)
{
	struct level l = {.link = list, .parent = parent};
	struct span *s = *list;
	int err = 0;

	l.pos = parent ? parent->span.ev.ts_ns : 0;
	while (s && !err) {
		struct span *next = s->next_sibling;

		s->next_sibling = NULL;
		err = cover_child(c, &l, s, depth);
		s = next;
	}
	*l.link = NULL;
	return err ? err : cover_until(c, &l, end_ns, true);
}

int phase__infer(struct model *m, struct track_state *t, const struct step *step)
{
	struct marks k = {};
	struct gaps g = {};
	struct cover c = {.m = m, .t = t, .gaps = &g};
	int err = m->timer_only ? 0 : marks__collect(m, t, step, &k);

	if (!err)
		err = find_gaps(m, t, &k, step, &g);
	if (!err && g.cnt)
		err = cover_level(&c, &t->roots, NULL, UINT64_MAX, 0);
	if (step)
		m->phases_elsewhere = k.elsewhere;
	marks__free(&k);
	free(g.items);
	return err;
}

/* The part of an interval that lies in the step. */
static uint64_t overlap_ns(const struct interval *i, const struct step *step)
{
	const uint64_t step_end = step->ts_ns + step->dur_ns;
	const uint64_t begin = i->begin > step->ts_ns ? i->begin : step->ts_ns;
	const uint64_t end = i->end < step_end ? i->end : step_end;

	return begin < end ? end - begin : 0;
}

static int collect_phases(struct model *m, struct span *s, struct step *step)
{
	int err = 0;

	for (; s && !err; s = s->next_sibling) {
		struct interval i = {s->ev.ts_ns, span__end(s), s->kind, false};
		uint64_t inside;

		if (!span_kind__is_phase(s->kind)) {
			err = collect_phases(m, s->first_child, step);
			continue;
		}
		err = ARRAY_PUSH(m->phases, m->phase_cnt, m->phase_cap, i);
		inside = overlap_ns(&i, step);
		step->phase_ns[s->kind] += s->cpu_ns < inside ? s->cpu_ns : inside;
	}
	return err;
}

static uint64_t probed_inside(const struct model *m, const struct span *s)
{
	uint64_t cnt = 0;

	for (const struct span *c = s->first_child; c; c = c->next_sibling)
		cnt += model__is_probed(m, c) + probed_inside(m, c);
	return cnt;
}

/* For a span that ends in a later step: its phases in this step. It is given out later as a whole.
 * Kinds and costs are not known yet. */
static int collect_straddling(struct model *m, const struct span *s, struct step *step)
{
	int err = 0;

	for (; s && !err && s->ev.ts_ns < step->ts_ns + step->dur_ns; s = s->next_sibling) {
		const enum span_kind kind = kind__of_category(model__category(m, s));
		const struct interval i = {s->ev.ts_ns, span__end(s), kind, false};
		const uint64_t inside = overlap_ns(&i, step);
		uint64_t cost;

		if (!span_kind__is_phase(kind) || !inside) {
			err = collect_straddling(m, s->first_child, step);
			continue;
		}
		err = ARRAY_PUSH(m->phases, m->phase_cnt, m->phase_cap, i);
		cost = probed_inside(m, s) * m->total_ns + m->inside_ns;
		step->phase_ns[kind] += inside > cost ? inside - cost : 0;
	}
	return err;
}

int phase__account(struct model *m, struct track_state *t, struct step *step)
{
	uint64_t spans = 0, sum = 0, cost, children = 0;
	int err;

	for (const struct span *s = t->roots; s; s = s->next_sibling) {
		if (span__end(s) <= step->ts_ns)
			continue;
		spans += s->descendants + model__is_probed(m, s);
		children += s->ev.ts_ns >= step->ts_ns ? s->cpu_ns : 0;
	}
	m->phase_cnt = 0;
	err = collect_phases(m, t->roots, step);
	for (size_t i = 0; i < t->cnt && !err; i++)
		if (t->pending[i]->ev.ts_ns < step->ts_ns + step->dur_ns)
			err = collect_straddling(m, t->pending[i], step);
	for (int kind = 0; kind < KIND_CNT; kind++)
		sum += step->phase_ns[kind];
	cost = spans * m->total_ns;
	step->cpu_ns = step->dur_ns > cost ? step->dur_ns - cost : 0;
	/* At least the sum of its parts: a span shorter than its cost counts as zero. */
	if (children < sum)
		children = sum;
	if (step->cpu_ns < children)
		step->cpu_ns = children < step->dur_ns ? children : step->dur_ns;
	m->stats.subtracted_ns += step->dur_ns - step->cpu_ns;
	step->phase_ns[KIND_OTHER] = step->cpu_ns > sum ? step->cpu_ns - sum : 0;
	return err;
}

enum span_kind phase__at(struct model *m, uint64_t ts_ns)
{
	while (m->phase_pos < m->phase_cnt && m->phases[m->phase_pos].end <= ts_ns)
		m->phase_pos++;
	if (m->phase_pos < m->phase_cnt && m->phases[m->phase_pos].begin <= ts_ns)
		return m->phases[m->phase_pos].kind;
	return KIND_OTHER;
}
