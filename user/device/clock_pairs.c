// SPDX-License-Identifier: BSD-2-Clause
#include "device/clock_pairs.h"
#include <string.h>
#include "common/util.h"

#define CALLS	    (1u << 18) /* calls are kept for the latest so many correlation ids */
#define WORK_MAX    (1u << 16) /* kept work of one round */
#define WAITS_MAX   8192
#define WAITS_LOOK  64 /* further waits that are checked for one on the work's stream */
#define DEVICES_MAX 64

/* A call that did not fail. */
struct call {
	uint64_t begin_ns;
	uint32_t dur_ns;
	uint32_t id;
	bool is_copy;
};

struct work {
	uint64_t launched_ns; /* when its launch returned */
	uint64_t end_ns;
	uint32_t device, context, stream;
};

struct wait {
	uint64_t begin_ns, end_ns; /* waits for work that was launched before begin_ns; returned
				      at end_ns */
	uint32_t context, stream;
};

struct work_list {
	struct work *items;
	size_t cnt, cap;
};

struct clock_pairs {
	struct call *calls;		/* by correlation id */
	struct work_list fresh, former; /* work of this round and of the previous one */
	struct wait *waits;		/* sorted by begin */
	size_t wait_cnt, wait_cap;
	uint64_t open_ns;
	struct clock_bounds *devices[DEVICES_MAX]; /* NULL: no pair of this device came */
};

struct clock_pairs *clock_pairs__new(void)
{
	struct clock_pairs *p = calloc(1, sizeof(*p));

	if (p)
		p->calls = calloc(CALLS, sizeof(*p->calls));
	if (p && !p->calls) {
		free(p);
		return NULL;
	}
	return p;
}

void clock_pairs__open(struct clock_pairs *p, uint64_t open_ns)
{
	for (size_t i = 0; i < DEVICES_MAX; i++) {
		free(p->devices[i]);
		p->devices[i] = NULL;
	}
	p->open_ns = open_ns;
	p->fresh.cnt = p->former.cnt = p->wait_cnt = 0;
}

void clock_pairs__free(struct clock_pairs *p)
{
	if (!p)
		return;
	clock_pairs__open(p, 0);
	free(p->fresh.items);
	free(p->former.items);
	free(p->waits);
	free(p->calls);
	free(p);
}

/* ---- calls ---- */

void clock_pairs__call(struct clock_pairs *p, const struct shim_call *call, bool is_copy)
{
	const uint64_t dur_ns = call->end_ns - call->begin_ns;

	if (!call->begin_ns || call->end_ns < call->begin_ns || dur_ns > UINT32_MAX || call->flags)
		return;
	p->calls[call->correlation % CALLS] =
		(struct call){call->begin_ns, (uint32_t)dur_ns, call->correlation, is_copy};
}

static const struct call *call_of(const struct clock_pairs *p, uint32_t correlation)
{
	const struct call *c = &p->calls[correlation % CALLS];

	return c->begin_ns && c->id == correlation ? c : NULL;
}

uint64_t clock_pairs__begin_ns(const struct clock_pairs *p, uint32_t correlation)
{
	const struct call *c = call_of(p, correlation);

	return c ? c->begin_ns : 0;
}

/* ---- bounds ---- */

static struct clock_bounds *bounds_of(struct clock_pairs *p, uint32_t device)
{
	struct clock_bounds **b = device < DEVICES_MAX ? &p->devices[device] : NULL;

	if (b && !*b) {
		*b = calloc(1, sizeof(**b));
		if (*b)
			(*b)->origin_ns = p->open_ns;
	}
	return b ? *b : NULL;
}

int clock_pairs__work(struct clock_pairs *p, const struct shim_activity *work, uint64_t begin_ns,
		      uint64_t end_ns, bool to_host)
{
	const struct call *c = call_of(p, work->correlation);
	struct clock_bounds *b = c ? bounds_of(p, work->device) : NULL;

	if (!b)
		return c && work->device < DEVICES_MAX ? -ENOMEM : 0;
	clock_bounds__launched(b, begin_ns, c->begin_ns);
	if (to_host && c->is_copy)
		clock_bounds__awaited(b, end_ns, c->begin_ns + c->dur_ns);
	if (p->fresh.cnt >= WORK_MAX)
		clock_pairs__fit(p);
	return ARRAY_PUSH(p->fresh.items, p->fresh.cnt, p->fresh.cap,
			  ((struct work){c->begin_ns + c->dur_ns, end_ns, work->device,
					 work->context, work->stream}));
}

int clock_pairs__wait(struct clock_pairs *p, uint32_t wait, uint32_t before, uint32_t context,
		      uint32_t stream)
{
	const struct call *c = call_of(p, wait), *from = call_of(p, before);
	struct wait w;
	size_t at;
	int err;

	if (!c || !from)
		return 0;
	w = (struct wait){from->begin_ns, c->begin_ns + c->dur_ns, context, stream};
	if (p->wait_cnt == WAITS_MAX) {
		p->wait_cnt /= 2;
		memmove(p->waits, p->waits + WAITS_MAX - p->wait_cnt,
			p->wait_cnt * sizeof(*p->waits));
	}
	err = ARRAY_PUSH(p->waits, p->wait_cnt, p->wait_cap, w);
	for (at = p->wait_cnt - 1; !err && at && p->waits[at - 1].begin_ns > w.begin_ns; at--)
		p->waits[at] = p->waits[at - 1];
	if (!err)
		p->waits[at] = w;
	return err;
}

/* The first wait for the work ends first. */
static void match(struct clock_pairs *p, const struct work *w)
{
	const size_t first = COUNT_FIRST(p->wait_cnt, i, p->waits[i].begin_ns < w->launched_ns);

	for (size_t i = first; i < p->wait_cnt && i - first < WAITS_LOOK; i++) {
		const struct wait *wait = &p->waits[i];

		if (wait->context != w->context ||
		    (wait->stream != w->stream && wait->stream != CLOCK_ALL_STREAMS))
			continue;
		clock_bounds__awaited(p->devices[w->device], w->end_ns, wait->end_ns);
		return;
	}
}

void clock_pairs__fit(struct clock_pairs *p)
{
	const struct work_list former = p->former;

	for (size_t i = 0; i < former.cnt; i++)
		match(p, &former.items[i]);
	p->former = p->fresh;
	p->fresh = former;
	p->fresh.cnt = 0;
}

void clock_pairs__lines(struct clock_pairs *p,
			void (*take)(void *ctx, uint32_t device, uint64_t origin_ns,
				     const struct clock_line *line),
			void *ctx)
{
	clock_pairs__fit(p);
	clock_pairs__fit(p);
	for (uint32_t i = 0; i < DEVICES_MAX; i++) {
		const struct clock_line line =
			p->devices[i] ? clock_bounds__line(p->devices[i]) : (struct clock_line){0};

		if (p->devices[i])
			take(ctx, i, p->devices[i]->origin_ns, &line);
	}
}
