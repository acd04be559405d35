// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/device_feed.h"
#include "analysis/analysis.h"

/* Work that was launched before the window may not be recorded. Calls in the window may have waited
 * for it. */
static void note_from_before(struct analysis *a, const struct device_work *w)
{
	const int device = w->track->device;
	struct first_work *first = &a->feed.first[device & (FEED_DEVICES - 1)];

	if (!w->is_from_before || w->continued || device < 0 || device >= FEED_DEVICES ||
	    (first->seen && w->begin_ns >= first->begin_ns))
		return;
	*first = (struct first_work){
		.seen = true,
		.begin_ns = w->begin_ns,
		.launched_ns = analysis__window(a).begin,
	};
}

static int take_work(const struct device_work *w, void *ctx)
{
	struct analysis *a = ctx;

	note_from_before(a, w);
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

static uint64_t length_between(const struct analysis *a, uint64_t begin_ns, uint64_t end_ns)
{
	struct stretch part;
	uint64_t ns = 0;

	for (size_t at = 0; analysis__part(a, begin_ns, end_ns, &at, &part);)
		ns += part.end - part.begin;
	return ns;
}

uint64_t analysis__clock_ns(const struct analysis *a, int device)
{
	return length_between(a, first_work__known_from(a, device),
			      coverage__is_partial(a) ? a->coverage.end_ns : UINT64_MAX);
}

int device_feed__note_table(const struct analysis *a, struct table *t)
{
	int err = 0;

	for (int i = 0; i < FEED_DEVICES && !err; i++) {
		const uint64_t unknown_ns = length_between(a, 0, first_work__known_from(a, i));

		if (a->feed.first[i].seen && unknown_ns)
			err = table__add_notef(t,
					       "GPU%d: not known for the first %s, in which it did "
					       "what was launched before the window.",
					       i, time_text(a, unknown_ns).s);
	}
	return err;
}

const char *analysis__clock_name(const struct analysis *a)
{
	return a->steps.calls ? "the steps" : "the window";
}
