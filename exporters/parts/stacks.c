// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/parts/stacks.h"
#include <string.h>
#include "common/util.h"
#include "exporters/parts/backward_waits.h"
#include "model/call_stack.h"

/* distinct stacks; later ones are added to their caller */
#define NODES_MAX (1u << 21)
#define DEPTH_MAX (2 * MODEL_MAX_DEPTH + 8) /* inferred phases add to the model's limit */

struct walk {
	struct stacks *s;
	struct backward_waits waits;
	uint32_t pid;  /* of the track */
	uint32_t base; /* node of the track or step */
	uint32_t frames[DEPTH_MAX];
	int depth;
	uint32_t python; /* innermost Python frame among them, 0: none */
	int err;
};

/* ---- the tree of stacks ---- */

static size_t slot_of(const struct stacks *s, uint32_t parent, uint32_t frame)
{
	const uint64_t key = (uint64_t)parent << 32 | frame;

	return (key * 0x9e3779b97f4a7c15ull >> 32) & (s->slot_cnt - 1);
}

static uint32_t *slot_find(const struct stacks *s, uint32_t parent, uint32_t frame)
{
	size_t i = slot_of(s, parent, frame);

	while (s->slots[i] &&
	       (s->nodes[s->slots[i]].parent != parent || s->nodes[s->slots[i]].frame != frame))
		i = (i + 1) & (s->slot_cnt - 1);
	return &s->slots[i];
}

static int grow_slots(struct stacks *s)
{
	uint32_t *slots;

	s->slot_cnt = s->slot_cnt ? s->slot_cnt * 2 : 4096;
	slots = calloc(s->slot_cnt, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(s->slots);
	s->slots = slots;
	for (uint32_t i = 1; i < s->cnt; i++)
		*slot_find(s, s->nodes[i].parent, s->nodes[i].frame) = i;
	return 0;
}

static uint32_t child(struct walk *w, uint32_t parent, uint32_t frame)
{
	struct stacks *s = w->s;
	uint32_t *slot = slot_find(s, parent, frame);

	if (*slot || w->err)
		return *slot;
	if (s->cnt == NODES_MAX) {
		s->cut++;
		return parent;
	}
	w->err = ARRAY_PUSH(s->nodes, s->cnt, s->cap,
			    ((struct stack_node){.parent = parent, .frame = frame}));
	if (w->err)
		return parent;
	*slot = (uint32_t)s->cnt - 1;
	parent = *slot;
	if (s->cnt * 2 > s->slot_cnt)
		w->err = grow_slots(s);
	return parent;
}

/* ---- frames ---- */

static uint32_t label(const struct stacks *s, uint32_t which)
{
	return s->name_cnt + 1 + which;
}

/* The rest of a step is known to be in no phase only if the phases are known. */
static uint32_t phase_label(const struct stacks *s, enum span_kind phase)
{
	if (phase == KIND_OTHER && recording__is_timer_only(s->r))
		return label(s, LABEL_NO_PHASE);
	return label(s, (uint32_t)phase);
}

static uint32_t frame_of(const struct stacks *s, const struct span *span)
{
	if (span->ev.name && span->ev.name <= s->name_cnt)
		return span->ev.name;
	return label(s, span->ev.name ? (uint32_t)LABEL_NO_NAME : (uint32_t)span->kind);
}

static uint32_t first_line(const struct stacks *s)
{
	return s->name_cnt + 1 + LABEL_TRACKS + recording__track_cnt(s->r);
}

const char *stacks__text(const struct stacks *s, uint32_t frame)
{
	const uint32_t line = frame > first_line(s) ? frame - first_line(s) : 0;
	const struct name *n = recording__name(s->r, frame);
	const uint32_t which = frame - s->name_cnt - 1;

	if (line)
		return line <= recording__frame_cnt(s->r) && s->texts[line] ? s->texts[line]
									    : "(name lost)";
	if (frame && frame <= s->name_cnt)
		return n && n->text ? n->text : "(name lost)";
	if (which == LABEL_NO_STEP)
		return "(outside steps)";
	if (which == LABEL_NO_PHASE)
		return PHASE_UNRECORDED;
	if (which == LABEL_NO_LAUNCH)
		return "(launch not recorded)";
	return which < KIND_CNT ? span_kind__label((enum span_kind)which) : "(name lost)";
}

uint32_t stacks__track(const struct stacks *s, uint32_t frame)
{
	return frame > s->name_cnt + LABEL_TRACKS && frame <= first_line(s)
		       ? frame - s->name_cnt - 1 - LABEL_TRACKS
		       : 0;
}

/* ---- spans ---- */

static void note_time(struct stacks *s, const struct span *span)
{
	const uint64_t end_ns = span->ev.ts_ns + span->ev.dur_ns;

	s->spans++;
	if (span->ev.ts_ns < s->first_ns)
		s->first_ns = span->ev.ts_ns;
	if (end_ns > s->last_ns)
		s->last_ns = end_ns;
}

static void add_device(struct walk *w, uint32_t node, const struct span *d)
{
	struct stack_node *n;

	if (d->kind != KIND_KERNEL && d->kind != KIND_MEMCPY && d->kind != KIND_MEMSET)
		return;
	note_time(w->s, d);
	node = child(w, node, frame_of(w->s, d));
	n = &w->s->nodes[node];
	n->device_ns += d->device_ns;
	n->calls++;
}

/* The node with the same frames under another phase than its caller's. */
static uint32_t node_in_phase(struct walk *w, enum span_kind phase)
{
	uint32_t node = child(w, w->base, phase_label(w->s, phase));

	for (int i = 0; i < w->depth && i < DEPTH_MAX; i++)
		node = child(w, node, w->frames[i]);
	return node;
}

static uint32_t add_frame(struct walk *w, uint32_t node, uint32_t frame)
{
	if (w->depth == DEPTH_MAX)
		return node;
	w->frames[w->depth++] = frame;
	return child(w, node, frame);
}

/* Adds the Python lines that called the span. */
static uint32_t add_lines(struct walk *w, uint32_t node, const struct span *span)
{
	uint32_t frames[CALL_STACK_MAX];
	const size_t cnt = event__frames(w->s->r, &span->ev, w->python, frames);

	for (size_t i = 0; i < cnt; i++)
		node = add_frame(w, node, first_line(w->s) + w->s->lines[frames[i]]);
	if (cnt)
		w->python = span->ev.stack;
	return node;
}

static void add_span(struct walk *w, const struct span *span, uint32_t node, enum span_kind phase)
{
	const bool has_frame = span->ev.name || !span_kind__is_phase(span->kind);
	const uint32_t python = w->python;
	const int depth = w->depth;
	const uint64_t waited_ns = backward_waits__of(&w->waits, w->pid, span);
	struct stack_node *n;

	note_time(w->s, span);
	if (span->phase != phase)
		node = node_in_phase(w, span->phase);
	if (span->ev.stack && w->s->python)
		node = add_lines(w, node, span);
	if (has_frame)
		node = add_frame(w, node, frame_of(w->s, span));
	n = &w->s->nodes[node];
	n->self_ns += span->self_ns > waited_ns ? span->self_ns - waited_ns : 0;
	n->calls++;
	for (const struct span *d = span->first_device; d && !w->err; d = d->next_device)
		add_device(w, node, d);
	for (const struct span *c = span->first_child; c && !w->err; c = c->next_sibling)
		add_span(w, c, node, span->phase);
	w->depth = depth;
	w->python = python;
}

/* Adds what the step's thread did between spans: Python of the framework or the user. */
static void add_step(struct walk *w, const struct step *step, const struct span *roots)
{
	uint64_t ns = step->cpu_ns;
	uint32_t node;

	for (const struct span *s = roots; s; s = s->next_sibling)
		if (s->ev.ts_ns >= step->ts_ns)
			ns -= s->cpu_ns < ns ? s->cpu_ns : ns;
	node = child(w, w->base, phase_label(w->s, KIND_OTHER));
	w->s->nodes[node].self_ns += ns;
	w->s->nodes[node].calls++;
}

static void take_track(struct walk *w, const struct batch *b, const struct track_batch *t)
{
	const bool device = t->track->kind == TRACK_DEVICE;

	w->depth = 0;
	w->python = 0;
	w->base = 0;
	w->pid = t->track->pid;
	if (w->s->by_track)
		w->base = child(w, 0, label(w->s, LABEL_TRACKS + t->track->id));
	if (w->s->by_step)
		w->base = child(w, w->base,
				label(w->s, b->step ? (uint32_t)KIND_STEP : LABEL_NO_STEP));
	for (const struct span *s = t->roots; s && !w->err; s = s->next_sibling) {
		if (!device)
			add_span(w, s, 0, KIND_CNT);
		else if (!s->launch)
			add_device(w, child(w, w->base, label(w->s, LABEL_NO_LAUNCH)), s);
	}
	if (b->step && !device && b->step->track == t->track->id)
		add_step(w, b->step, t->roots);
}

static int visit(const struct batch *b, void *ctx)
{
	struct walk *w = ctx;

	w->err = backward_waits__take(&w->waits, w->s->r, b);
	for (size_t i = 0; i < b->track_cnt && !w->err; i++)
		take_track(w, b, &b->tracks[i]);
	return w->err;
}

struct line_key {
	uint32_t code, line, frame;
};

static int by_line(const void *a, const void *b)
{
	const struct line_key *x = a, *y = b;

	if (x->code != y->code)
		return x->code < y->code ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* Makes one text for each line, for all its callers. */
static int name_lines(struct stacks *s, const struct line_key *keys, size_t cnt)
{
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		const struct line_key *k = &keys[i];
		const bool same = i && k[-1].code == k->code && k[-1].line == k->line;

		s->lines[k->frame] = same ? s->lines[k[-1].frame] : k->frame;
		if (!same)
			err = call_stacks__frame(s->python, k->frame, &s->texts[k->frame]);
	}
	return err;
}

static int read_lines(struct stacks *s)
{
	const size_t max = recording__frame_cnt(s->r);
	auto_free struct line_key *keys = calloc(max + 1, sizeof(*keys));
	size_t cnt = 0;
	int err = call_stacks__open(s->r, &s->python);

	s->lines = calloc(max + 1, sizeof(*s->lines));
	s->texts = calloc(max + 1, sizeof(*s->texts));
	if (err || !keys || !s->lines || !s->texts)
		return -ENOMEM;
	for (uint32_t id = 1; id <= max; id++) {
		const struct code_frame *f = recording__frame(s->r, id);

		if (f)
			keys[cnt++] = (struct line_key){f->code, f->line, id};
	}
	if (cnt)
		qsort(keys, cnt, sizeof(*keys), by_line);
	return name_lines(s, keys, cnt);
}

int stacks__collect(const struct recording *r, bool by_track, bool by_step, struct stacks *out)
{
	struct walk *w = calloc(1, sizeof(*w));
	struct model_opts opts = {.stats = &out->stats};
	int err;

	*out = (struct stacks){.r = r,
			       .by_track = by_track,
			       .by_step = by_step,
			       .name_cnt = recording__name_cnt(r),
			       .first_ns = UINT64_MAX};
	if (!w)
		return -ENOMEM;
	w->s = out;
	out->frame_max = first_line(out) + recording__frame_cnt(r);
	err = read_lines(out);
	if (!err)
		err = ARRAY_PUSH(out->nodes, out->cnt, out->cap, ((struct stack_node){0}));
	if (!err)
		err = grow_slots(out);
	if (!err)
		err = model__run(r, &opts, visit, w);
	backward_waits__free(&w->waits);
	free(w);
	if (err)
		stacks__free(out);
	return err;
}

void stacks__free(struct stacks *s)
{
	for (uint32_t id = 0; s->texts && id <= recording__frame_cnt(s->r); id++)
		free(s->texts[id]);
	free(s->texts);
	free(s->lines);
	call_stacks__free(s->python);
	free(s->nodes);
	free(s->slots);
	*s = (struct stacks){0};
}
