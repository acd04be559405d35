// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/gpu_ranges.h"
#include <errno.h>
#include <stdlib.h>
#include "common/util.h"
#include "model/model.h"

struct collector {
	const struct recording *r;
	struct gpu_ranges *out;
	uint32_t *slots; /* of ranges by thread, begin, name and stream: index + 1, 0 free */
	size_t slot_cnt;
};

/* ---- one range per span and stream ---- */

static size_t slot_of(const struct collector *c, const struct gpu_range *g)
{
	uint64_t h =
		g->host_ns ^ (uint64_t)g->host_track << 48 ^ (uint64_t)g->name << 24 ^ g->track;

	return (h * 0x9e3779b97f4a7c15ull >> 32) & (c->slot_cnt - 1);
}

static bool is_same(const struct gpu_range *a, const struct gpu_range *b)
{
	return a->host_ns == b->host_ns && a->host_track == b->host_track && a->name == b->name &&
	       a->track == b->track;
}

static uint32_t *slot_find(const struct collector *c, const struct gpu_range *g)
{
	size_t i = slot_of(c, g);

	while (c->slots[i] && !is_same(&c->out->ranges[c->slots[i] - 1], g))
		i = (i + 1) & (c->slot_cnt - 1);
	return &c->slots[i];
}

static int grow(struct collector *c)
{
	uint32_t *before = c->slots;

	c->slot_cnt = c->slot_cnt ? c->slot_cnt * 2 : 1024;
	c->slots = calloc(c->slot_cnt, sizeof(*c->slots));
	free(before);
	if (!c->slots)
		return -ENOMEM;
	for (size_t i = 0; i < c->out->cnt; i++)
		*slot_find(c, &c->out->ranges[i]) = (uint32_t)i + 1;
	return 0;
}

static int extend(struct collector *c, const struct gpu_range *by)
{
	struct gpu_ranges *g = c->out;
	struct gpu_range *range;
	uint32_t *slot;
	int err = g->cnt * 2 >= c->slot_cnt ? grow(c) : 0;

	if (err)
		return err;
	slot = slot_find(c, by);
	if (!*slot) {
		err = ARRAY_PUSH(g->ranges, g->cnt, g->cap, *by);
		if (!err)
			*slot = (uint32_t)g->cnt;
		return err;
	}
	range = &g->ranges[*slot - 1];
	if (by->begin_ns < range->begin_ns)
		range->begin_ns = by->begin_ns;
	if (by->end_ns > range->end_ns)
		range->end_ns = by->end_ns;
	return 0;
}

/* ---- what is around a launch ---- */

/* Kineto's user annotations; a phase that was inferred is none. */
static bool is_annotation(const struct collector *c, const struct span *s)
{
	const struct name *n = s->ev.name ? recording__name(c->r, s->ev.name) : NULL;

	switch (n ? n->category : CAT_NONE) {
	case CAT_USER:
	case CAT_DATALOADER:
	case CAT_FORWARD:
	case CAT_BACKWARD:
	case CAT_OPTIMIZER:
	case CAT_ZERO_GRAD:
	case CAT_PROFILER_STEP:
	case CAT_COMMUNICATION:
		return true;
	default:
		return false;
	}
}

static bool is_in_step(const struct step *step, const struct event *launch)
{
	return step && step->track == launch->track && launch->ts_ns >= step->ts_ns &&
	       launch->ts_ns - step->ts_ns < step->dur_ns;
}

static int add(struct collector *c, const struct step *step, const struct span *device)
{
	const struct span *launch = device->launch;
	struct gpu_range g = {.begin_ns = device->ev.ts_ns,
			      .end_ns = device->ev.ts_ns + device->ev.dur_ns,
			      .track = device->ev.track};
	int err = 0;

	if (!launch || device->kind == KIND_SYNC)
		return 0;
	g.host_track = launch->ev.track;
	for (const struct span *s = launch->parent; s && !err; s = s->parent) {
		if (!is_annotation(c, s))
			continue;
		g.host_ns = s->ev.ts_ns;
		g.name = s->ev.name;
		err = extend(c, &g);
	}
	if (err || !is_in_step(step, &launch->ev))
		return err;
	g.host_ns = step->ts_ns;
	g.name = 0;
	g.step = step->index;
	return extend(c, &g);
}

static int visit(const struct batch *b, void *ctx)
{
	struct collector *c = ctx;
	int err = 0;

	for (size_t i = 0; i < b->track_cnt && !err; i++) {
		if (b->tracks[i].track->kind != TRACK_DEVICE)
			continue;
		for (const struct span *s = b->tracks[i].roots; s && !err; s = s->next_sibling)
			err = add(c, b->step, s);
	}
	return err;
}

/* ---- order ---- */

static int by_begin(const void *x, const void *y)
{
	const struct gpu_range *a = x, *b = y;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	if (a->host_ns != b->host_ns)
		return a->host_ns < b->host_ns ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name); /* a step is around the others */
}

static int host_cmp(const struct gpu_range *a, uint32_t track, uint64_t begin_ns, uint32_t name)
{
	if (a->host_ns != begin_ns)
		return a->host_ns < begin_ns ? -1 : 1;
	if (a->host_track != track)
		return a->host_track < track ? -1 : 1;
	return (a->name > name) - (a->name < name);
}

static int by_host(const void *x, const void *y)
{
	const struct gpu_range *const *a = x, *const *b = y;

	return host_cmp(*a, (*b)->host_track, (*b)->host_ns, (*b)->name);
}

static int sort(struct gpu_ranges *g)
{
	if (!g->cnt)
		return 0;
	qsort(g->ranges, g->cnt, sizeof(*g->ranges), by_begin);
	g->by_host = calloc(g->cnt, sizeof(*g->by_host));
	if (!g->by_host)
		return -ENOMEM;
	for (size_t i = 0; i < g->cnt; i++)
		g->by_host[i] = &g->ranges[i];
	qsort(g->by_host, g->cnt, sizeof(*g->by_host), by_host);
	return 0;
}

/* ---- the door ---- */

static bool has_devices(const struct recording *r)
{
	for (uint32_t id = 1; id <= recording__track_cnt(r); id++) {
		const struct track *t = recording__track(r, id);

		if (t && t->kind == TRACK_DEVICE)
			return true;
	}
	return false;
}

int gpu_ranges__collect(const struct recording *r, struct gpu_ranges *out)
{
	struct collector c = {.r = r, .out = out};
	int err;

	*out = (struct gpu_ranges){0};
	if (!has_devices(r))
		return 0;
	err = model__run(r, NULL, visit, &c);
	free(c.slots);
	if (!err)
		err = sort(out);
	if (err)
		gpu_ranges__free(out);
	return err;
}

void gpu_ranges__free(struct gpu_ranges *g)
{
	free(g->ranges);
	free(g->by_host);
	*g = (struct gpu_ranges){0};
}

void gpu_ranges__set_id(struct gpu_ranges *g, uint32_t track, uint64_t begin_ns, uint32_t name,
			uint64_t external_id)
{
	size_t lo = 0, hi = g->cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (host_cmp(g->by_host[mid], track, begin_ns, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < g->cnt && !host_cmp(g->by_host[lo], track, begin_ns, name); lo++)
		g->by_host[lo]->external_id = external_id;
}

const struct gpu_range *gpu_ranges__next(struct gpu_ranges *g, uint64_t until_ns)
{
	if (g->next == g->cnt || g->ranges[g->next].begin_ns > until_ns)
		return NULL;
	return &g->ranges[g->next++];
}
