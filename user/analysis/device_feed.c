// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/device_feed.h"
#include "analysis/analysis.h"

static int take_work(const struct device_work *w, void *ctx)
{
	struct analysis *a = ctx;

	if (a->feed.batch)
		gpu_wait__add(a, w);
	return a->feed.take(w, a->feed.ctx);
}

static int feed(struct analysis *a, uint64_t begin_ns, uint64_t end_ns)
{
	int err = a->feed.clock ? 0 : device_clock__open(a->r, &a->feed.clock);

	return err ? err : device_clock__between(a->feed.clock, begin_ns, end_ns, take_work, a);
}

int device_feed__step(struct analysis *a, const struct batch *b,
		      int (*take)(const struct device_work *w, void *ctx), void *ctx)
{
	int err;

	if (!b->step || !a->has_device)
		return 0;
	a->feed.batch = b;
	a->feed.take = take;
	a->feed.ctx = ctx;
	err = gpu_wait__begin_step(a, b);
	if (!err)
		err = feed(a, b->step->ts_ns, b->step->ts_ns + b->step->dur_ns);
	a->feed.batch = NULL;
	return err ? err : gpu_wait__end_step(a);
}

int device_feed__window(struct analysis *a, int (*take)(const struct device_work *w, void *ctx),
			void *ctx)
{
	const struct stretch w = analysis__window(a);

	if (a->steps.calls || !a->has_device)
		return 0;
	a->feed.take = take;
	a->feed.ctx = ctx;
	return feed(a, w.begin, w.end);
}

void device_feed__end(struct analysis *a)
{
	device_clock__close(a->feed.clock);
	a->feed.clock = NULL;
}

uint64_t analysis__clock_ns(const struct analysis *a)
{
	return a->steps.calls ? a->coverage.clock_ns : coverage__known_ns(a);
}

const char *analysis__clock_name(const struct analysis *a)
{
	return a->steps.calls ? "the steps" : "the window";
}
