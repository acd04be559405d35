// SPDX-License-Identifier: BSD-2-Clause
/*
 * Data Pipeline Summary: the own time of each operation of the framework's data loader, and whether
 * its queue was empty or full.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/analysis.h"
#include "common/util.h"

#define OPERATION_MAX 4200

struct waits {
	uint64_t cnt, ns;
};

struct operation {
	uint32_t pid;
	char name[OPERATION_MAX];
	struct stat own; /* its own time */
	/* rows in its queue, whenever one was taken; and whenever one was put */
	uint64_t takes, puts, rows, max_rows, found_empty;
	uint64_t capacity; /* the latest value */
	struct waits empty, full;
};

struct pipeline {
	struct operation *items;
	size_t cnt, cap;
};

/* The name is OPERATION::PART. */
static struct operation *operation_of(struct pipeline *p, uint32_t pid, const struct name *name)
{
	const char *part = strstr(name->text, "::");
	struct operation added = {.pid = pid};

	if (!part)
		part = name->text + strlen(name->text);
	snprintf(added.name, sizeof(added.name), "%.*s", (int)(part - name->text), name->text);
	for (size_t i = 0; i < p->cnt; i++)
		if (p->items[i].pid == pid && !strcmp(p->items[i].name, added.name))
			return &p->items[i];
	return ARRAY_PUSH(p->items, p->cnt, p->cap, added) ? NULL : &p->items[p->cnt - 1];
}

static bool is_of_pipeline(uint8_t category)
{
	return category == CAT_PIPELINE || category == CAT_QUEUE_EMPTY ||
	       category == CAT_QUEUE_FULL;
}

static int add_span(const struct analysis *a, struct pipeline *p, const struct track *t,
		    const struct span *s)
{
	const struct name *n = s->ev.name ? recording__name(a->r, s->ev.name) : NULL;
	struct operation *o;
	struct waits *w;

	if (!n || !n->text || !is_of_pipeline(n->category))
		return 0;
	o = operation_of(p, t->pid, n);
	if (!o)
		return -ENOMEM;
	if (n->category == CAT_PIPELINE) {
		stat__add(&o->own, s->cpu_ns, 0);
		return 0;
	}
	w = n->category == CAT_QUEUE_EMPTY ? &o->empty : &o->full;
	w->cnt++;
	w->ns += s->cpu_ns;
	return 0;
}

static int add_rows(const struct analysis *a, struct pipeline *p, const struct event *e)
{
	const struct name *n = e->name ? recording__name(a->r, e->name) : NULL;
	const struct track *t = recording__track(a->r, e->track);
	struct operation *o;

	if (e->type != EVENT_COUNTER || !t || !n || !n->text || !is_of_pipeline(n->category))
		return 0;
	o = operation_of(p, t->pid, n);
	if (!o)
		return -ENOMEM;
	if (n->schema)
		o->capacity = strtoull(n->schema, NULL, 10);
	if ((uint64_t)e->value > o->max_rows)
		o->max_rows = (uint64_t)e->value;
	if (n->category == CAT_QUEUE_FULL) {
		o->puts++;
		return 0;
	}
	o->takes++;
	o->rows += (uint64_t)e->value;
	o->found_empty += !e->value;
	return 0;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	int err = 0;

	for (size_t i = 0; i < b->track_cnt; i++) {
		const struct track_batch *t = &b->tracks[i];

		if (t->track->kind != TRACK_THREAD)
			continue;
		for (const struct span *s = t->roots; s && !err; s = span__next(s, NULL))
			err = add_span(a, state, t->track, s);
	}
	for (size_t i = 0; i < b->other_cnt && !err; i++)
		err = add_rows(a, state, &b->others[i]);
	return err;
}

/* ---- the table ---- */

enum {
	CELL_NAME,
	CELL_CALLS,
	CELL_OWN_TOTAL,
	CELL_OWN_AVG,
	CELL_OWN_MAX,
	CELL_TAKES,
	CELL_QUEUE_AVG,
	CELL_QUEUE_MAX,
	CELL_CAPACITY,
	CELL_EMPTY,
	CELL_EMPTY_WAIT,
	CELL_FULL_WAIT,
	CELL_CNT
};

/* On a narrow terminal three things stay: how long it works, how full its queue is, who waits. */
static int add_columns(struct table *t)
{
	static const struct column columns[CELL_CNT] = {
		[CELL_NAME] = {.key = "name", .title = "Operation", .min_width = 16},
		[CELL_CALLS] = {.key = "calls", .title = "Calls", .type = CELL_COUNT, .rank = 1},
		[CELL_OWN_TOTAL] = {.key = "own_total",
				    .title = "Total",
				    .group = "Own Time",
				    .type = CELL_TIME},
		[CELL_OWN_AVG] = {.key = "own_avg",
				  .title = "Avg",
				  .group = "Own Time",
				  .type = CELL_TIME,
				  .rank = 2},
		[CELL_OWN_MAX] = {.key = "own_max",
				  .title = "Max",
				  .group = "Own Time",
				  .type = CELL_TIME,
				  .rank = 5},
		[CELL_TAKES] = {.key = "rows", .title = "Rows", .type = CELL_COUNT, .rank = 4},
		[CELL_QUEUE_AVG] = {.key = "queue_avg",
				    .title = "Avg",
				    .group = "Queue",
				    .type = CELL_DECIMAL},
		[CELL_QUEUE_MAX] = {.key = "queue_max",
				    .title = "Max",
				    .group = "Queue",
				    .type = CELL_COUNT,
				    .rank = 3},
		[CELL_CAPACITY] = {.key = "queue_capacity",
				   .title = "Of",
				   .group = "Queue",
				   .type = CELL_COUNT},
		[CELL_EMPTY] = {.key = "queue_empty",
				.title = "Empty(%)",
				.group = "Queue",
				.type = CELL_PERCENT},
		[CELL_EMPTY_WAIT] = {.key = "empty_wait",
				     .title = "Empty",
				     .group = "Waits",
				     .type = CELL_TIME},
		[CELL_FULL_WAIT] = {.key = "full_wait",
				    .title = "Full",
				    .group = "Waits",
				    .type = CELL_TIME},
	};

	return table__add_columns(t, columns, CELL_CNT);
}

static void fill_own(const struct operation *o, struct cell *cells)
{
	const struct stat *own = &o->own;

	for (int i = CELL_CALLS; i <= CELL_OWN_MAX; i++)
		cells[i] = cell__none("the operation does not tell what it does itself");
	if (!own->calls)
		return;
	cells[CELL_CALLS] = cell__count(own->calls);
	cells[CELL_OWN_TOTAL] = cell__time(own->cpu.total);
	cells[CELL_OWN_AVG] = cell__time(own->cpu.total / own->calls);
	cells[CELL_OWN_MAX] = cell__time(own->cpu.max);
}

static void fill_queue(const struct operation *o, struct cell *cells)
{
	for (int i = CELL_TAKES; i <= CELL_EMPTY_WAIT; i++)
		cells[i] = cell__none("nobody was seen to ask the operation for a row");
	cells[CELL_FULL_WAIT] = cell__none("the operation was not seen to put a row in its queue");
	if (o->takes) {
		cells[CELL_TAKES] = cell__count(o->takes);
		cells[CELL_QUEUE_AVG] = cell__decimal((double)o->rows / (double)o->takes);
		cells[CELL_EMPTY] = cell__share(o->found_empty, o->takes);
		cells[CELL_EMPTY_WAIT] = cell__time(o->empty.ns);
	}
	if (o->takes || o->puts) {
		cells[CELL_QUEUE_MAX] = cell__count(o->max_rows);
		if (o->capacity)
			cells[CELL_CAPACITY] = cell__count(o->capacity);
	}
	if (o->puts)
		cells[CELL_FULL_WAIT] = cell__time(o->full.ns);
}

static int add_operation(const struct analysis *a, const struct operation *o, struct table *t)
{
	struct cell cells[CELL_CNT];
	char name[OPERATION_MAX + 32];

	snprintf(name, sizeof(name), "%s", o->name);
	if (a->main_pid && o->pid != a->main_pid)
		snprintf(name, sizeof(name), "%s (process %u)", o->name, o->pid);
	cells[CELL_NAME] = cell__text(name);
	fill_own(o, cells);
	fill_queue(o, cells);
	return table__add_row(t, 0, cells);
}

/* Frameworks number the operations from the one that the program asks first. */
static int by_number(const void *x, const void *y)
{
	const struct operation *p = x, *q = y;
	const char *at = strchr(p->name, ':'), *other = strchr(q->name, ':');
	unsigned long number = at ? strtoul(at + 1, NULL, 10) : 0;
	unsigned long second = other ? strtoul(other + 1, NULL, 10) : 0;

	if (p->pid != q->pid)
		return p->pid < q->pid ? -1 : 1;
	if (number != second)
		return number < second ? -1 : 1;
	return strcmp(p->name, q->name);
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	struct pipeline *p = state;
	int err = add_columns(t);

	(void)a;
	if (p->cnt)
		qsort(p->items, p->cnt, sizeof(*p->items), by_number);
	for (size_t i = 0; i < p->cnt && !err; i++)
		err = add_operation(a, &p->items[i], t);
	if (!err && p->cnt)
		err = table__add_note(t, "Own time: of all its threads together. Queue: rows that "
					 "whoever asked for one found in it.");
	if (!err && p->cnt)
		err = table__add_note(t, "Waits: of whoever asked for a row while the queue was "
					 "empty; of the operation while it was full.");
	return err;
}

static void clean(void *state)
{
	struct pipeline *p = state;

	free(p->items);
}

static const char *why_empty(const struct analysis *a)
{
	(void)a;
	return "No operation of a framework's own data pipeline was seen.";
}

const struct table_impl table_pipeline = {
	.def = {"pipeline", "operations of the framework's own data pipeline and their queues",
		true, NULL, USES_OP},
	.title = "Data Pipeline Summary",
	.state_size = sizeof(struct pipeline),
	.visit = visit,
	.fill = fill,
	.why_empty = why_empty,
	.clean = clean,
};
