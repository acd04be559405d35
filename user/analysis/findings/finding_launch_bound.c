// SPDX-License-Identifier: BSD-2-Clause
/* The device runs kernels faster than the host launches them, and is idle in between. */
#include "analysis/findings/by_operator.h"
#include "analysis/findings/finding.h"
#include "analysis/findings/host_waits.h"
#include <stdlib.h>
#include "common/counted.h"
#include "common/util.h"

#define WORTH_SAYING 10.0 /* percent of the step that the device is idle between launches */
/* work that begins within this time after its launch did not wait for other work */
#define SOON_NS 10000
/* longest pause between launches; in a longer one the host did something else */
#define LAUNCHING_NS 1000000
#define MAX_DEVICES  64

struct launch_bound {
	struct launched_device {
		struct by_operator by;
		uint64_t kernels, kernel_ns;
		uint64_t late,
			gap_ns;	     /* the idle time before late kernels, and how many these are */
		uint64_t between_ns; /* time between the launches of late kernels and those
					before them */
		/* The device's busy time in the current step, whoever launched the work. */
		struct busy_time busy;
		struct stretch *idle;
		size_t idle_cnt, idle_cap;
	} devices[MAX_DEVICES];
	const struct batch *noted; /* the batch that the idle times belong to */
	uint64_t probes_ns;	   /* cost of the probes on threads other than that of the steps */
	/* Of one batch: what one device did, and when waits of the host for any device began. */
	const struct span **work;
	size_t cnt, cap;
	uint64_t *waits;
	size_t wait_cnt, wait_cap;
};

static void begin_step(struct launch_bound *l, const struct batch *b)
{
	l->noted = b;
	for (int i = 0; i < MAX_DEVICES; i++) {
		l->devices[i].idle_cnt = 0;
		if (l->devices[i].busy.until_ns < b->step->ts_ns)
			l->devices[i].busy.until_ns = b->step->ts_ns;
	}
}

static int visit_work(const struct analysis *a, void *state, const struct device_work *w)
{
	struct launch_bound *l = state;
	struct launched_device *d = &l->devices[w->track->device & (MAX_DEVICES - 1)];
	const struct stretch idle = {d->busy.until_ns, w->begin_ns};
	int err = 0;

	if (w->track->device < 0 || w->track->device >= MAX_DEVICES)
		return 0;
	if (l->noted != a->feed.batch) {
		begin_step(l, a->feed.batch);
		return visit_work(a, state, w);
	}
	if (idle.begin < idle.end)
		err = ARRAY_PUSH(d->idle, d->idle_cnt, d->idle_cap, idle);
	busy_time__add(&d->busy, w->begin_ns, w->end_ns);
	return err;
}

static uint64_t overlap(const struct stretch *s, uint64_t begin_ns, uint64_t end_ns)
{
	const uint64_t from_ns = s->begin > begin_ns ? s->begin : begin_ns;
	const uint64_t to_ns = s->end < end_ns ? s->end : end_ns;

	return from_ns < to_ns ? to_ns - from_ns : 0;
}

/* How long the device was idle between two works of a step, within the step. */
static uint64_t idle_between(const struct launched_device *d, const struct step *step,
			     uint64_t begin_ns, uint64_t end_ns)
{
	const struct stretch last = {d->busy.until_ns, step->ts_ns + step->dur_ns};
	uint64_t ns = overlap(&last, begin_ns, end_ns);
	size_t i = COUNT_FIRST(d->idle_cnt, k, d->idle[k].end <= begin_ns);

	for (; i < d->idle_cnt && d->idle[i].begin < end_ns; i++)
		ns += overlap(&d->idle[i], begin_ns, end_ns);
	return ns;
}

static int add_track(struct launch_bound *l, const struct track_batch *t)
{
	int err = 0;

	for (const struct span *s = t->roots; s && !err; s = s->next_sibling)
		if (span_kind__is_device_work(s->kind))
			err = ARRAY_PUSH(l->work, l->cnt, l->cap, s);
	return err;
}

static int by_begin(const void *a, const void *b)
{
	const struct span *x = *(const struct span *const *)a, *y = *(const struct span *const *)b;

	return (x->ev.ts_ns > y->ev.ts_ns) - (x->ev.ts_ns < y->ev.ts_ns);
}

static int add_waits(const struct analysis *a, struct launch_bound *l, const struct track_batch *t)
{
	int err = 0;

	for (const struct span *s = t->roots; s && !err; s = span__next(s, NULL))
		if (span__is_wait(a, s))
			err = ARRAY_PUSH(l->waits, l->wait_cnt, l->wait_cap, s->ev.ts_ns);
	return err;
}

static int by_time(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool waited_between(const struct launch_bound *l, uint64_t begin, uint64_t end)
{
	const size_t before = COUNT_FIRST(l->wait_cnt, i, l->waits[i] < begin);

	return before < l->wait_cnt && l->waits[before] < end;
}

/* Did s come late because the host was still launching? The device had finished all earlier
 * work. */
static bool is_late(const struct launch_bound *b, const struct span *s, const struct span *before)
{
	const struct span *l = s->launch, *last = before->launch;

	/* All kernels of one graph have the same launch. */
	if (s->kind != KIND_KERNEL || !l || !last || l == last || l->ev.ts_ns < last->ev.ts_ns)
		return false;
	return s->ev.ts_ns <= l->ev.ts_ns + l->ev.dur_ns + SOON_NS &&
	       l->ev.ts_ns - last->ev.ts_ns <= LAUNCHING_NS &&
	       !waited_between(b, last->ev.ts_ns, l->ev.ts_ns);
}

static int add_gaps(const struct analysis *a, struct launch_bound *l, struct launched_device *d,
		    const struct step *step)
{
	uint64_t done_ns = UINT64_MAX; /* when the device finished all work so far */
	int err = 0;

	if (l->cnt)
		qsort(l->work, l->cnt, sizeof(*l->work), by_begin);
	for (size_t i = 0; i < l->cnt && !err; i++) {
		const struct span *s = l->work[i];
		const uint64_t end_ns = s->ev.ts_ns + s->ev.dur_ns;

		d->kernels += s->kind == KIND_KERNEL;
		d->kernel_ns += s->kind == KIND_KERNEL ? s->ev.dur_ns : 0;
		if (s->ev.ts_ns > done_ns && is_late(l, s, l->work[i - 1])) {
			const uint64_t gap_ns = idle_between(d, step, done_ns, s->ev.ts_ns);

			d->late++;
			d->gap_ns += gap_ns;
			d->between_ns += s->launch->ev.ts_ns - l->work[i - 1]->launch->ev.ts_ns;
			err = by_operator__add(a, &d->by, s->launch, gap_ns);
		}
		if (!i || end_ns > done_ns)
			done_ns = end_ns;
	}
	return err;
}

static uint64_t probes_ns(const struct track_batch *t)
{
	uint64_t ns = 0;

	for (const struct span *s = t->roots; s; s = s->next_sibling)
		ns += s->ev.dur_ns - s->cpu_ns;
	return ns;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct launch_bound *l = state;
	int err = 0;

	if (l->noted != b)
		begin_step(l, b);
	l->noted = NULL;
	l->wait_cnt = 0;
	for (size_t i = 0; i < b->track_cnt && !err; i++) {
		if (!analysis__is_main(a, b->tracks[i].track))
			continue;
		if (b->tracks[i].track->id != b->step->track)
			l->probes_ns += probes_ns(&b->tracks[i]);
		err = add_waits(a, l, &b->tracks[i]);
	}
	if (l->wait_cnt)
		qsort(l->waits, l->wait_cnt, sizeof(*l->waits), by_time);
	for (int device = 0; device < MAX_DEVICES && !err; device++) {
		l->cnt = 0;
		for (size_t i = 0; i < b->track_cnt && !err; i++) {
			const struct track *t = b->tracks[i].track;

			if (t->kind == TRACK_DEVICE && t->device == device)
				err = add_track(l, &b->tracks[i]);
		}
		if (!err)
			err = add_gaps(a, l, &l->devices[device], b->step);
	}
	return err;
}

static int judge(const struct analysis *a, void *state, struct finding *f)
{
	const struct launch_bound *l = state;
	const struct launched_device *d = &l->devices[0];
	struct top_operator top;
	uint64_t ours_ns, gap_ns;

	for (int i = 1; i < MAX_DEVICES; i++)
		if (l->devices[i].gap_ns > d->gap_ns)
			d = &l->devices[i];
	/* The cost of the probes on a launching thread is part of these gaps. */
	ours_ns = l->probes_ns + a->model.subtracted_ns;
	gap_ns = ready_time__off(a, d->gap_ns > ours_ns ? d->gap_ns - ours_ns : 0);
	if (!d->late || finding__percent(a, gap_ns) < WORTH_SAYING ||
	    !by_operator__top(a, &d->by, &top))
		return 0;
	f->cost_ns = finding__per_step(a, gap_ns);
	f->cause = CAUSE_LAUNCHES;
	snprintf(f->what, sizeof(f->what),
		 "GPU%td runs kernels faster than the host launches them: idle in between for "
		 "%.0f %% of the step.",
		 d - l->devices, finding__percent(a, gap_ns));
	snprintf(f->evidence, sizeof(f->evidence),
		 "%s a step take %s on average; before %.0f %% of them the device is idle, for %s "
		 "each, while the host launches one every %s; most in %s (%.1f a step)",
		 counted(d->kernels / a->steps.calls, "kernel", "kernels").s,
		 time_text(a, d->kernel_ns / d->kernels).s,
		 100.0 * (double)d->late / (double)d->kernels, time_text(a, gap_ns / d->late).s,
		 time_text(a, (d->between_ns - (d->gap_ns - gap_ns)) / d->late).s, top.text,
		 (double)top.calls / (double)a->steps.calls);
	snprintf(f->next, sizeof(f->next),
		 "fewer or longer kernels: CUDA graphs, a compiled model, fused optimizers "
		 "(foreach, fused) or larger batches");
	return 1;
}

static void clean(void *state)
{
	struct launch_bound *l = state;

	for (int i = 0; i < MAX_DEVICES; i++) {
		stat_map__free(&l->devices[i].by.map);
		free(l->devices[i].idle);
	}
	free(l->work);
	free(l->waits);
}

const struct finding_rule finding_launch_bound = {
	.key = "launch_bound",
	.of_host = true,
	.rests_on_device = true,
	.wait_rank = 1,
	.state_size = sizeof(struct launch_bound),
	.visit = visit,
	.visit_work = visit_work,
	.judge = judge,
	.clean = clean,
};
