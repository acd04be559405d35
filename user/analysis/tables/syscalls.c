// SPDX-License-Identifier: BSD-2-Clause
/* System Call and Page Fault Summary: how often threads entered the kernel, and how long they were
 * in it, including waits. */
#include <stdlib.h>
#include "analysis/analysis.h"
#include "common/util.h"

enum { GROUP_ALL, GROUP_TRAINING, GROUP_REST, GROUP_THREAD /* + track id */ };

static uint32_t group_of(const struct analysis *a, uint32_t track)
{
	if (a->opts->by_thread)
		return GROUP_THREAD + track;
	if (!a->step_track)
		return GROUP_ALL;
	return track == a->step_track ? GROUP_TRAINING : GROUP_REST;
}

static int sum(const struct analysis *a, struct stat_map *m)
{
	const struct sched_row *rows;
	const size_t cnt = recording__entries(a->r, &rows);

	for (size_t i = 0; i < cnt; i++) {
		const struct stat_key key = {.group = group_of(a, rows[i].track),
					     .id = rows[i].reason};
		struct stat *s;

		/* Averages are over whole steps. */
		if (a->steps.calls && !analysis__has_step(a, rows[i].step))
			continue;
		s = stat_map__at(m, &key);
		if (!s)
			return -ENOMEM;
		s->calls += rows[i].cnt;
		s->cpu.total += rows[i].ns;
	}
	return 0;
}

static int by_group_and_total(const void *x, const void *y)
{
	const struct stat_row *p = *(struct stat_row *const *)x, *q = *(struct stat_row *const *)y;

	if (p->key.group != q->key.group)
		return p->key.group < q->key.group ? -1 : 1;
	if (p->stat.cpu.total != q->stat.cpu.total)
		return p->stat.cpu.total > q->stat.cpu.total ? -1 : 1;
	return p->key.id < q->key.id ? -1 : p->key.id > q->key.id;
}

static int add_section(const struct analysis *a, struct table *t, uint32_t group)
{
	char thread[128], title[160];

	if (group == GROUP_ALL)
		return table__add_section(t, "All threads");
	if (group == GROUP_REST)
		return table__add_section(t, "All other threads");
	analysis__thread(a, group == GROUP_TRAINING ? a->step_track : group - GROUP_THREAD, thread,
			 sizeof(thread));
	snprintf(title, sizeof(title), "Thread: %s", thread);
	return table__add_section(t, title);
}

static int add_row(const struct analysis *a, struct table *t, const struct stat_row *row)
{
	const struct stat *s = &row->stat;
	const uint64_t steps = a->steps.calls;
	struct cell cells[] = {
		cell__text(analysis__name(a, row->key.id)),
		cell__count(s->calls),
		cell__time(s->cpu.total),
		s->calls ? cell__time(s->cpu.total / s->calls)
			 : cell__none("it began in an earlier step"),
		steps ? cell__decimal((double)s->calls / (double)steps) : cell__none("no steps"),
		steps ? cell__time(s->cpu.total / steps) : cell__none("no steps"),
		cell__share(s->cpu.total, analysis__total_ns(a)),
	};

	return table__add_row(t, 0, cells);
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	const struct column columns[] = {
		{"name", "System Call, Page Fault", 28, NULL, CELL_TEXT},
		{"calls", "Calls", 8, NULL, CELL_COUNT},
		{"total", "Total", 10, NULL, CELL_TIME},
		{"avg", "Avg", 10, NULL, CELL_TIME, 2},
		{"calls_per_step", "Calls / Step", 12, NULL, CELL_DECIMAL, 1},
		{"per_step", "Time / Step", 11, NULL, CELL_TIME},
		{"ratio", "Ratio (%)", 9, NULL, CELL_PERCENT},
	};
	struct stat_map m = {};
	int err = sum(a, &m);
	auto_free struct stat_row **rows = calloc(m.cnt + 1, sizeof(struct stat_row *));

	if (!err)
		err = rows ? table__add_columns(t, columns, ARRAY_SIZE(columns)) : -ENOMEM;
	for (size_t i = 0; i < m.cnt && rows; i++)
		rows[i] = &m.rows[i];
	if (rows && m.cnt)
		qsort(rows, m.cnt, sizeof(struct stat_row *), by_group_and_total);
	for (size_t i = 0; i < m.cnt && !err; i++) {
		if (!i || rows[i]->key.group != rows[i - 1]->key.group)
			err = add_section(a, t, rows[i]->key.group);
		if (!err)
			err = add_row(a, t, rows[i]);
	}
	if (!err && m.cnt)
		err = table__add_notef(t,
				       "Times are from entering the kernel to leaving it, waiting "
				       "there included; a fault may lie in a call. uretprobe and "
				       "uprobe are probes, "
				       "proftrace's own too. Ratios: of %s.",
				       analysis__total_name(a));
	stat_map__free(&m);
	return err;
}

static const char *why_empty(const struct analysis *a)
{
	return "None was recorded: --syscalls and --page-faults ask for them when recording.";
}

const struct table_impl table_syscalls = {
	.def = {"syscalls", "system calls and page faults by thread, where recorded", true, NULL,
		USES_BY_THREAD | USES_OP},
	.title = "System Call and Page Fault Summary",
	.fill = fill,
	.why_empty = why_empty,
};
