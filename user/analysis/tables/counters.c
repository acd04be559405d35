// SPDX-License-Identifier: BSD-2-Clause
/* Counter Summary: the user's own counters and marks. */
#include <stdlib.h>
#include <string.h>
#include "analysis/tables/spans_by_name.h"
#include "common/util.h"

struct counter_row {
	uint32_t pid, name;
	uint8_t type; /* EVENT_COUNTER or EVENT_INSTANT */
	bool relative;
	uint64_t calls, last_ns;
	int64_t min, max, last;
};

struct counters {
	struct counter_row *rows;
	size_t cnt, cap;
};

static struct counter_row *row_of(struct counters *c, const struct event *e, uint32_t pid)
{
	const struct counter_row added = {.pid = pid, .name = e->name, .type = e->type};

	for (size_t i = 0; i < c->cnt; i++)
		if (c->rows[i].pid == pid && c->rows[i].name == e->name &&
		    c->rows[i].type == e->type)
			return &c->rows[i];
	return ARRAY_PUSH(c->rows, c->cnt, c->cap, added) ? NULL : &c->rows[c->cnt - 1];
}

static int add(const struct analysis *a, struct counters *c, const struct event *e)
{
	const struct track *t = recording__track(a->r, e->track);
	const struct name *name = e->name ? recording__name(a->r, e->name) : NULL;
	struct counter_row *row;

	if ((e->type != EVENT_COUNTER && e->type != EVENT_INSTANT) || !t || !name)
		return 0;
	if (name->category == CAT_QUEUE_EMPTY || name->category == CAT_QUEUE_FULL ||
	    name->category == CAT_STORAGE)
		return 0;
	row = row_of(c, e, t->pid);
	if (!row)
		return -ENOMEM;
	if (!row->calls || e->value < row->min)
		row->min = e->value;
	if (!row->calls || e->value > row->max)
		row->max = e->value;
	if (e->ts_ns >= row->last_ns) {
		row->last_ns = e->ts_ns;
		row->last = e->value;
		row->relative = e->flags & EVENT_RELATIVE;
	}
	row->calls++;
	return 0;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	int err = 0;

	for (size_t i = 0; i < b->other_cnt && !err; i++)
		err = add(a, state, &b->others[i]);
	return err;
}

static int by_name(const void *x, const void *y, void *ctx)
{
	const struct counter_row *p = x, *q = y;
	const struct analysis *a = ctx;
	int names;

	if (p->type != q->type)
		return p->type < q->type ? -1 : 1;
	names = strcmp(analysis__name(a, p->name), analysis__name(a, q->name));
	if (names || p->pid == q->pid)
		return names;
	return p->pid < q->pid ? -1 : 1;
}

static int add_row(const struct analysis *a, struct table *t, const struct counter_row *row)
{
	static const char mark[] = "a mark has no value";
	auto_free char *other = NULL;
	struct cell cells[] = {cell__text(analysis__name(a, row->name)),
			       cell__count(row->calls),
			       cell__none(mark),
			       cell__none(mark),
			       cell__none(mark),
			       cell__text(row->type == EVENT_COUNTER ? "counter" : "mark")};
	const int64_t values[] = {row->min, row->max, row->last};

	if (a->main_pid && row->pid != a->main_pid) {
		if (asprintf(&other, "%s (process %u)", analysis__name(a, row->name), row->pid) < 0)
			return -ENOMEM;
		cells[0] = cell__text(other);
	}
	for (size_t i = 0; i < ARRAY_SIZE(values) && row->type == EVENT_COUNTER; i++)
		cells[2 + i] = (struct cell){.type = CELL_COUNT, .count = values[i]};
	return table__add_row(t, 0, cells);
}

static int add_columns(struct table *t)
{
	const struct column more[] = {
		{.key = "min", .title = "Min", .min_width = 9, .type = CELL_COUNT},
		{.key = "max", .title = "Max", .min_width = 9, .type = CELL_COUNT},
		{.key = "last", .title = "Last", .min_width = 9, .type = CELL_COUNT},
		{.key = "kind", .title = "Kind", .rank = 1, .type = CELL_TEXT},
	};
	int err = table__add_call_columns(t, 24);

	return err ? err : table__add_columns(t, more, ARRAY_SIZE(more));
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	struct counters *c = state;
	bool relative = false;
	int err = add_columns(t);

	if (c->cnt)
		qsort_r(c->rows, c->cnt, sizeof(*c->rows), by_name, (void *)a);
	for (size_t i = 0; i < c->cnt && !err; i++) {
		relative |= c->rows[i].relative;
		err = add_row(a, t, &c->rows[i]);
	}
	if (!err && relative)
		err = table__add_note(t, "Of some counters only changes were seen: their values "
					 "count from 0 at the first one.");
	return err;
}

static void clean(void *state)
{
	struct counters *c = state;

	free(c->rows);
}

static const char *why_empty(const struct analysis *a)
{
	(void)a;
	return "No counter and no mark of the user was seen.";
}

const struct table_impl table_counters = {
	.def = {"counters", "the user's own counters and marks, if there are any", true, NULL,
		USES_OP},
	.title = "UserDefined Counter Summary",
	.state_size = sizeof(struct counters),
	.visit = visit,
	.fill = fill,
	.why_empty = why_empty,
	.clean = clean,
};
