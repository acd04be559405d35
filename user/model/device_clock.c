// SPDX-License-Identifier: BSD-2-Clause
/*
 * Device events come nearly in the order of their ends. An event's lateness is how far it begins
 * before the newest end so far. The first pass finds the largest lateness. In later passes all
 * older events are complete. A few events are much later than others, such as kernels that run for
 * the whole window. These are kept from the first pass on.
 */
#include "model/device_clock.h"
#include <stdlib.h>
#include <string.h>
#include "common/util.h"

#define MAX_TIME   (UINT64_MAX / 4)
#define LATE_MAX   1024 /* late events that are kept */
#define HELD_MAX   ((size_t)1 << 20)
#define HELD_LEAST 2

struct item {
	uint64_t begin_ns, end_ns, id;
	int64_t bytes;
	uint32_t track, name;
	uint8_t kind;
	bool given, is_from_before;
};

struct device_clock {
	const struct recording *r;
	struct recording_cursor *cursor;
	bool at_end;	      /* the end of the file, in this pass */
	uint64_t newest_ns;   /* newest end in this pass */
	uint64_t lateness_ns; /* lateness of all events that are not in `late` */
	struct late {
		uint64_t lateness_ns;
		struct item item;
	} late[LATE_MAX]; /* a heap, the least late first */
	size_t late_cnt;
	/* This pass gives events that begin in [floor_ns, ceiling_ns). */
	uint64_t floor_ns, ceiling_ns;
	struct item *held; /* a heap, the earliest begin first */
	size_t held_cnt, held_cap, held_max;
	struct item *running; /* given out in parts so far */
	size_t running_cnt, running_cap;
};

/* ---- heaps ---- */

static bool is_before(const struct item *a, const struct item *b)
{
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns;
	return a->track != b->track ? a->track < b->track : a->id < b->id;
}

static void sift_up(struct item *heap, size_t at)
{
	const struct item item = heap[at];

	for (; at && is_before(&item, &heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = item;
}

static void sift_down(struct item *heap, size_t cnt)
{
	const struct item item = heap[0];
	size_t at = 0;

	for (size_t child = 1; child < cnt; child = 2 * at + 1) {
		child += child + 1 < cnt && is_before(&heap[child + 1], &heap[child]);
		if (!is_before(&heap[child], &item))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = item;
}

static struct item pop(struct device_clock *c)
{
	const struct item first = c->held[0];

	c->held[0] = c->held[--c->held_cnt];
	if (c->held_cnt)
		sift_down(c->held, c->held_cnt);
	return first;
}

static int by_begin(const void *a, const void *b)
{
	return is_before(a, b) ? -1 : is_before(b, a);
}

/* Leaves the later half to another pass. If all begin at the same time, it holds more. */
static void leave_later(struct device_clock *c)
{
	size_t kept = c->held_cnt / 2;

	qsort(c->held, c->held_cnt, sizeof(*c->held), by_begin);
	while (kept && c->held[kept - 1].begin_ns == c->held[kept].begin_ns)
		kept--;
	if (!kept) {
		c->held_max *= 2;
		return;
	}
	c->ceiling_ns = c->held[kept].begin_ns;
	c->held_cnt = kept;
}

static int hold(struct device_clock *c, const struct item *item)
{
	int err;

	if (item->begin_ns < c->floor_ns || item->begin_ns >= c->ceiling_ns)
		return 0;
	err = ARRAY_PUSH(c->held, c->held_cnt, c->held_cap, *item);
	if (err)
		return err;
	sift_up(c->held, c->held_cnt - 1);
	if (c->held_cnt >= c->held_max)
		leave_later(c);
	return 0;
}

/* ---- reading ---- */

static bool to_item(const struct recording *r, const struct event *e, struct item *out)
{
	const struct track *t = e->type == EVENT_DEVICE ? recording__track(r, e->track) : NULL;
	const struct name *n = t && e->name ? recording__name(r, e->name) : NULL;

	if (!n || t->kind != TRACK_DEVICE || e->ts_ns > MAX_TIME || e->dur_ns > MAX_TIME)
		return false;
	*out = (struct item){e->ts_ns, e->ts_ns + e->dur_ns, e->id, e->value, e->track, e->name};
	out->is_from_before = event__is_from_before(e);
	switch (n->category) {
	case CAT_KERNEL:
		out->kind = KIND_KERNEL;
		return true;
	case CAT_MEMCPY:
		out->kind = KIND_MEMCPY;
		return true;
	case CAT_MEMSET:
		out->kind = KIND_MEMSET;
		return true;
	default:
		return false;
	}
}

/* The file's next event, and its lateness. 1, 0 at the end, or a negative errno. */
static int next_item(struct device_clock *c, struct item *item, uint64_t *lateness_ns)
{
	struct event e;
	int got;

	do {
		got = recording_cursor__next(c->cursor, &e);
		if (got <= 0)
			return got;
	} while (!to_item(c->r, &e, item));
	*lateness_ns = c->newest_ns > item->begin_ns ? c->newest_ns - item->begin_ns : 0;
	if (item->end_ns > c->newest_ns)
		c->newest_ns = item->end_ns;
	return 1;
}

static void swap_late(struct late *a, struct late *b)
{
	const struct late t = *a;

	*a = *b;
	*b = t;
}

/* Keeps the latest events. The lateness of all others is known then. */
static void note_lateness(struct device_clock *c, const struct item *item, uint64_t lateness_ns)
{
	size_t at = 0;

	if (c->late_cnt < LATE_MAX) {
		at = c->late_cnt++;
		c->late[at] = (struct late){lateness_ns, *item};
		for (; at && c->late[at].lateness_ns < c->late[(at - 1) / 2].lateness_ns;
		     at = (at - 1) / 2)
			swap_late(&c->late[at], &c->late[(at - 1) / 2]);
		return;
	}
	if (lateness_ns <= c->late[0].lateness_ns) {
		c->lateness_ns = lateness_ns > c->lateness_ns ? lateness_ns : c->lateness_ns;
		return;
	}
	c->lateness_ns = c->late[0].lateness_ns;
	c->late[0] = (struct late){lateness_ns, *item};
	for (size_t child = 1; child < c->late_cnt; child = 2 * at + 1) {
		child += child + 1 < c->late_cnt &&
			 c->late[child + 1].lateness_ns < c->late[child].lateness_ns;
		if (c->late[at].lateness_ns <= c->late[child].lateness_ns)
			break;
		swap_late(&c->late[at], &c->late[child]);
		at = child;
	}
}

/* The late events are held from the begin of the pass. */
static int begin_pass(struct device_clock *c, uint64_t floor_ns)
{
	int err = 0;

	recording_cursor__rewind(c->cursor);
	c->at_end = false;
	c->newest_ns = 0;
	c->floor_ns = floor_ns;
	c->ceiling_ns = UINT64_MAX;
	for (size_t i = 0; i < c->late_cnt && !err; i++)
		if (c->late[i].lateness_ns > c->lateness_ns)
			err = hold(c, &c->late[i].item);
	return err;
}

static int measure_lateness(struct device_clock *c)
{
	uint64_t lateness_ns;
	struct item item;
	int got;

	while ((got = next_item(c, &item, &lateness_ns)) > 0)
		note_lateness(c, &item, lateness_ns);
	return got;
}

/* Have all events that begin before ns been read, or all of this pass? */
static bool is_complete(const struct device_clock *c, uint64_t ns)
{
	const uint64_t until = ns < c->ceiling_ns ? ns : c->ceiling_ns;

	return c->at_end ||
	       (c->newest_ns >= c->lateness_ns && c->newest_ns - c->lateness_ns >= until);
}

/* The next event that begins before end_ns. 1, 0 if there is none, or a negative errno. */
static int next_before(struct device_clock *c, uint64_t end_ns, struct item *out)
{
	for (;;) {
		uint64_t lateness_ns;
		struct item item;
		int got;

		if (c->held_cnt && is_complete(c, c->held[0].begin_ns)) {
			if (c->held[0].begin_ns >= end_ns)
				return 0;
			*out = pop(c);
			return 1;
		}
		if (is_complete(c, end_ns)) {
			if (c->ceiling_ns >= end_ns)
				return 0;
			got = begin_pass(c, c->ceiling_ns);
			if (got)
				return got;
			continue;
		}
		got = next_item(c, &item, &lateness_ns);
		c->at_end = !got;
		if (got > 0 && lateness_ns <= c->lateness_ns)
			got = hold(c, &item);
		if (got < 0)
			return got;
	}
}

/* ---- giving out ---- */

static int give(struct device_clock *c, struct item *item, uint64_t begin_ns, uint64_t end_ns,
		int (*take)(const struct device_work *w, void *ctx), void *ctx)
{
	const struct device_work w = {
		.begin_ns = item->begin_ns > begin_ns ? item->begin_ns : begin_ns,
		.end_ns = item->end_ns < end_ns ? item->end_ns : end_ns,
		.id = item->id,
		.bytes = item->bytes,
		.track = recording__track(c->r, item->track),
		.name = item->name,
		.kind = item->kind,
		.continued = item->given,
		.is_from_before = item->is_from_before,
	};

	item->given = true;
	return take(&w, ctx);
}

static int give_running(struct device_clock *c, uint64_t begin_ns, uint64_t end_ns,
			int (*take)(const struct device_work *w, void *ctx), void *ctx)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < c->running_cnt; i++) {
		struct item *item = &c->running[i];

		if (item->end_ns <= begin_ns)
			continue;
		if (!err)
			err = give(c, item, begin_ns, end_ns, take, ctx);
		if (item->end_ns > end_ns)
			c->running[kept++] = *item;
	}
	c->running_cnt = kept;
	return err;
}

int device_clock__between(struct device_clock *c, uint64_t begin_ns, uint64_t end_ns,
			  int (*take)(const struct device_work *w, void *ctx), void *ctx)
{
	int err = begin_ns < end_ns ? give_running(c, begin_ns, end_ns, take, ctx) : 0;
	struct item item = {0};

	while (!err && begin_ns < end_ns) {
		err = next_before(c, end_ns, &item);
		if (err <= 0)
			break;
		err = 0;
		if (item.end_ns > begin_ns || item.begin_ns >= begin_ns)
			err = give(c, &item, begin_ns, end_ns, take, ctx);
		if (!err && item.end_ns > end_ns)
			err = ARRAY_PUSH(c->running, c->running_cnt, c->running_cap, item);
	}
	return err;
}

/* ---- life ---- */

int device_clock__open(const struct recording *r, struct device_clock **out)
{
	struct device_clock *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->r = r;
	c->held_max = HELD_MAX;
	err = recording_cursor__open(r, &c->cursor);
	if (!err)
		err = measure_lateness(c);
	if (!err)
		err = begin_pass(c, 0);
	if (err)
		device_clock__close(c);
	else
		*out = c;
	return err;
}

void device_clock__limit(struct device_clock *c, size_t cnt)
{
	c->held_max = cnt < HELD_LEAST ? HELD_LEAST : cnt;
}

void device_clock__close(struct device_clock *c)
{
	if (!c)
		return;
	recording_cursor__close(c->cursor);
	free(c->held);
	free(c->running);
	free(c);
}

uint64_t busy_time__add(struct busy_time *t, uint64_t begin_ns, uint64_t end_ns)
{
	const uint64_t from_ns = begin_ns > t->until_ns ? begin_ns : t->until_ns;
	const uint64_t more_ns = end_ns > from_ns ? end_ns - from_ns : 0;

	if (more_ns)
		t->until_ns = end_ns;
	t->total_ns += more_ns;
	return more_ns;
}
