// SPDX-License-Identifier: BSD-2-Clause
/*
 * A spike: for a short part of the step memory holds much more than for the rest. The device's
 * memory must be large enough for the spike.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/findings/by_operator.h"
#include "analysis/findings/finding.h"
#include "common/util.h"

#define SHORT	    0.1	       /* share of the step; memory that is held for longer is no spike */
#define SPIKE	    0.5	       /* least share of the step's own growth that the spike must have */
#define LEAST_BYTES (64 << 20) /* bytes; smaller spikes are not reported */
#define LEAST_STEPS 3
#define PLACES	    65 /* the host and 64 devices */

struct spike {
	int64_t peak, rest; /* bytes above the step's begin: the highest level, and the highest
			       that lasts longer than SHORT */
	uint64_t step, ns;  /* how long it is above the rest */
	struct top_operator owner; /* the operator that allocated most of the peak, in bytes */
};

struct memory_peak {
	struct place {
		uint64_t cnt; /* steps that have a spike */
		struct spike worst;
	} places[PLACES];
};

/* What memory holds from one allocation or free to the next. */
struct level {
	int64_t bytes;
	uint64_t ns;
};

/* All levels of one place in one step, by time. */
struct history {
	const struct event **events;
	struct span *const *spans; /* by index of events */
	size_t *index;		   /* of an event in the batch */
	size_t cnt;
};

static int place_of(const struct analysis *a, const struct event *e)
{
	const struct event_memory *m = e->args;
	const struct track *t = recording__track(a->r, e->track);

	if (e->name || !t || !analysis__is_main(a, t))
		return -1; /* memory from the driver, or of a worker of the loader, does not
			      count */
	if (!m->device_type)
		return 0;
	return m->device_index >= 0 && m->device_index < PLACES - 1 ? m->device_index + 1 : -1;
}

static int by_bytes(const void *x, const void *y)
{
	const struct level *p = x, *q = y;

	return (p->bytes < q->bytes) - (p->bytes > q->bytes);
}

/* The level that memory exceeds for at most SHORT of the step, and how long it does. */
static int64_t usual_level(struct level *levels, size_t cnt, const struct step *step, uint64_t *ns)
{
	uint64_t sum_ns = 0;
	size_t i = 0;

	*ns = 0;
	qsort(levels, cnt, sizeof(*levels), by_bytes);
	while (i + 1 < cnt && (double)(sum_ns + levels[i].ns) <= SHORT * (double)step->dur_ns)
		sum_ns += levels[i++].ns;
	for (size_t k = 0; k < i && levels[k].bytes > levels[i].bytes; k++)
		*ns += levels[k].ns;
	return levels[i].bytes;
}

struct allocation {
	uint64_t addr;
	size_t order; /* of its event */
	int64_t bytes;
	const struct span *span; /* the span that made it, or NULL */
};

static int by_address(const void *x, const void *y)
{
	const struct allocation *p = x, *q = y;

	if (p->addr != q->addr)
		return p->addr < q->addr ? -1 : 1;
	return (p->order > q->order) - (p->order < q->order);
}

/* Which operator allocated most of what lives at the peak, of this step's allocations? */
static int find_owner(const struct analysis *a, const struct history *h, size_t peak,
		      struct spike *s)
{
	auto_free struct allocation *all = calloc(peak + 1, sizeof(*all));
	struct by_operator owners = {};
	int err = all ? 0 : -ENOMEM;

	for (size_t i = 0; all && i <= peak; i++)
		all[i] = (struct allocation){h->events[i]->id, i, h->events[i]->value,
					     h->spans[h->index[i]]};
	if (all)
		qsort(all, peak + 1, sizeof(*all), by_address);
	for (size_t i = 0; !err && i <= peak; i++) {
		if (all[i].bytes <= 0 || (i < peak && all[i + 1].addr == all[i].addr))
			continue;
		err = all[i].span
			      ? by_operator__add(a, &owners, all[i].span, (uint64_t)all[i].bytes)
			      : by_operator__add_to(&owners, 0, 0, (uint64_t)all[i].bytes);
	}
	if (!err)
		by_operator__top(a, &owners, &s->owner);
	stat_map__free(&owners.map);
	return err;
}

static int judge_step(const struct analysis *a, struct place *p, const struct history *h,
		      const struct step *step)
{
	auto_free struct level *levels = calloc(h->cnt + 1, sizeof(*levels));
	struct spike s = {.step = step->index};
	uint64_t since_ns = step->ts_ns;
	size_t peak = 0;
	int64_t held = 0;
	int err;

	if (!levels)
		return -ENOMEM;
	for (size_t i = 0; i < h->cnt; i++) {
		const uint64_t ts_ns =
			h->events[i]->ts_ns > since_ns ? h->events[i]->ts_ns : since_ns;

		levels[i] = (struct level){held, ts_ns - since_ns};
		since_ns = ts_ns;
		held += h->events[i]->value;
		if (held > s.peak) {
			s.peak = held;
			peak = i;
		}
	}
	if (since_ns < step->ts_ns + step->dur_ns)
		levels[h->cnt] = (struct level){held, step->ts_ns + step->dur_ns - since_ns};
	s.rest = usual_level(levels, h->cnt + 1, step, &s.ns);
	s.rest = s.rest > 0 ? s.rest : 0;
	if (s.peak - s.rest < LEAST_BYTES || (double)(s.peak - s.rest) < SPIKE * (double)s.peak)
		return 0;
	p->cnt++;
	if (s.peak - s.rest <= p->worst.peak - p->worst.rest)
		return 0;
	err = find_owner(a, h, peak, &s);
	p->worst = s;
	return err;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct memory_peak *m = state;
	auto_free const struct event **events = NULL;
	auto_free size_t *index = NULL;
	bool seen[PLACES] = {false};
	int err = 0;

	if (!b->memory_cnt)
		return 0;
	events = calloc(b->memory_cnt, sizeof(*events));
	index = calloc(b->memory_cnt, sizeof(*index));
	if (!events || !index)
		return -ENOMEM;
	for (size_t i = 0; i < b->memory_cnt; i++) {
		const int place = place_of(a, &b->memory[i]);

		if (place >= 0)
			seen[place] = true;
	}
	for (int place = 0; place < PLACES && !err; place++) {
		struct history h = {.events = events, .spans = b->memory_spans, .index = index};

		if (!seen[place])
			continue;
		for (size_t i = 0; i < b->memory_cnt; i++) {
			if (place_of(a, &b->memory[i]) != place)
				continue;
			events[h.cnt] = &b->memory[i];
			index[h.cnt++] = i;
		}
		if (h.cnt)
			err = judge_step(a, &m->places[place], &h, b->step);
	}
	return err;
}

static void explain(const struct analysis *a, const struct place *p, int place, struct finding *f)
{
	const struct spike *s = &p->worst;
	char name[16] = "the host";

	if (place)
		snprintf(name, sizeof(name), "GPU%d", place - 1);
	snprintf(f->what, sizeof(f->what),
		 "Memory of %s has a spike of %.1f MB in a step, %.0f %% of what the step adds.",
		 name, (double)(s->peak - s->rest) / 1e6,
		 100.0 * (double)(s->peak - s->rest) / (double)s->peak);
	snprintf(
		f->evidence, sizeof(f->evidence),
		"step %llu holds up to %.1f MB more than at its begin, and %.1f MB or less but for "
		"%s; %.1f MB of the peak by %s; %llu of %llu steps have such a spike",
		(unsigned long long)s->step, (double)s->peak / 1e6, (double)s->rest / 1e6,
		time_text(a, s->ns).s, (double)s->owner.total / 1e6, s->owner.text,
		(unsigned long long)p->cnt, (unsigned long long)a->steps.calls);
	snprintf(f->next, sizeof(f->next),
		 "free what is not needed before the spike; compute in parts (chunks of the batch "
		 "or vocabulary), in place or in lower precision; a larger batch may fit then");
}

/* Judges the place with the largest spike. */
static int judge(const struct analysis *a, void *state, struct finding *f)
{
	const struct memory_peak *m = state;
	const struct place *worst = NULL;

	for (int i = 0; i < PLACES; i++) {
		const struct place *p = &m->places[i];

		if (p->cnt < LEAST_STEPS || p->cnt * 2 < a->steps.calls)
			continue;
		if (!worst || p->worst.peak - p->worst.rest > worst->worst.peak - worst->worst.rest)
			worst = p;
	}
	if (!worst)
		return 0;
	explain(a, worst, (int)(worst - m->places), f);
	return 1;
}

const struct finding_rule finding_memory_peak = {
	.key = "memory_peak",
	.state_size = sizeof(struct memory_peak),
	.visit = visit,
	.judge = judge,
};
