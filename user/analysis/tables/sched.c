// SPDX-License-Identifier: BSD-2-Clause
/* Scheduling: how each thread spent the time of the steps, and what it waited for. */
#include <stdlib.h>
#include "analysis/analysis.h"
#include "common/util.h"

#define TOP_REASONS 3

static const char *const state_names[] = {
	[SCHED_RUN] = "run", [SCHED_RUNNABLE] = "runnable", [SCHED_BLOCKED] = "blocked"};

/* Keys: group is the track, id the state (0: the whole thread), child the reason (0: all of the
 * state). */
static int add(struct stat_map *m, struct stat_key key, const struct sched_row *r)
{
	struct stat *s = stat_map__at(m, &key);

	if (!s)
		return -ENOMEM;
	s->calls += r->cnt;
	s->cpu.total += r->ns;
	return 0;
}

static int sum(const struct analysis *a, struct stat_map *m)
{
	const struct sched_row *rows;
	size_t cnt = recording__sched(a->r, &rows);
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		const struct sched_row *r = &rows[i];

		if (r->state < SCHED_RUN || r->state > SCHED_BLOCKED)
			continue;
		/* Averages are over whole steps. */
		if (a->steps.calls && !analysis__has_step(a, r->step))
			continue;
		err = add(m, (struct stat_key){r->track, 0, 0, 0}, r);
		if (!err)
			err = add(m, (struct stat_key){r->track, r->state, 0, 0}, r);
		if (!err && r->reason)
			err = add(m, (struct stat_key){r->track, r->state, r->reason, 0}, r);
	}
	return err;
}

struct thread {
	uint32_t track;
	uint64_t run_ns, all_ns;
};

static int by_run(const void *x, const void *y)
{
	const struct thread *p = x, *q = y;

	if (p->run_ns != q->run_ns)
		return p->run_ns > q->run_ns ? -1 : 1;
	return p->track < q->track ? -1 : p->track > q->track;
}

static int add_line(const struct analysis *a, struct table *t, int indent, const char *name,
		    const struct stat *s, uint64_t whole)
{
	uint64_t steps = a->steps.calls;
	struct cell cells[] = {
		cell__text(name),
		cell__count(s->calls),
		cell__time(s->cpu.total),
		steps ? cell__time((s->cpu.total + steps / 2) / steps) : cell__none("no steps"),
		cell__share(s->cpu.total, whole),
	};

	return table__add_row(t, indent, cells);
}

static int by_total(const void *x, const void *y)
{
	const struct stat_row *p = *(struct stat_row *const *)x, *q = *(struct stat_row *const *)y;

	if (p->stat.cpu.total != q->stat.cpu.total)
		return p->stat.cpu.total > q->stat.cpu.total ? -1 : 1;
	return p->key.child < q->key.child ? -1 : p->key.child > q->key.child;
}

static int add_reasons(const struct analysis *a, struct table *t, struct stat_row **rows,
		       size_t cnt, uint64_t whole)
{
	int err = 0;

	qsort(rows, cnt, sizeof(struct stat_row *), by_total);
	for (size_t i = 0; i < cnt && i < TOP_REASONS && !err; i++)
		err = add_line(a, t, 2, analysis__name(a, rows[i]->key.child), &rows[i]->stat,
			       whole);
	return err;
}

/* rows: one thread's states and reasons. */
static int add_thread(const struct analysis *a, struct table *t, const struct thread *th,
		      struct stat_row **rows, size_t cnt, struct stat_row **reasons)
{
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		const struct stat_row *row = rows[i];
		size_t n = 0;
		char name[128];

		if (row->key.child)
			continue;
		analysis__thread(a, th->track, name, sizeof(name));
		err = add_line(a, t, row->key.id ? 1 : 0,
			       row->key.id ? state_names[row->key.id] : name, &row->stat,
			       th->all_ns);
		for (size_t j = 0; j < cnt; j++)
			if (row->key.id && rows[j]->key.child && rows[j]->key.id == row->key.id)
				reasons[n++] = rows[j];
		if (!err && n)
			err = add_reasons(a, t, reasons, n, th->all_ns);
	}
	return err;
}

static int by_track(const void *x, const void *y)
{
	const struct stat_row *p = *(struct stat_row *const *)x, *q = *(struct stat_row *const *)y;

	if (p->key.group != q->key.group)
		return p->key.group < q->key.group ? -1 : 1;
	if (p->key.id != q->key.id)
		return p->key.id < q->key.id ? -1 : 1;
	return p->key.child < q->key.child ? -1 : p->key.child > q->key.child;
}

static size_t list_threads(struct stat_row **rows, size_t cnt, struct thread *threads)
{
	size_t n = 0;

	for (size_t i = 0; i < cnt; i++) {
		const struct stat_row *r = rows[i];

		if (!r->key.id)
			threads[n++] = (struct thread){r->key.group, 0, r->stat.cpu.total};
		else if (r->key.id == SCHED_RUN && !r->key.child)
			threads[n - 1].run_ns = r->stat.cpu.total;
	}
	qsort(threads, n, sizeof(*threads), by_run);
	return n;
}

static int fill_threads(const struct analysis *a, struct stat_map *m, struct table *t)
{
	auto_free struct stat_row **rows = calloc(m->cnt + 1, sizeof(struct stat_row *));
	auto_free struct stat_row **reasons = calloc(m->cnt + 1, sizeof(struct stat_row *));
	auto_free struct thread *threads = calloc(m->cnt + 1, sizeof(*threads));
	size_t n;
	int err = 0;

	if (!rows || !reasons || !threads)
		return -ENOMEM;
	for (size_t i = 0; i < m->cnt; i++)
		rows[i] = &m->rows[i];
	qsort(rows, m->cnt, sizeof(struct stat_row *), by_track);
	n = list_threads(rows, m->cnt, threads);
	for (size_t i = 0; i < n && !err; i++) {
		uint32_t track = threads[i].track;
		size_t begin = COUNT_FIRST(m->cnt, j, rows[j]->key.group < track);
		size_t end = COUNT_FIRST(m->cnt, j, rows[j]->key.group <= track);

		err = add_thread(a, t, &threads[i], rows + begin, end - begin, reasons);
	}
	return err;
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	const struct column columns[] = {
		{"name", "Thread, State, Waited For", 30, NULL, CELL_TEXT},
		{"intervals", "Intervals", 9, NULL, CELL_COUNT},
		{"total", "Total", 10, NULL, CELL_TIME},
		{"per_step", "Per Step", 10, NULL, CELL_TIME},
		{"ratio", "Ratio (%)", 9, NULL, CELL_PERCENT},
	};
	struct stat_map m = {};
	int err = sum(a, &m);

	if (!err)
		err = table__add_columns(t, columns, ARRAY_SIZE(columns));
	if (!err && m.cnt)
		err = fill_threads(a, &m, t);
	else if (!err)
		err = table__add_note(t, "No scheduling was recorded.");
	stat_map__free(&m);
	return err;
}

const struct table_impl table_sched = {
	.def = {"sched", "run, runnable and blocked time per thread, and what it waited for", false,
		NULL, USES_OP},
	.title = "Scheduling Summary",
	.fill = fill,
};
