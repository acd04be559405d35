// SPDX-License-Identifier: BSD-2-Clause
/* Clock time of devices: each event with the part that lies between two moments, in any order of
 * file. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include "common/util.h"
#include "model/device_clock.h"
#include "model_synth.h"

TestSuite(device_clock);

struct plan {
	struct {
		uint64_t begin, end, id;
	} *items;
	size_t cnt;
	uint64_t seed;
};

static uint64_t draw(struct plan *p, uint64_t below)
{
	p->seed = p->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (p->seed >> 33) % below;
}

/* Result of one call; the test compares it with all items that overlap the same time. */
struct seen {
	const struct plan *p;
	uint64_t begin, end, last_begin;
	uint64_t cnt, ns, first;
	struct busy_time busy;
};

static int see(const struct device_work *w, void *ctx)
{
	struct seen *s = ctx;

	cr_assert_geq(w->begin_ns, s->begin);
	cr_assert_leq(w->end_ns, s->end);
	cr_assert_geq(w->begin_ns, s->last_begin, "not by begin");
	cr_assert_eq(w->kind, KIND_KERNEL);
	s->last_begin = w->begin_ns;
	s->cnt++;
	s->first += !w->continued;
	s->ns += w->end_ns - w->begin_ns;
	busy_time__add(&s->busy, w->begin_ns, w->end_ns);
	return 0;
}

/* Computes the same by looking at every moment. */
static void compare(const struct plan *p, const struct seen *s)
{
	uint64_t cnt = 0, ns = 0, busy = 0;
	uint8_t *covered = calloc(s->end - s->begin + 1, 1);

	for (size_t i = 0; i < p->cnt; i++) {
		const uint64_t b = p->items[i].begin > s->begin ? p->items[i].begin : s->begin;
		const uint64_t e = p->items[i].end < s->end ? p->items[i].end : s->end;

		if (b >= s->end || (b >= e && p->items[i].begin < s->begin))
			continue;
		cnt++;
		ns += e - b;
		for (uint64_t t = b; t < e; t++)
			covered[t - s->begin] = 1;
	}
	for (uint64_t t = s->begin; t < s->end; t++)
		busy += covered[t - s->begin];
	free(covered);
	cr_assert_eq(s->cnt, cnt, "%llu of %llu in [%llu,%llu)", (unsigned long long)s->cnt,
		     (unsigned long long)cnt, (unsigned long long)s->begin,
		     (unsigned long long)s->end);
	cr_assert_eq(s->ns, ns);
	cr_assert_eq(s->busy.total_ns, busy);
}

/* Most ends come in order, and most kernels are short. A few are not. */
static void run(uint64_t seed, size_t limit)
{
	struct plan p = {.seed = seed};
	struct synth s = synth__new("{}");
	const uint32_t streams[] = {synth__stream(&s, 0, 7), synth__stream(&s, 0, 9),
				    synth__stream(&s, 1, 7)};
	struct device_clock *c;
	uint64_t at = 0, total_first = 0;

	p.cnt = 200 + draw(&p, 1500);
	p.items = calloc(p.cnt, sizeof(*p.items));
	for (size_t i = 0; i < p.cnt; i++) {
		const uint64_t long_ns = draw(&p, 50) ? 30 : 4000;
		const uint64_t dur = draw(&p, 20) ? draw(&p, long_ns) : 0;
		const uint64_t late = draw(&p, 30) ? draw(&p, 20) : draw(&p, 3000);
		const uint64_t end = at > late ? at - late : at;

		p.items[i].begin = end > dur ? end - dur : 0;
		p.items[i].end = end;
		synth__kernel(&s, streams[draw(&p, 3)], CAT_KERNEL, "k", i, p.items[i].begin, end);
		synth__launch(&s, s.main, i, at, at + 1);
		at += draw(&p, 20);
	}
	synth__open(&s, NULL);
	cr_assert_eq(device_clock__open(s.r, &c), 0);
	if (limit)
		device_clock__limit(c, limit);
	for (uint64_t from = draw(&p, 100); from < at + 100;) {
		struct seen seen = {.p = &p, .begin = from, .end = from + 1 + draw(&p, 2000)};

		cr_assert_eq(device_clock__between(c, seen.begin, seen.end, see, &seen), 0);
		compare(&p, &seen);
		total_first += seen.first;
		from = seen.end + (draw(&p, 2) ? draw(&p, 50) : 0);
	}
	cr_assert_leq(total_first, p.cnt, "an event was new twice");
	device_clock__close(c);
	free(p.items);
	synth__free(&s);
}

Test(device_clock, each_event_with_its_part)
{
	for (uint64_t seed = 1; seed <= 40; seed++)
		run(seed, 0);
}

/* Reading the file in several passes gives the same result. */
Test(device_clock, holding_few_events_is_as_exact)
{
	for (uint64_t seed = 100; seed <= 120; seed++)
		run(seed, 2 + seed % 40);
}

static int count(const struct device_work *w, void *ctx)
{
	*(uint64_t *)ctx += w->end_ns - w->begin_ns;
	return 0;
}

Test(device_clock, nothing_but_work_counts)
{
	struct synth s = synth__new("{}");
	const uint32_t stream = synth__stream(&s, 0, 7);
	struct device_clock *c;
	uint64_t ns = 0;

	synth__kernel(&s, stream, CAT_KERNEL, "k", 1, 10, 20);
	synth__kernel(&s, stream, CAT_MEMCPY, "Memcpy HtoD", 2, 20, 23);
	synth__kernel(&s, stream, CAT_MEMSET, "Memset", 3, 23, 24);
	synth__kernel(&s, stream, CAT_SYNC, "Stream Sync", 4, 24, 90);
	synth__open(&s, NULL);
	cr_assert_eq(device_clock__open(s.r, &c), 0);
	cr_assert_eq(device_clock__between(c, 0, UINT64_MAX, count, &ns), 0);
	cr_assert_eq(ns, 14);
	device_clock__close(c);
	synth__free(&s);
}
