// SPDX-License-Identifier: BSD-2-Clause
/* Scheduling by step: how long each thread ran, was runnable and was blocked, and what it waited
 * for longest. */
#include <stdlib.h>
#include <string.h>
#include "analysis/analysis.h"
#include "common/util.h"

/* One thread in one step. */
struct slice {
	uint64_t step;
	uint32_t track;
	uint32_t reason; /* name of the longest wait, runnable or blocked; 0: unknown */
	uint64_t state_ns[SCHED_BLOCKED + 1];
	uint64_t reason_ns;
};

static int by_step(const void *x, const void *y)
{
	const struct sched_row *p = *(const struct sched_row *const *)x,
			       *q = *(const struct sched_row *const *)y;

	if (p->step != q->step)
		return p->step < q->step ? -1 : 1;
	if (p->track != q->track)
		return p->track < q->track ? -1 : 1;
	return p->reason < q->reason ? -1 : p->reason > q->reason;
}

/* Within a step, the thread that ran most comes first. */
static int by_run(const void *x, const void *y)
{
	const struct slice *p = x, *q = y;

	if (p->step != q->step)
		return p->step < q->step ? -1 : 1;
	if (p->state_ns[SCHED_RUN] != q->state_ns[SCHED_RUN])
		return p->state_ns[SCHED_RUN] > q->state_ns[SCHED_RUN] ? -1 : 1;
	return p->track < q->track ? -1 : p->track > q->track;
}

/* rows: one thread in one step; rows of the same reason are adjacent. */
static struct slice sum(const struct sched_row *const *rows, size_t cnt)
{
	struct slice s = {.step = rows[0]->step, .track = rows[0]->track};
	uint64_t waited = 0;

	for (size_t i = 0; i < cnt; i++) {
		s.state_ns[rows[i]->state] += rows[i]->ns;
		if (i && rows[i]->reason != rows[i - 1]->reason)
			waited = 0;
		if (!rows[i]->reason || rows[i]->state == SCHED_RUN)
			continue;
		waited += rows[i]->ns;
		if (waited > s.reason_ns) {
			s.reason_ns = waited;
			s.reason = rows[i]->reason;
		}
	}
	return s;
}

/* Fills the slices of the steps, in order. slices: room for as many as there are rows. */
static int list_slices(const struct analysis *a, struct slice *slices, size_t *cnt)
{
	const struct sched_row *all;
	size_t all_cnt = recording__sched(a->r, &all), n = 0;
	auto_free const struct sched_row **rows = calloc(all_cnt + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < all_cnt; i++)
		if (all[i].state >= SCHED_RUN && all[i].state <= SCHED_BLOCKED &&
		    analysis__has_step(a, all[i].step))
			rows[n++] = &all[i];
	qsort(rows, n, sizeof(*rows), by_step);
	*cnt = 0;
	for (size_t begin = 0, end; begin < n; begin = end) {
		for (end = begin + 1; end < n && rows[end]->step == rows[begin]->step &&
				      rows[end]->track == rows[begin]->track;)
			end++;
		slices[(*cnt)++] = sum(rows + begin, end - begin);
	}
	qsort(slices, *cnt, sizeof(*slices), by_run);
	return 0;
}

static int add_slice(const struct analysis *a, struct table *t, const struct slice *s)
{
	uint64_t waited = s->state_ns[SCHED_RUNNABLE] + s->state_ns[SCHED_BLOCKED];
	char name[128] = "";
	struct cell cells[] = {
		cell__count(s->step),
		cell__text(name),
		cell__time(s->state_ns[SCHED_RUN]),
		cell__time(s->state_ns[SCHED_RUNNABLE]),
		cell__time(s->state_ns[SCHED_BLOCKED]),
		s->reason ? cell__text(analysis__name(a, s->reason))
			  : cell__none(waited ? "the kernel does not say it" : "it never waited"),
		s->reason ? cell__time(s->reason_ns) : cell__none("no reason is known"),
	};

	analysis__thread(a, s->track, name, sizeof(name));
	return table__add_row(t, 0, cells);
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	const struct column columns[] = {
		{"step", "Step", 6, NULL, CELL_COUNT},
		{"thread", "Thread", 20, NULL, CELL_TEXT},
		{"run", "Run", 10, NULL, CELL_TIME},
		{"runnable", "Runnable", 10, NULL, CELL_TIME},
		{"blocked", "Blocked", 10, NULL, CELL_TIME},
		{"waited_for", "Waited Longest For", 18, NULL, CELL_TEXT, 1},
		{"waited", "That Long", 10, NULL, CELL_TIME, 2},
	};
	const struct sched_row *all;
	auto_free struct slice *slices = calloc(recording__sched(a->r, &all) + 1, sizeof(*slices));
	size_t cnt = 0;
	int err = slices ? table__add_columns(t, columns, ARRAY_SIZE(columns)) : -ENOMEM;

	if (!err)
		err = list_slices(a, slices, &cnt);
	for (size_t i = 0; i < cnt && !err; i++)
		err = add_slice(a, t, &slices[i]);
	if (!err && !cnt)
		err = table__add_note(t, a->steps.calls ? "No scheduling was recorded."
							: "No step was recorded.");
	return err;
}

const struct table_impl table_sched_steps = {
	.def = {"sched_steps", "the same by step: each thread's times, and its longest wait",
		false},
	.title = "Scheduling of Each Step",
	.fill = fill,
};
