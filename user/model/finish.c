// SPDX-License-Identifier: BSD-2-Clause
/* What is determined when a tree is complete: kinds, phases, costs, memory, launches. One walk per
 * tree. */
#include <string.h>
#include "model/model_internal.h"
#include "common/util.h"
#include <string.h>

struct walk {
	struct model *m;
	struct track_state *t;
	bool phase_by_time; /* the track is another thread of the step's process */
	int err;
};

/* What a span is inside of. A framework's operator inside a function that the user chose stays an
 * operator. */
struct inside {
	bool an_operator, a_function, a_numbered_node;
};

/* A backward node without a number is recognised by its operator's name. Inside a numbered node
 * that runs a backward pass of its own (a reentrant checkpoint), AccumulateGrad is a node like any
 * other. */
static bool is_part(enum span_category cat, const struct span *s, const struct inside *in)
{
	if (cat == CAT_FUNCTION)
		return in->an_operator || in->a_function;
	if (cat == CAT_BACKWARD_NODE && (s->ev.id != EVENT_NO_ID || in->a_numbered_node))
		return false;
	return in->an_operator &&
	       (cat == CAT_OPERATOR || cat == CAT_OPTIMIZER_OP || cat == CAT_BACKWARD_NODE);
}

/* The parts of Paddle's operators are no operators, whatever runs them. */
static bool is_paddle_part(const struct model *m, enum span_category cat, const struct span *s)
{
	static const char *const ends[] = {" kernel launch", " compute", " infer_meta",
					   " node_creation"};
	static const char *const names[] = {"PhiKernelInstruction::infermeta", "infer_shape",
					    "compute"};
	const struct name *name = cat == CAT_OPERATOR && m->is_paddle && s->ev.name
					  ? recording__name(m->r, s->ev.name)
					  : NULL;
	const size_t len = name && name->text ? strlen(name->text) : 0;

	for (size_t i = 0; len && i < ARRAY_SIZE(ends); i++)
		if (len > strlen(ends[i]) && !strcmp(name->text + len - strlen(ends[i]), ends[i]))
			return true;
	for (size_t i = 0; len && i < ARRAY_SIZE(names); i++)
		if (!strcmp(name->text, names[i]))
			return true;
	return false;
}

static enum span_category category(const struct walk *w, const struct span *s)
{
	const struct node *n = to_node((struct span *)s);

	if (n->ran_closure)
		return CAT_USER;
	return n->synthetic ? n->synthetic : model__category(w->m, s);
}

/* A call that enters both the runtime and the driver has one id in both. The outer call counts as
 * the launch. */
static bool is_launch(const struct span *s)
{
	if (s->kind != KIND_RUNTIME || s->ev.id == EVENT_NO_ID)
		return false;
	for (const struct span *p = s->parent; p && p->kind == KIND_RUNTIME; p = p->parent)
		if (p->ev.id == s->ev.id)
			return false;
	return true;
}

#define CLOCKS_DIFFER_NS 10000 /* clocks are known no better than this */

/* Work cannot begin before its launch. If it seems to, the device's clock was converted wrongly. */
static void check_order(struct model_stats *stats, const struct span *launch,
			const struct span *device)
{
	const uint64_t begin = launch->ev.ts_ns, ts = device->ev.ts_ns;

	if (device->kind != KIND_KERNEL && device->kind != KIND_MEMCPY &&
	    device->kind != KIND_MEMSET)
		return;
	if (!stats->linked++ || (int64_t)(ts - begin) < stats->least_delay_ns)
		stats->least_delay_ns = (int64_t)(ts - begin);
	if (launch->ev.flags & EVENT_CUT_BEGIN || ts + CLOCKS_DIFFER_NS >= begin)
		return;
	stats->before_launch++;
	if (begin - ts > stats->before_launch_ns)
		stats->before_launch_ns = begin - ts;
}

static void note_work(struct walk *w, const struct span *d)
{
	struct track_state *t = w->t;

	if (span_kind__is_device_work(d->kind) && span__end(d) > t->work_end_ns)
		t->work_end_ns = span__end(d);
}

static bool waits_for_device(const struct model *m, const struct span *s)
{
	const char *name = span__name(m->r, s);

	return !strcmp(name, "cudaDeviceSynchronize") || !strcmp(name, "cuCtxSynchronize");
}

/* When the wait returns, all that its thread launched on some device has ended. The call does not
 * show which device. */
static void check_wait(struct walk *w, const struct span *s)
{
	struct model_stats *stats = &w->m->stats;
	const uint64_t end = span__end(s), work_end = w->t->work_end_ns;

	if (!work_end || w->m->several_devices || s->ev.flags & (EVENT_FAILED | EVENT_CUT_END) ||
	    !waits_for_device(w->m, s))
		return;
	stats->waits++;
	if (work_end <= end + CLOCKS_DIFFER_NS)
		return;
	stats->after_wait++;
	if (work_end - end > stats->after_wait_ns)
		stats->after_wait_ns = work_end - end;
}

static void take_device(struct walk *w, struct span *s)
{
	if (!w->err)
		w->err = device__take(w->m, w->t->track->pid, s);
	for (struct span *d = s->first_device; d; d = d->next_device) {
		d->phase = s->phase;
		check_order(&w->m->stats, s, d);
		note_work(w, d);
		s->device_ns += d->device_ns;
		s->kernel_ns += d->kernel_ns;
	}
}

/* The duration less the cost of the probes inside, but at least the children's time. */
static void charge(const struct model *m, struct span *s, uint64_t children_ns)
{
	uint64_t cost = s->descendants * m->total_ns;

	if (model__is_probed(m, s))
		cost += m->inside_ns;
	s->cpu_ns = s->ev.dur_ns > cost ? s->ev.dur_ns - cost : 0;
	if (s->cpu_ns < children_ns)
		s->cpu_ns = children_ns;
	s->self_ns = s->cpu_ns - children_ns;
}

static void finish(struct walk *w, struct span *s, struct span *parent, struct inside in,
		   enum span_kind phase)
{
	enum span_category cat = category(w, s);
	uint64_t children_ns = 0;

	s->parent = parent;
	s->kind = is_part(cat, s, &in) || is_paddle_part(w->m, cat, s) ? KIND_OPERATOR_INNER
								       : kind__of_category(cat);
	s->inferred = s->ev.end == END_INFERRED;
	if (w->phase_by_time && w->m->phases_elsewhere)
		phase = phase__at(w->m, s->ev.ts_ns);
	if (phase == KIND_OTHER && span_kind__is_phase(s->kind))
		phase = s->kind;
	if (s->kind == KIND_EXECUTION) {
		phase = executions__phase(&w->m->executions, s);
		s->operator_name = executions__name(&w->m->executions, s);
	}
	s->phase = phase;
	if (s->kind != KIND_EXECUTION)
		executions__note(&w->m->executions, s);
	if (w->m->has_device && is_launch(s))
		take_device(w, s);
	if (w->m->has_device && s->kind == KIND_RUNTIME)
		check_wait(w, s);
	in.an_operator |=
		cat == CAT_OPERATOR || cat == CAT_BACKWARD_NODE || cat == CAT_OPTIMIZER_OP;
	in.a_function |= cat == CAT_FUNCTION;
	in.a_numbered_node |= cat == CAT_BACKWARD_NODE && s->ev.id != EVENT_NO_ID;
	for (struct span *c = s->first_child; c; c = c->next_sibling) {
		memory__attribute(w->t, s, c->ev.ts_ns);
		finish(w, c, s, in, phase);
		s->descendants += c->descendants + model__is_probed(w->m, c);
		s->kernel_ns += c->kernel_ns;
		s->device_ns += c->device_ns;
		s->alloc_bytes += c->alloc_bytes;
		children_ns += c->cpu_ns;
	}
	memory__attribute(w->t, s, span__end(s) + 1);
	s->alloc_bytes += s->self_alloc_bytes;
	charge(w->m, s, children_ns);
}

int finish__track(struct model *m, struct track_state *t, const struct step *step)
{
	struct walk w = {.m = m, .t = t};

	/* An earlier phase may have asked for what an engine's threads run. */
	if (step && step->track != t->track->id && !m->executions.cnt)
		w.phase_by_time = m->tracks[step->track].track->pid == t->track->pid;
	memory__sort(t);
	m->phase_pos = 0;
	for (struct span *s = t->roots; s; s = s->next_sibling) {
		enum span_kind phase = KIND_OTHER;

		if (w.phase_by_time)
			phase = phase__at(m, s->ev.ts_ns);
		memory__attribute(t, NULL, s->ev.ts_ns);
		finish(&w, s, NULL, (struct inside){}, phase);
	}
	return w.err;
}
