// SPDX-License-Identifier: BSD-2-Clause
/* The scheduler in a session: its rows and totals of each window. */
#include "capture/capture_ring.h"
#include "capture/session.h"

static uint32_t track(void *ctx, uint32_t pid, uint32_t tid, const char *comm)
{
	return decoder__named_track(ctx, pid, tid, *comm ? comm : NULL);
}

static int fit(struct session *s, uint64_t *next_ns)
{
	(void)next_ns;
	return s->sched ? sched_source__fit(s->sched, capture_ring__unread_ns(s)) : 0;
}

static int empty_maps(struct session *s, uint64_t *next_ns)
{
	(void)next_ns;
	return s->sched ? sched_source__poll(s->sched) : 0;
}

static int write_rows(struct session *s, json_t *summary)
{
	struct sched_sink sink = {
		.writer = s->window.writer, .track = track, .ctx = s->records.decoder};
	struct sched_totals totals = {0};
	int err;

	if (!s->sched)
		return 0;
	err = sched_source__drain(s->sched, s->window.open_ns, s->window.close_ns, sched_sink__row,
				  &sink, &totals);
	if (err)
		return err;
	json_object_set_new(summary, "cpu", sched_totals__json(&totals));
	sched_totals__free(&totals);
	return 0;
}

const struct component component_scheduler = {
	.name = "scheduler",
	.poll = fit,
	.window_finish = write_rows,
};

/* Once a second, moves the sums out of the kernel's maps, since these are bounded. */
const struct component component_scheduler_sums = {
	.name = "scheduler sums",
	.poll = empty_maps,
	.every_ms = 1000,
};
