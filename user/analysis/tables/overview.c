// SPDX-License-Identifier: BSD-2-Clause
/* Overview Summary: one row per type of event. Time is the union over threads. */
#include <stdlib.h>
#include "analysis/analysis.h"
#include "analysis/left_out.h"
#include "common/counted.h"

struct overview {
	struct type {
		uint64_t calls, cpu_ns, dur_ns; /* of spans without an enclosing span of the same
						   type */
		struct interval_union time;
	} types[KIND_CNT];
	/* Device work in clock time, by type. The last type is kernels of a collective library. */
	struct device_type {
		uint64_t calls;
		struct busy_time time;
	} work[KIND_CNT], collectives;
	bool has_others;   /* spans of other processes were seen and left out */
	bool in_steps;	   /* a step was seen: only what lies in steps counts */
	uint64_t outside;  /* spans that ended outside of steps and do not count */
	uint64_t recorded; /* work of devices, whenever it ran */
};

static int add_time(const struct analysis *a, struct type *t, const struct event *e,
		    uint64_t cpu_ns)
{
	struct stretch part;
	int err = 0;

	t->cpu_ns += cpu_ns;
	t->dur_ns += e->dur_ns;
	for (size_t at = 0; !err && analysis__part(a, e->ts_ns, e->ts_ns + e->dur_ns, &at, &part);)
		err = interval_union__add(&t->time, part.begin, part.end);
	return err;
}

static int add_tree(const struct analysis *a, struct overview *o, const struct span *root)
{
	int err = 0;

	for (const struct span *s = root; s && !err; s = span__next(s, root)) {
		struct type *t = &o->types[s->kind];

		t->calls++;
		if (!s->parent || s->parent->kind != s->kind)
			err = add_time(a, t, &s->ev, s->cpu_ns);
	}
	return err;
}

static int add_async(const struct analysis *a, struct overview *o, const struct event *e)
{
	struct type *t = &o->types[KIND_COMMUNICATION];

	if (!analysis__is_collective(a->r, e))
		return 0;
	t->calls++;
	return add_time(a, t, e, e->dur_ns);
}

static void add_work(struct device_type *t, const struct device_work *w)
{
	t->calls += !w->continued;
	busy_time__add(&t->time, w->begin_ns, w->end_ns);
}

static int visit_work(const struct analysis *a, void *state, const struct device_work *w)
{
	struct overview *o = state;

	add_work(&o->work[w->kind], w);
	if (w->kind == KIND_KERNEL && kernel_name__is_collective(analysis__name(a, w->name)))
		add_work(&o->collectives, w);
	return 0;
}

static uint64_t span_cnt(const struct batch *b, enum track_kind kind)
{
	uint64_t cnt = 0;

	for (size_t i = 0; i < b->track_cnt; i++)
		for (const struct span *s = b->tracks[i].roots;
		     s && b->tracks[i].track->kind == kind; s = span__next(s, NULL))
			cnt += kind == TRACK_THREAD || span_kind__is_device_work(s->kind);
	return cnt;
}

static void forget(struct overview *o)
{
	for (int kind = 0; kind < KIND_CNT; kind++) {
		interval_union__free(&o->types[kind].time);
		o->types[kind] = (struct type){};
	}
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct overview *o = state;
	int err = 0;

	if (b->step && !o->in_steps) {
		forget(o);
		o->in_steps = true;
	}
	o->recorded += span_cnt(b, TRACK_DEVICE);
	if (!b->step)
		o->outside += span_cnt(b, TRACK_THREAD);
	if (!b->step && o->in_steps)
		return 0;
	for (size_t i = 0; i < b->track_cnt && !err; i++) {
		const struct track *t = b->tracks[i].track;
		const struct span *s = b->tracks[i].roots;

		if (t->kind == TRACK_THREAD && !analysis__is_main(a, t)) {
			o->has_others |= s != NULL;
			continue;
		}
		for (; s && !err && t->kind == TRACK_THREAD; s = s->next_sibling)
			err = add_tree(a, o, s);
	}
	for (size_t i = 0; i < b->other_cnt && !err; i++)
		err = add_async(a, o, &b->others[i]);
	return err;
}

struct line {
	enum span_kind kind;
	uint64_t calls, ns;
	bool on_device;
};

static int by_time(const void *x, const void *y)
{
	const struct line *p = x, *q = y;

	if (p->ns != q->ns)
		return p->ns > q->ns ? -1 : 1;
	return (int)p->kind - (int)q->kind;
}

/* The union is of measured times, so the cost of the probes is subtracted in proportion. Other
 * threads' probes cost nothing of the steps' time, and may cost more than the steps lose. */
static struct line make_line(const struct analysis *a, struct overview *o, enum span_kind kind)
{
	struct type *t = &o->types[kind];
	struct line l = {kind, t->calls, 0, false};

	if (span_kind__is_device_work(kind))
		return (struct line){kind, o->work[kind].calls, o->work[kind].time.total_ns, true};
	if (span_kind__is_phase(kind))
		return (struct line){kind, a->phases[kind].calls, a->phases[kind].cpu.total, false};
	l.ns = interval_union__length(&t->time);
	if (t->dur_ns)
		l.ns = (uint64_t)((double)l.ns * ((double)t->cpu_ns / (double)t->dur_ns));
	if (l.ns > analysis__total_ns(a))
		l.ns = analysis__total_ns(a);
	return l;
}

static int add_line(const struct analysis *a, struct table *t, const struct line *l, int indent,
		    const char *label)
{
	const char *host = "runs on the host", *device = "runs on the device";
	struct cell time = cell__time(l->ns);
	struct cell cells[] = {
		cell__text(label),
		cell__count(l->calls),
		l->on_device ? cell__none(device) : time,
		cell__share(l->ns, l->on_device ? analysis__clock_ns(a, ANY_DEVICE)
						: analysis__total_ns(a)),
		l->on_device ? time : cell__none(host),
	};

	return table__add_row(t, indent, cells);
}

static int add_columns(const struct analysis *a, struct table *t)
{
	const struct column columns[] = {
		{"event_type", "Event Type", 25, NULL, CELL_TEXT},
		{"calls", "Calls", 10, NULL, CELL_COUNT},
		{"cpu_time", "Elapsed", 15, NULL, CELL_TIME},
		{"ratio", "Ratio (%)", 10, NULL, CELL_PERCENT},
		{"gpu_time", "GPU Time", 15, NULL, CELL_TIME},
	};

	return table__add_columns(t, columns, a->has_device ? 5 : 4);
}

static uint64_t outside(const struct overview *o)
{
	uint64_t inside = 0;

	for (int kind = 0; kind < KIND_CNT; kind++)
		inside += o->work[kind].calls;
	return o->outside + (o->recorded > inside ? o->recorded - inside : 0);
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	struct line lines[KIND_CNT + 1];
	const struct line top = {KIND_STEP, a->steps.calls, analysis__total_ns(a), false};
	struct overview *o = state;
	size_t cnt = 0, host;
	bool has_operators = false;
	int err = add_columns(a, t);

	if (err)
		return err;
	if (!top.ns)
		return table__add_note(t, "Nothing was seen in the window.");
	for (int kind = 0; kind < KIND_CNT; kind++) {
		lines[cnt] = make_line(a, o, kind);
		has_operators |= kind == KIND_OPERATOR && lines[cnt].calls;
		cnt += !span_kind__is_device_work(kind) && lines[cnt].calls;
	}
	host = cnt;
	for (int kind = 0; kind < KIND_CNT; kind++) {
		lines[cnt] = make_line(a, o, kind);
		cnt += span_kind__is_device_work(kind) && lines[cnt].calls;
	}
	qsort(lines, host, sizeof(*lines), by_time);
	lines[cnt] = (struct line){KIND_COMMUNICATION, o->collectives.calls,
				   o->collectives.time.total_ns, true};
	cnt += lines[cnt].calls > 0;
	if (cnt || a->steps.calls)
		err = add_line(a, t, &top, 0, a->steps.calls ? "ProfileStep" : "Window");
	for (size_t i = 0; i < cnt && !err; i++)
		err = add_line(a, t, &lines[i], 1, span_kind__label(lines[i].kind));
	if (!err && cnt)
		err = table__add_notef(t,
				       "Time of one type is the union over threads: overlaps count "
				       "once. Ratios: of %s%s; types contain each other, so they "
				       "do not add up to 100 %%.",
				       analysis__total_name(a),
				       coverage__is_partial(a)
					       ? ", the device's of as much as is known of it"
					       : "");
	if (!err && a->has_device)
		err = table__add_notef(t,
				       "GPU Time: union of what ran on devices inside %s, whenever "
				       "it was launched.",
				       analysis__clock_name(a));
	if (!err)
		err = device_feed__note_table(a, t);
	if (!err && o->in_steps && outside(o))
		err = table__add_notef(t, "Left out here, being in no whole step: %s.",
				       counted(outside(o), "event", "events").s);
	if (!err && has_operators && left_out__has_operators(a))
		err = table__add_note(t, "Operator: those that were recorded; the operator table "
					 "estimates the others.");
	if (!err && o->has_others)
		err = table__add_note(t, "Operators of worker processes are in the operator table "
					 "only.");
	return err;
}

static void clean(void *state)
{
	forget(state);
}

const struct table_impl table_overview = {
	.def = {"overview", "time of each type of event", true},
	.title = "Overview Summary",
	.rests_on_device = true,
	.state_size = sizeof(struct overview),
	.visit = visit,
	.visit_work = visit_work,
	.fill = fill,
	.clean = clean,
};
