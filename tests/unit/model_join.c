// SPDX-License-Identifier: BSD-2-Clause
/* Each device event must be in the batch of its launch, however far apart they lie. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include "common/util.h"
#include "model_synth.h"

TestSuite(model_join);

#define STEP_NS	 1000
#define LAUNCHES 20 /* of a step */

struct job {
	uint64_t steps, lag; /* lag: steps that the device is behind */
	uint32_t devices, streams;
	uint32_t nodes;	   /* device events of a launch: more than 1 for a graph */
	uint32_t chunk;	   /* events of a chunk of the file */
	unsigned int seed; /* not 0: device events are in random places of the file */
	bool endless;	   /* the first launch's kernel lasts as long as the recording */
	uint32_t lost;	   /* one of so many launches is not in the recording; 0: all are there */
	uint32_t earlier;  /* device events of launches from before the recording */
};

struct put {
	uint64_t at; /* place in the file */
	struct event e;
};

struct puts {
	struct put *items;
	size_t cnt, cap;
};

static void add(struct puts *p, uint64_t at, const struct event *e)
{
	const struct put one = {at, *e};

	cr_assert_eq(ARRAY_PUSH(p->items, p->cnt, p->cap, one), 0);
}

static int by_place(const void *a, const void *b)
{
	const struct put *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static bool is_lost(const struct job *j, uint64_t id)
{
	return j->lost && id % j->lost == 1;
}

/* Ids of the recording's launches count from here. */
static uint64_t first_id(const struct job *j)
{
	return j->earlier + 1;
}

static void add_device(struct synth *s, const struct job *j, struct puts *p, uint64_t id,
		       uint64_t launch_ns, const uint32_t *streams)
{
	const uint32_t stream = streams[id % ((uint64_t)j->devices * j->streams)];
	const uint64_t begin = launch_ns + j->lag * STEP_NS;
	struct event e = synth__event(s, stream, CAT_KERNEL, "gemm", begin, begin + 5);
	uint64_t at = e.ts_ns + e.dur_ns;

	e.type = EVENT_DEVICE;
	e.id = id;
	if (j->endless && id == first_id(j)) {
		e.dur_ns = (j->steps + j->lag + 1) * STEP_NS;
		at = e.ts_ns + e.dur_ns;
	}
	for (uint32_t i = 0; i < j->nodes; i++)
		add(p, j->seed ? (uint64_t)rand() % (j->steps * STEP_NS) : at, &e);
}

static void add_step(struct synth *s, const struct job *j, struct puts *p, uint64_t step,
		     const uint32_t *streams)
{
	const uint64_t begin = step * STEP_NS;
	const struct event mark = {.ts_ns = begin,
				   .dur_ns = STEP_NS,
				   .id = step,
				   .track = s->main,
				   .type = EVENT_STEP};

	for (uint64_t i = 0; i < LAUNCHES; i++) {
		const uint64_t t = begin + 1 + 10 * i, id = first_id(j) + step * LAUNCHES + i;
		struct event e = synth__event(s, i % 2 ? s->main : s->other, CAT_RUNTIME, "launch",
					      t, t + 4);

		e.id = id;
		if (!is_lost(j, id))
			add(p, t + 4, &e);
		add_device(s, j, p, id, t, streams);
	}
	add(p, begin + STEP_NS, &mark);
}

static void write_job(struct synth *s, const struct job *j)
{
	uint32_t streams[16];
	struct puts p = {};

	srand(j->seed);
	for (uint32_t i = 0; i < j->devices * j->streams; i++)
		streams[i] = synth__stream(s, (int)(i % j->devices), 7 + i / j->devices);
	for (uint64_t id = 1; id < first_id(j); id++)
		add_device(s, j, &p, id, 0, streams);
	for (uint64_t i = 0; i < j->steps; i++)
		add_step(s, j, &p, i, streams);
	qsort(p.items, p.cnt, sizeof(*p.items), by_place);
	for (size_t i = 0; i < p.cnt; i++) {
		synth__write(s, &p.items[i].e);
		if (j->chunk && i % j->chunk == 0)
			cr_assert_eq(recording_writer__flush(s->w), 0);
	}
	free(p.items);
}

struct seen {
	const struct job *job;
	uint64_t owned, unlinked, misplaced;
};

static void check_device(struct seen *n, const struct batch *b, const struct span *d)
{
	const struct job *j = n->job;

	if (!d->launch) {
		n->unlinked++;
		return;
	}
	n->owned++;
	n->misplaced += d->launch->ev.id != d->ev.id || !b->step ||
			b->step->index != (d->ev.id - first_id(j)) / LAUNCHES;
}

static int check_batch(const struct batch *b, void *ctx)
{
	for (size_t i = 0; i < b->track_cnt; i++)
		for (const struct span *d = b->tracks[i].roots; d; d = d->next_sibling)
			if (b->tracks[i].track->kind == TRACK_DEVICE)
				check_device(ctx, b, d);
	return 0;
}

static uint32_t at_least_one(uint32_t n)
{
	return n ? n : 1;
}

static void expect_join(struct job job)
{
	const struct job *j = &job;
	struct synth s = synth__new("{}");
	struct model_stats stats = {};
	const struct model_opts opts = {.stats = &stats};
	struct seen n = {.job = j};
	const uint64_t launches = j->steps * LAUNCHES;
	uint64_t lost = 0;

	job.devices = at_least_one(job.devices);
	job.streams = at_least_one(job.streams);
	job.nodes = at_least_one(job.nodes);
	for (uint64_t i = 0; i < launches; i++)
		lost += is_lost(j, first_id(j) + i);
	write_job(&s, j);
	synth__open(&s, NULL);
	cr_assert_eq(model__run(s.r, &opts, check_batch, &n), 0);
	cr_expect_eq(n.owned, (launches - lost) * job.nodes, "lag %lu: %lu owned", j->lag, n.owned);
	cr_expect_eq(n.misplaced, 0, "lag %lu: %lu misplaced", j->lag, n.misplaced);
	cr_expect_eq(n.unlinked, (lost + j->earlier) * j->nodes, "lag %lu: %lu unlinked", j->lag,
		     n.unlinked);
	cr_expect_eq(stats.unlinked, n.unlinked);
	cr_expect_eq(stats.malformed, 0);
	synth__free(&s);
}

#define JOB(...) ((struct job){__VA_ARGS__})

Test(model_join, a_device_that_is_any_number_of_steps_behind)
{
	static const uint64_t lags[] = {0, 1, 2, 3, 16, 300, 1000};

	for (size_t i = 0; i < ARRAY_SIZE(lags); i++) {
		expect_join(JOB(.steps = 350, .lag = lags[i]));
		expect_join(JOB(.steps = 350, .lag = lags[i], .chunk = 100));
	}
}

Test(model_join, devices_and_streams)
{
	expect_join(JOB(.steps = 100, .lag = 40, .devices = 4, .streams = 3, .chunk = 500));
}

Test(model_join, graphs_have_many_device_events_on_one_id)
{
	expect_join(JOB(.steps = 60, .lag = 16, .nodes = 50));
	expect_join(JOB(.steps = 60, .lag = 16, .nodes = 50, .chunk = 70));
}

/* More chunks than are kept: some are read again. */
Test(model_join, device_events_in_any_order_in_the_file)
{
	for (unsigned int seed = 1; seed <= 3; seed++) {
		expect_join(JOB(.steps = 100, .seed = seed));
		expect_join(JOB(.steps = 100, .seed = seed, .chunk = 40, .nodes = 2));
	}
}

Test(model_join, a_kernel_as_long_as_the_recording)
{
	expect_join(JOB(.steps = 200, .lag = 3, .chunk = 50, .endless = true));
}

Test(model_join, what_has_no_launch_is_counted)
{
	expect_join(JOB(.steps = 50, .lag = 7, .lost = 10, .chunk = 100));
	expect_join(JOB(.steps = 50, .lag = 7, .earlier = 500, .chunk = 100));
	expect_join(JOB(.steps = 50, .lag = 7, .earlier = 13, .lost = 2, .nodes = 3));
}

/* Ids are unique only within a process. Another process's ids are other launches. */
Test(model_join, ids_of_another_process)
{
	struct synth s = synth__new("{}");
	const struct track t = {.kind = TRACK_DEVICE, .pid = 200, .device = 0, .stream = 7};
	uint32_t theirs = recording_writer__track(s.w, &t), ours = synth__stream(&s, 0, 7);

	synth__launch(&s, synth__thread(&s, 200, 200, "theirs"), 5, 20, 26);
	synth__launch(&s, s.main, 5, 30, 36);
	synth__kernel(&s, ours, CAT_KERNEL, "ours", 5, 40, 50);
	synth__kernel(&s, theirs, CAT_KERNEL, "theirs", 5, 40, 50);
	synth__step(&s, 0, 0, 100);
	synth__expect_tree(
		&s, "step 0 [0,100) cpu 100 D 0 F 0 B 0 O 0 other 100\n"
		    " track 1\n"
		    "  Runtime launch [30,36) cpu 6 self 6 device 10 kernel 10\n"
		    " track 5\n"
		    "  Runtime launch [20,26) cpu 6 self 6 device 10 kernel 10\n"
		    " track 3\n"
		    "  Kernel theirs [40,50) cpu 0 self 0 device 10 kernel 10 by launch at 20\n"
		    " track 4\n"
		    "  Kernel ours [40,50) cpu 0 self 0 device 10 kernel 10 by launch at 30\n");
}
