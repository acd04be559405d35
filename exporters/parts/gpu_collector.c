// SPDX-License-Identifier: BSD-2-Clause
/*
 * A launch, the ranges around it and its device work come from different sources, in any order. A
 * launch gets the ranges known so far, or waits for the range around it. Work goes to all ranges
 * known around its launch, and stays with the launch until all are known. A range takes over the
 * work of inner ranges.
 */
#include "exporters/parts/gpu_collector.h"
#include <stdlib.h>
#include <string.h>
#include "common/large.h"
#include "common/util.h"

#define LAUNCH_CNT (1u << 17) /* remembered launches; older ones are in no range any more */
/* launches and ranges of a thread that wait for the range around them */
#define OPEN_MAX   (1u << 17)
#define CLOSED_MAX (1u << 13)	    /* ended ranges of a thread in which a launch may still lie */
#define TIME_MAX   (UINT64_MAX / 4) /* as in the model: a later time means a damaged recording */
#define STEP_NONE  UINT32_MAX

/* What a device did. In all lists here, 0 ends the list and i means item i - 1. */
struct work {
	uint64_t begin_ns, end_ns;
	uint32_t track, next;
};

struct launch {
	uint64_t key; /* correlation id */
	uint64_t begin_ns;
	uint32_t track; /* 0: only device work was seen, not the call */
	uint32_t range; /* innermost range around it; 0: unknown yet */
	uint32_t step;	/* step in which it began; 0: unknown yet; STEP_NONE */
	uint32_t works;
};

struct host_range {
	uint64_t begin_ns, end_ns, step;
	uint32_t track, name;
	uint32_t parent; /* for a free one: the next free one */
	uint32_t first;	 /* first of its gpu_ranges */
	bool used;	 /* it contains a launch */
	bool gone;
};

struct open {
	uint64_t begin_ns;
	uint64_t key;	/* of a launch */
	uint32_t range; /* 0: this is a launch */
};

struct thread {
	struct open *open; /* sorted by begin */
	size_t open_cnt, open_cap;
	uint32_t *closed; /* ranges, sorted by end */
	size_t closed_cnt, closed_cap;
	uint32_t *steps; /* sorted by begin */
	size_t step_cnt, step_cap;
	uint64_t *unstepped; /* launches since the last step */
	size_t unstepped_cnt, unstepped_cap;
	uint64_t step_end_ns;
};

struct gpu_collector {
	const struct recording *r;
	struct gpu_ranges out;
	struct host_range *hosts;
	size_t host_cnt, host_cap;
	uint32_t free_hosts;
	struct work *works;
	size_t work_cnt, work_cap;
	uint32_t free_works;
	struct launch *launches; /* by key; the latest one stays */
	struct thread *threads;	 /* by track id */
	uint32_t track_cnt;
};

/* ---- ranges ---- */

static int host__make(struct gpu_collector *c, const struct event *e, uint32_t *out)
{
	const struct host_range h = {.begin_ns = e->ts_ns,
				     .end_ns = e->ts_ns + e->dur_ns,
				     .step = e->type == EVENT_STEP ? e->id : 0,
				     .track = e->track,
				     .name = e->type == EVENT_STEP ? 0 : e->name};
	int err = 0;

	*out = c->free_hosts;
	if (*out) {
		c->free_hosts = c->hosts[*out - 1].parent;
		c->hosts[*out - 1] = h;
	} else {
		err = ARRAY_PUSH(c->hosts, c->host_cnt, c->host_cap, h);
		*out = (uint32_t)c->host_cnt;
	}
	return err;
}

static void host__drop(struct gpu_collector *c, uint32_t host)
{
	c->hosts[host - 1].parent = c->free_hosts;
	c->free_hosts = host;
}

static void mark_used(struct gpu_collector *c, uint32_t host)
{
	for (; host && !c->hosts[host - 1].used; host = c->hosts[host - 1].parent)
		c->hosts[host - 1].used = true;
}

static int extend(struct gpu_collector *c, uint32_t host, const struct work *by)
{
	struct host_range *h = &c->hosts[host - 1];
	struct gpu_ranges *g = &c->out;
	struct gpu_range fresh;
	int err;

	for (uint32_t i = h->first; i; i = g->ranges[i - 1].next) {
		struct gpu_range *range = &g->ranges[i - 1];

		if (range->track != by->track)
			continue;
		if (by->begin_ns < range->begin_ns)
			range->begin_ns = by->begin_ns;
		if (by->end_ns > range->end_ns)
			range->end_ns = by->end_ns;
		return 0;
	}
	fresh = (struct gpu_range){.begin_ns = by->begin_ns,
				   .end_ns = by->end_ns,
				   .track = by->track,
				   .host_track = h->track,
				   .host_ns = h->begin_ns,
				   .name = h->name,
				   .step = h->step,
				   .next = h->first};
	err = ARRAY_PUSH(g->ranges, g->cnt, g->cap, fresh);
	if (!err)
		h->first = (uint32_t)g->cnt;
	return err;
}

static int adopt_range(struct gpu_collector *c, uint32_t parent, uint32_t child)
{
	int err = 0;

	c->hosts[child - 1].parent = parent;
	if (c->hosts[child - 1].used)
		mark_used(c, parent);
	for (uint32_t i = c->hosts[child - 1].first; i && !err; i = c->out.ranges[i - 1].next) {
		const struct gpu_range *g = &c->out.ranges[i - 1];

		err = extend(c, parent, &(struct work){g->begin_ns, g->end_ns, g->track, 0});
	}
	return err;
}

/* ---- launches and work ---- */

static struct launch *launch__at(const struct gpu_collector *c, uint64_t key)
{
	return &c->launches[key % LAUNCH_CNT];
}

static void free_works(struct gpu_collector *c, struct launch *l)
{
	while (l->works) {
		struct work *w = &c->works[l->works - 1];
		const uint32_t next = w->next;

		w->next = c->free_works;
		c->free_works = l->works;
		l->works = next;
	}
}

/* The key's slot. Evicts an older launch there. */
static struct launch *launch__take(struct gpu_collector *c, uint64_t key)
{
	struct launch *l = launch__at(c, key);

	if (l->key != key) {
		free_works(c, l);
		*l = (struct launch){.key = key};
	}
	return l;
}

static int works__to(struct gpu_collector *c, const struct launch *l, uint32_t host)
{
	int err = 0;

	for (uint32_t i = l->works; i && !err; i = c->works[i - 1].next)
		err = extend(c, host, &c->works[i - 1]);
	return err;
}

static int keep_work(struct gpu_collector *c, struct launch *l, struct work w)
{
	uint32_t i = c->free_works;
	int err = 0;

	w.next = l->works;
	if (i) {
		c->free_works = c->works[i - 1].next;
		c->works[i - 1] = w;
	} else {
		err = ARRAY_PUSH(c->works, c->work_cnt, c->work_cap, w);
		i = (uint32_t)c->work_cnt;
	}
	if (!err)
		l->works = i;
	return err;
}

static int see_device(struct gpu_collector *c, const struct event *e)
{
	const struct work w = {e->ts_ns, e->ts_ns + e->dur_ns, e->track, 0};
	const struct name *n = recording__name(c->r, e->name);
	struct launch *l;
	int err = 0;

	if (e->id == EVENT_NO_ID || (n && n->category == CAT_SYNC))
		return 0;
	l = launch__take(c, e->id);
	for (uint32_t h = l->range; h && !err; h = c->hosts[h - 1].parent)
		err = extend(c, h, &w);
	if (!err && l->step && l->step != STEP_NONE)
		err = extend(c, l->step, &w);
	return err || (l->range && l->step) ? err : keep_work(c, l, w);
}

static struct launch *launch__of(const struct gpu_collector *c, uint64_t key, uint32_t track)
{
	struct launch *l = launch__at(c, key);

	return l->key == key && l->track == track ? l : NULL;
}

static int adopt_launch(struct gpu_collector *c, uint32_t range, uint64_t key, uint32_t track)
{
	struct launch *l = launch__of(c, key, track);
	int err = l ? works__to(c, l, range) : 0;

	if (!l)
		return 0;
	l->range = range;
	mark_used(c, range);
	if (l->step)
		free_works(c, l);
	return err;
}

/* ---- threads ---- */

/* The innermost known range around ns. 0: none. */
static uint32_t closed__enclosing(const struct gpu_collector *c, const struct thread *t,
				  uint64_t ns)
{
	size_t i = t->closed_cnt;

	if (i && c->hosts[t->closed[i - 1] - 1].end_ns > ns)
		i = COUNT_FIRST(t->closed_cnt, k, c->hosts[t->closed[k] - 1].end_ns <= ns);
	for (; i < t->closed_cnt; i++)
		if (c->hosts[t->closed[i] - 1].begin_ns <= ns)
			return t->closed[i];
	return 0;
}

static bool ends_by(const struct gpu_collector *c, uint32_t a, uint32_t b)
{
	return c->hosts[a - 1].end_ns <= c->hosts[b - 1].end_ns;
}

/* Forgets the older half of a growing list. */
#define ARRAY_HALVE(items, cnt)                                                                    \
	({                                                                                         \
		const size_t drop__ = (cnt) / 2;                                                   \
		(cnt) -= drop__;                                                                   \
		memmove((items), (items) + drop__, (cnt) * sizeof(*(items)));                      \
	})

/* If a range has no launch, its inner ranges have none, either. */
static void closed__halve(struct gpu_collector *c, struct thread *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->closed_cnt / 2; i++)
		c->hosts[t->closed[i] - 1].gone = !c->hosts[t->closed[i] - 1].used;
	for (size_t i = 0; i < t->open_cnt; i++)
		if (!t->open[i].range || !c->hosts[t->open[i].range - 1].gone)
			t->open[kept++] = t->open[i];
	t->open_cnt = kept;
	for (size_t i = 0; i < t->closed_cnt / 2; i++)
		if (c->hosts[t->closed[i] - 1].gone)
			host__drop(c, t->closed[i]);
	ARRAY_HALVE(t->closed, t->closed_cnt);
}

static int closed__push(struct gpu_collector *c, struct thread *t, uint32_t range)
{
	size_t at = t->closed_cnt;
	int err;

	if (at == CLOSED_MAX) {
		closed__halve(c, t);
		at = t->closed_cnt;
	}
	err = ARRAY_PUSH(t->closed, t->closed_cnt, t->closed_cap, range);
	for (; !err && at && !ends_by(c, t->closed[at - 1], range); at--) {
		t->closed[at] = t->closed[at - 1];
		t->closed[at - 1] = range;
	}
	return err;
}

static int open__push(struct thread *t, struct open o)
{
	size_t at;
	int err;

	if (t->open_cnt == OPEN_MAX)
		ARRAY_HALVE(t->open, t->open_cnt);
	at = t->open_cnt;
	err = ARRAY_PUSH(t->open, t->open_cnt, t->open_cap, o);
	for (; !err && at && t->open[at - 1].begin_ns > o.begin_ns; at--) {
		t->open[at] = t->open[at - 1];
		t->open[at - 1] = o;
	}
	return err;
}

/* The step around ns. 0: it is not over; or STEP_NONE. */
static uint32_t step_at(const struct gpu_collector *c, const struct thread *t, uint64_t ns)
{
	size_t n;

	if (ns >= t->step_end_ns)
		return 0;
	n = COUNT_FIRST(t->step_cnt, i, c->hosts[t->steps[i] - 1].begin_ns <= ns);
	return n && ns < c->hosts[t->steps[n - 1] - 1].end_ns ? t->steps[n - 1] : STEP_NONE;
}

static int find_step(struct gpu_collector *c, struct thread *t, struct launch *l)
{
	l->step = step_at(c, t, l->begin_ns);
	if (l->step)
		return l->step == STEP_NONE ? 0 : works__to(c, l, l->step);
	if (t->unstepped_cnt == OPEN_MAX)
		ARRAY_HALVE(t->unstepped, t->unstepped_cnt);
	return ARRAY_PUSH(t->unstepped, t->unstepped_cnt, t->unstepped_cap, l->key);
}

static int find_ranges(struct gpu_collector *c, struct thread *t, struct launch *l)
{
	int err = 0;

	l->range = closed__enclosing(c, t, l->begin_ns);
	if (!l->range)
		return open__push(t, (struct open){.begin_ns = l->begin_ns, .key = l->key});
	mark_used(c, l->range);
	for (uint32_t h = l->range; h && !err; h = c->hosts[h - 1].parent)
		err = works__to(c, l, h);
	return err;
}

/* A call through runtime and driver has the same id in both, and the same ranges around. */
static int see_launch(struct gpu_collector *c, struct thread *t, const struct event *e)
{
	struct launch *l;
	int err;

	if (e->id == EVENT_NO_ID)
		return 0;
	l = launch__take(c, e->id);
	if (l->track)
		return 0;
	l->track = e->track;
	l->begin_ns = e->ts_ns;
	err = find_step(c, t, l);
	if (!err)
		err = find_ranges(c, t, l);
	if (!err && l->range && l->step)
		free_works(c, l);
	return err;
}

static int see_range(struct gpu_collector *c, struct thread *t, const struct event *e)
{
	const uint64_t end_ns = e->ts_ns + e->dur_ns;
	size_t first, i = t->open_cnt;
	uint32_t range;
	int err = host__make(c, e, &range);

	while (i && t->open[i - 1].begin_ns >= e->ts_ns)
		i--;
	for (first = i; !err && i < t->open_cnt && t->open[i].begin_ns < end_ns; i++)
		err = t->open[i].range ? adopt_range(c, range, t->open[i].range)
				       : adopt_launch(c, range, t->open[i].key, e->track);
	if (err)
		return err;
	if (i > first) {
		memmove(t->open + first, t->open + i, (t->open_cnt - i) * sizeof(*t->open));
		t->open_cnt -= i - first;
	}
	err = open__push(t, (struct open){.begin_ns = e->ts_ns, .range = range});
	return err ? err : closed__push(c, t, range);
}

static int see_step(struct gpu_collector *c, struct thread *t, const struct event *e)
{
	struct event clipped = *e;
	uint32_t step;
	size_t kept = 0;
	int err;

	if (e->ts_ns + e->dur_ns <= t->step_end_ns)
		return 0;
	if (e->ts_ns < t->step_end_ns) {
		clipped.ts_ns = t->step_end_ns;
		clipped.dur_ns -= clipped.ts_ns - e->ts_ns;
	}
	t->step_end_ns = e->ts_ns + e->dur_ns;
	err = host__make(c, &clipped, &step);
	if (!err)
		err = ARRAY_PUSH(t->steps, t->step_cnt, t->step_cap, step);
	for (size_t i = 0; i < t->unstepped_cnt && !err; i++) {
		struct launch *l = launch__of(c, t->unstepped[i], e->track);

		if (!l)
			continue;
		l->step = step_at(c, t, l->begin_ns);
		if (!l->step)
			t->unstepped[kept++] = l->key;
		else if (l->step != STEP_NONE)
			err = works__to(c, l, l->step);
		if (l->step && l->range)
			free_works(c, l);
	}
	t->unstepped_cnt = kept;
	return err;
}

static int see_span(struct gpu_collector *c, struct thread *t, const struct event *e)
{
	const struct name *n = recording__name(c->r, e->name);

	switch (n ? n->category : CAT_NONE) {
	case CAT_RUNTIME:
	case CAT_DRIVER:
		return see_launch(c, t, e);
	/* Kineto's user annotations, but no inferred phase */
	case CAT_USER:
	case CAT_DATALOADER:
	case CAT_FORWARD:
	case CAT_BACKWARD:
	case CAT_OPTIMIZER:
	case CAT_ZERO_GRAD:
	case CAT_PROFILER_STEP:
	case CAT_COMMUNICATION:
		return see_range(c, t, e);
	default:
		return 0;
	}
}

/* ---- the door ---- */

static enum track_kind kind_of(const struct recording *r, uint32_t id)
{
	const struct track *t = recording__track(r, id);

	return t ? t->kind : 0;
}

static bool has_devices(const struct recording *r)
{
	for (uint32_t id = 1; id <= recording__track_cnt(r); id++)
		if (kind_of(r, id) == TRACK_DEVICE)
			return true;
	return false;
}

int gpu_collector__new(const struct recording *r, struct gpu_collector **out)
{
	struct gpu_collector *c;

	*out = NULL;
	if (!has_devices(r))
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->r = r;
	c->track_cnt = recording__track_cnt(r);
	c->threads = calloc((size_t)c->track_cnt + 1, sizeof(*c->threads));
	c->launches = large__alloc(LAUNCH_CNT, sizeof(*c->launches));
	if (!c->threads || !c->launches) {
		gpu_collector__free(c);
		return -ENOMEM;
	}
	c->launches[0].key = EVENT_NO_ID; /* 0 is a valid key */
	*out = c;
	return 0;
}

int gpu_collector__see(void *ctx, const struct event *e)
{
	struct gpu_collector *c = ctx;
	const enum track_kind kind = kind_of(c->r, e->track);

	if (e->ts_ns > TIME_MAX || e->dur_ns > TIME_MAX || !kind)
		return 0;
	if (kind == TRACK_DEVICE)
		return e->type == EVENT_DEVICE ? see_device(c, e) : 0;
	if (e->type == EVENT_SPAN)
		return see_span(c, &c->threads[e->track], e);
	return e->type == EVENT_STEP ? see_step(c, &c->threads[e->track], e) : 0;
}

int gpu_collector__finish(struct gpu_collector *c, struct gpu_ranges *out)
{
	*out = c->out;
	c->out = (struct gpu_ranges){0};
	return gpu_ranges__sort(out);
}

void gpu_collector__free(struct gpu_collector *c)
{
	if (!c)
		return;
	for (uint32_t id = 0; c->threads && id <= c->track_cnt; id++) {
		free(c->threads[id].open);
		free(c->threads[id].closed);
		free(c->threads[id].steps);
		free(c->threads[id].unstepped);
	}
	gpu_ranges__free(&c->out);
	free(c->hosts);
	free(c->works);
	large__free(c->launches, LAUNCH_CNT, sizeof(*c->launches));
	free(c->threads);
	free(c);
}
