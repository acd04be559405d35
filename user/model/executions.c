// SPDX-License-Identifier: BSD-2-Clause
#include "model/executions.h"
#include <stdlib.h>
#include <string.h>
#include "common/util.h"

#define NONE	SIZE_MAX
#define NO_NAME "?"

static const char *text_of(const struct executions *x, const struct execution_item *item)
{
	const struct name *n = recording__name(x->r, item->name);

	return n && n->text ? n->text : "";
}

/* ---- reading ---- */

static int add(struct executions *x, const struct event *e)
{
	const enum span_category cat = recording__category(x->r, e->name);
	const struct track *t = recording__track(x->r, e->track);
	const struct execution_item item = {.value = (uint64_t)e->value,
					    .ts_ns = e->ts_ns,
					    .call = NONE,
					    .pid = t ? t->pid : 0,
					    .track = e->track,
					    .name = e->name,
					    .is_execution = cat == CAT_EXECUTION,
					    .phase = KIND_OTHER};

	if (e->type != EVENT_SPAN || !e->value || !t || !category__is_joined(cat))
		return 0;
	return ARRAY_PUSH(x->items, x->cnt, x->cap, item);
}

static int read_items(struct executions *x)
{
	struct recording_cursor *c;
	struct event e;
	int ret, err = recording_cursor__open(x->r, &c);

	if (err)
		return err;
	while (!err && (ret = recording_cursor__next(c, &e)))
		err = ret < 0 ? ret : add(x, &e);
	recording_cursor__close(c);
	return err;
}

/* ---- joining ---- */

static int by_value(const void *a, const void *b)
{
	const struct execution_item *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return x->is_execution - y->is_execution;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Lists the names of operators that executions have. Calls of other names have no executions. */
static int list_texts(struct executions *x)
{
	x->texts = calloc(recording__name_cnt(x->r) + 1, sizeof(*x->texts));
	if (!x->texts)
		return -ENOMEM;
	for (uint32_t id = 1; id <= recording__name_cnt(x->r); id++) {
		const struct name *n = recording__name(x->r, id);

		if (n && n->text && n->category == CAT_EXECUTION)
			x->texts[x->text_cnt++] = n->text;
	}
	qsort(x->texts, x->text_cnt, sizeof(*x->texts), by_text);
	return 0;
}

static bool is_of_call(const struct executions *x, size_t execution, size_t call)
{
	const char *name = text_of(x, &x->items[execution]), *called = text_of(x, &x->items[call]);

	if (strcmp(name, NO_NAME) != 0)
		return !strcmp(name, called);
	return !bsearch(&called, x->texts, x->text_cnt, sizeof(*x->texts), by_text);
}

/* calls of one value that wait for execution: few in an honest recording */
#define PENDING_MAX 64

/* The first call from `from` on that comes before an execution and has its name. NONE: none of the
 * first PENDING_MAX does. */
static size_t call_of(const struct executions *x, size_t from, size_t execution)
{
	size_t calls = 0;

	for (size_t i = from; i < execution && calls < PENDING_MAX; i++) {
		if (x->items[i].is_execution)
			continue;
		if (is_of_call(x, execution, i))
			return i;
		calls++;
	}
	return NONE;
}

/* Operators on one value run in the order of their calls. If the execution of a call is not seen,
 * the next one of another name skips that call. */
static void join(struct executions *x)
{
	size_t next = 0;

	for (size_t i = 0; i < x->cnt; i++) {
		struct execution_item *item = &x->items[i];

		if (i && (x->items[i - 1].value != item->value || x->items[i - 1].pid != item->pid))
			next = i;
		if (!item->is_execution)
			continue;
		while (next < i && x->items[next].is_execution)
			next++;
		item->call = call_of(x, next, i);
		if (item->call != NONE)
			next = item->call + 1;
	}
}

static int compare_places(uint32_t track_a, uint64_t ts_a, uint32_t track_b, uint64_t ts_b)
{
	if (track_a != track_b)
		return track_a < track_b ? -1 : 1;
	return ts_a < ts_b ? -1 : ts_a > ts_b;
}

static int by_place(const void *a, const void *b, void *ctx)
{
	const struct execution_item *items = ctx;
	const struct execution_item *x = &items[*(const size_t *)a],
				    *y = &items[*(const size_t *)b];

	return compare_places(x->track, x->ts_ns, y->track, y->ts_ns);
}

static int index_places(struct executions *x)
{
	x->by_place = malloc(x->cnt * sizeof(*x->by_place));
	if (!x->by_place)
		return -ENOMEM;
	for (size_t i = 0; i < x->cnt; i++)
		x->by_place[i] = i;
	qsort_r(x->by_place, x->cnt, sizeof(*x->by_place), by_place, x->items);
	return 0;
}

int executions__load(struct executions *x, const struct recording *r)
{
	int err;

	*x = (struct executions){.r = r};
	if (!recording__has_category(r, CAT_EXECUTION))
		return 0;
	err = read_items(x);
	if (err || !x->cnt)
		return err;
	err = list_texts(x);
	if (err)
		return err;
	qsort(x->items, x->cnt, sizeof(*x->items), by_value);
	join(x);
	return index_places(x);
}

void executions__free(struct executions *x)
{
	free(x->items);
	free(x->texts);
	free(x->by_place);
}

/* ---- questions ---- */

static struct execution_item *item_of(const struct executions *x, const struct span *s)
{
	const size_t i = COUNT_FIRST(x->cnt, k,
				     compare_places(x->items[x->by_place[k]].track,
						    x->items[x->by_place[k]].ts_ns, s->ev.track,
						    s->ev.ts_ns) < 0);
	struct execution_item *item = i < x->cnt ? &x->items[x->by_place[i]] : NULL;

	return item && item->track == s->ev.track && item->ts_ns == s->ev.ts_ns ? item : NULL;
}

void executions__note(struct executions *x, const struct span *call)
{
	struct execution_item *item = call->ev.value ? item_of(x, call) : NULL;

	if (item)
		item->phase = (uint8_t)call->phase;
}

enum span_kind executions__phase(const struct executions *x, const struct span *execution)
{
	const struct execution_item *item = item_of(x, execution);

	return item && item->call != NONE ? (enum span_kind)x->items[item->call].phase : KIND_OTHER;
}

uint32_t executions__name(const struct executions *x, const struct span *execution)
{
	const struct execution_item *item = item_of(x, execution);
	const struct name *n = recording__name(x->r, execution->ev.name);

	if (item && item->call != NONE)
		return x->items[item->call].name;
	for (uint32_t id = 1; n && n->text && id <= recording__name_cnt(x->r); id++) {
		const struct name *other = recording__name(x->r, id);

		if (other && other->text && other->category != CAT_EXECUTION &&
		    category__is_joined(other->category) && !strcmp(other->text, n->text))
			return id;
	}
	return 0;
}
