// SPDX-License-Identifier: BSD-2-Clause
/*
 * The aggregate statistics of MXNet's profiler: events by name, one section per category. JSON also
 * has the object that the profiler's dumps(format='json') gives.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/left_out.h"
#include "analysis/order.h"
#include "analysis/tables/mxnet_category.h"
#include "common/util.h"

#define NO_CATEGORY   UINT32_MAX
#define MEMORY_PLACES 65 /* the host and 64 devices */

struct aggregate {
	struct stat_map map; /* row keys: group is the category, id the name; child 1: a counter */
	char **more;	     /* names of the categories from KIND_CNT on */
	size_t more_cnt, more_cap;
	struct in_use {
		bool known;
		int64_t now, least, most; /* bytes, relative to the window's begin */
		uint64_t cnt;
	} memory[MEMORY_PLACES]; /* the host, then the devices by number */
};

static const struct order_word words[] = {
	{"total", CALLS_BY_TOTAL, "total"}, {"avg", CALLS_BY_AVG, "avg"},
	{"max", CALLS_BY_MAX, "max"},	    {"min", CALLS_BY_MIN, "min"},
	{"count", CALLS_BY_COUNT, "count"}, {},
};

static const char *const categories[KIND_CNT] = {
	[KIND_STEP] = "step",
	[KIND_DATALOADER] = "dataloader",
	[KIND_FORWARD] = "forward",
	[KIND_BACKWARD] = "backward",
	[KIND_OPTIMIZATION] = "optimizer",
	[KIND_OPERATOR] = "operator",
	[KIND_USER] = "user",
	[KIND_COMMUNICATION] = "communication",
	[KIND_RUNTIME] = "device_api",
	[KIND_KERNEL] = "kernel",
	[KIND_MEMCPY] = "memcpy",
	[KIND_MEMSET] = "memset",
	[KIND_SYNC] = "synchronization",
	[KIND_SCRIPT] = "script",
	[KIND_OTHER] = "other",
	[KIND_PIPELINE] = "data_pipeline",
	[KIND_PIPELINE_WAIT] = "data_pipeline_wait",
	[KIND_EXECUTION] = "execution",
};

static uint32_t category_of(enum span_kind kind)
{
	return categories[kind] ? kind : KIND_OPERATOR;
}

/* ---- MXNet's own ---- */

static bool is_mxnet(const struct analysis *a)
{
	const json_t *runtime = json_object_get(recording__meta(a->r), "runtime");
	const char *framework = json_string_value(json_object_get(runtime, "framework"));

	return framework && !strcmp(framework, "mxnet");
}

/* KIND_CNT plus an index of more. NO_CATEGORY: out of memory. */
static uint32_t category_at(struct aggregate *g, const struct mxnet_category *c)
{
	char *added;

	for (size_t i = 0; i < g->more_cnt; i++)
		if (strlen(g->more[i]) == c->category_len &&
		    !memcmp(g->more[i], c->category, c->category_len))
			return KIND_CNT + (uint32_t)i;
	added = strndup(c->category, c->category_len);
	if (!added || ARRAY_PUSH(g->more, g->more_cnt, g->more_cap, added)) {
		free(added);
		return NO_CATEGORY;
	}
	return KIND_CNT + (uint32_t)g->more_cnt - 1;
}

static const char *category_name(const struct aggregate *g, uint32_t category)
{
	return category < KIND_CNT ? categories[category] : g->more[category - KIND_CNT];
}

/* The name without what its category already says: the domain, or that the engine ran it. */
static const char *row_name(const struct analysis *a, const struct stat_row *r)
{
	const char *text = analysis__name(a, r->key.id);
	const struct name *name = recording__name(a->r, r->key.id);

	if (!is_mxnet(a) || !name)
		return text;
	return mxnet_category__of_span(name->category == CAT_USER ? KIND_USER : KIND_OPERATOR, text)
		.name;
}

/* ---- events ---- */

static uint32_t category_of_span(const struct analysis *a, struct aggregate *g,
				 const struct span *s)
{
	struct mxnet_category c = {0};

	if (is_mxnet(a))
		c = mxnet_category__of_span(s->kind, analysis__name(a, s->ev.name));
	if (c.category && !strcmp(c.category, categories[KIND_OPERATOR]))
		return KIND_OPERATOR;
	return c.category ? category_at(g, &c) : category_of(s->kind);
}

static int add_span(const struct analysis *a, struct aggregate *g, const struct span *s)
{
	struct stat_key key = {.id = s->ev.name};
	const bool device = s->ev.type == EVENT_DEVICE;
	struct stat *stat;

	if (!s->ev.name)
		return 0;
	key.group = category_of_span(a, g, s);
	stat = key.group != NO_CATEGORY ? stat_map__at(&g->map, &key) : NULL;
	if (!stat)
		return -ENOMEM;
	stat__add_partly(stat, s->ev.flags & (EVENT_CUT_BEGIN | EVENT_CUT_END), true,
			 device ? s->ev.dur_ns : s->cpu_ns, 0);
	return 0;
}

/* MXNet's table shows a counter's value as microseconds. A negative value is no time. */
static int add_counter(const struct analysis *a, struct aggregate *g, const struct event *e)
{
	struct stat_key key = {.id = e->name, .child = 1};
	struct mxnet_category c;
	struct stat *stat;
	uint64_t value;

	if (e->type != EVENT_COUNTER || !e->name || e->value < 0)
		return 0;
	c = mxnet_category__of_user(analysis__name(a, e->name));
	key.group = category_at(g, &c);
	stat = key.group != NO_CATEGORY ? stat_map__at(&g->map, &key) : NULL;
	if (!stat)
		return -ENOMEM;
	value = (uint64_t)e->value * 1000;
	stat->cpu.min = stat->calls && stat->cpu.min < value ? stat->cpu.min : value;
	stat->cpu.max = stat->cpu.max > value ? stat->cpu.max : value;
	stat->cpu.total = value; /* the latest value */
	stat->calls++;
	return 0;
}

static void add_memory(struct aggregate *g, const struct event *e)
{
	const struct event_memory *m = e->args;
	const int32_t place = m->device_type ? 1 + m->device_index : 0;
	struct in_use *u = &g->memory[place];

	if (e->name)
		return; /* memory that the framework's allocator took from the driver */
	if (place < 0 || place >= MEMORY_PLACES)
		return;
	u->known = true;
	u->now += e->value;
	u->cnt++;
	u->least = u->now < u->least ? u->now : u->least;
	u->most = u->now > u->most ? u->now : u->most;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct aggregate *g = state;
	int err = 0;

	for (size_t i = 0; i < b->track_cnt; i++)
		for (const struct span *s = b->tracks[i].roots; s && !err; s = span__next(s, NULL))
			err = add_span(a, g, s);
	for (size_t i = 0; i < b->memory_cnt; i++)
		add_memory(g, &b->memory[i]);
	for (size_t i = 0; i < b->other_cnt && !err && is_mxnet(a); i++)
		err = add_counter(a, g, &b->others[i]);
	return err;
}

/* ---- dumps ---- */

static double ms(double ns)
{
	return ns / 1e6;
}

/* MXNet's formula for a counter's average. */
static uint64_t average(const struct stat_row *r)
{
	const struct range *time = &r->stat.cpu;

	return r->key.child ? (time->max - time->min) / 2 : range__avg(time, r->stat.calls);
}

/* A name is bytes of the target. Bytes that are not UTF-8 are replaced. */
static int dump_time(json_t *category, const char *name, const struct stat_row *r)
{
	const struct stat *s = &r->stat;
	json_t *one = json_pack("{s:I,s:f,s:f,s:f,s:f}", "Count", (json_int_t)s->calls, "Total",
				ms((double)s->cpu.total), "Min", ms((double)s->cpu.min), "Max",
				ms((double)s->cpu.max), "Avg", ms((double)average(r)));
	auto_free char *plain = strdup(name);
	int err = json_object_set(category, name, one);

	for (char *c = plain; c && *c && err; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	if (err && plain)
		err = json_object_set(category, plain, one);
	json_decref(one);
	return err ? -ENOMEM : 0;
}

/* The names of places, by the numbers of MXNet's contexts. */
static struct place_name {
	char s[40];
} place_name(size_t place)
{
	struct place_name name;

	if (place)
		snprintf(name.s, sizeof(name.s), "Memory: gpu/%zu", place - 1);
	else
		snprintf(name.s, sizeof(name.s), "Memory: cpu/0");
	return name;
}

static int dump_memory(json_t *memory, const struct aggregate *g)
{
	json_t *storage = json_object();
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(g->memory); i++) {
		const struct in_use *u = &g->memory[i];
		const double least = (double)u->least / 1e3, most = (double)u->most / 1e3;

		if (u->known)
			err |= json_object_set_new(
				storage, place_name(i).s,
				json_pack("{s:I,s:f,s:f,s:f}", "Count", (json_int_t)u->cnt, "Min",
					  least, "Max", most, "Avg", (most - least) / 2));
	}
	if (json_object_size(storage))
		err |= json_object_set(memory, "Device Storage", storage);
	json_decref(storage);
	return err ? -ENOMEM : 0;
}

static int add_dumps(const struct analysis *a, const struct aggregate *g, struct table *t)
{
	json_t *time = json_object(), *memory = json_object();
	json_t *dumps = json_pack("{s:o,s:o,s:{s:s,s:s}}", "Time", time, "Memory", memory, "Unit",
				  "Time", "ms", "Memory", "kB");
	int err = dumps ? dump_memory(memory, g) : -ENOMEM;

	for (size_t i = 0; i < g->map.cnt && !err; i++) {
		const struct stat_row *r = &g->map.rows[i];
		const char *category = category_name(g, r->key.group);

		if (!json_object_get(time, category) &&
		    json_object_set_new(time, category, json_object()))
			err = -ENOMEM;
		if (!err)
			err = dump_time(json_object_get(time, category), row_name(a, r), r);
	}
	if (!err)
		return table__set_json(t, "dumps", dumps);
	json_decref(dumps);
	return err;
}

/* ---- rows ---- */

static int add_row(const struct analysis *a, struct table *t, const struct stat_row *r)
{
	const struct stat *s = &r->stat;
	const struct cell cells[] = {
		cell__text(row_name(a, r)), cell__count(s->calls),  cell__time(s->cpu.total),
		cell__time(s->cpu.min),	    cell__time(s->cpu.max), cell__time(average(r)),
	};

	return table__add_row(t, 0, cells);
}

static int fill_category(const struct analysis *a, const struct aggregate *g, uint32_t category,
			 struct ordered *order, struct table *t)
{
	const int measure = order__measure(a, words);
	size_t cnt = 0;
	int err = 0;

	for (size_t i = 0; i < g->map.cnt; i++) {
		const struct stat_row *r = &g->map.rows[i];

		if (r->key.group == category)
			order[cnt++] = (struct ordered){
				call_measure__of(measure, &r->stat.cpu, r->stat.calls),
				row_name(a, r), i};
	}
	if (!cnt)
		return 0;
	err = table__add_section(t, category_name(g, category));
	ordered__sort(a, order, cnt);
	for (size_t i = 0; i < cnt && !err; i++)
		err = add_row(a, t, &g->map.rows[order[i].row]);
	return err;
}

static int add_memory_notes(const struct aggregate *g, struct table *t)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(g->memory) && !err; i++) {
		const struct in_use *u = &g->memory[i];

		if (u->known)
			err = table__add_notef(
				t,
				"%s: count %llu, min use %.4f kB, max use %.4f kB, avg use "
				"%.4f kB, from the window's begin on",
				place_name(i).s, (unsigned long long)u->cnt, (double)u->least / 1e3,
				(double)u->most / 1e3, (double)(u->most - u->least) / 2e3);
	}
	return err;
}

static bool has_pushes_alone(const struct aggregate *g)
{
	for (size_t i = 0; i < g->map.cnt; i++)
		if (g->map.rows[i].key.group == KIND_OPERATOR)
			return false;
	for (size_t i = 0; i < g->more_cnt; i++)
		if (!strcmp(g->more[i], "push"))
			return true;
	return false;
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	const struct column columns[] = {
		{"name", "Name", 25, NULL, CELL_TEXT, .max_width = 90},
		{"count", "Total Count", 0, NULL, CELL_COUNT, .brief = "Count"},
		{"total", "Time", 9, NULL, CELL_TIME},
		{"min", "Min Time", 9, NULL, CELL_TIME},
		{"max", "Max Time", 9, NULL, CELL_TIME, .same_unit = true},
		{"avg", "Avg Time", 9, NULL, CELL_TIME, .same_unit = true},
	};
	const struct aggregate *g = state;
	auto_free struct ordered *order = calloc(g->map.cnt + 1, sizeof(*order));
	int err = order ? table__add_columns(t, columns, ARRAY_SIZE(columns)) : -ENOMEM;

	for (uint32_t category = 0; category < KIND_CNT + g->more_cnt && !err; category++)
		err = fill_category(a, g, category, order, t);
	if (!err && !g->map.cnt)
		err = table__add_note(t, "No event was seen in the window.");
	if (!err)
		err = table__note_cut(t, &g->map);
	if (!err && is_mxnet(a) && has_pushes_alone(g))
		err = table__add_note(
			t, "push: from the call until the engine has the operator. MXNet's "
			   "\"operator\" is what the engine executes: record with --detail inner.");
	if (!err)
		err = left_out__note_missing(a, t);
	if (!err)
		err = add_memory_notes(g, t);
	if (!err)
		err = add_dumps(a, g, t);
	return err ? err : order__describe(a, words, t);
}

static void clean(void *state)
{
	struct aggregate *g = state;

	stat_map__free(&g->map);
	for (size_t i = 0; i < g->more_cnt; i++)
		free(g->more[i]);
	free(g->more);
}

const struct table_impl table_aggregate = {
	.def = {"aggregate", "MXNet's: events by name in categories (dumps)", false, words,
		USES_OP},
	.title = "Profile Statistics",
	.rests_on_device = true,
	.state_size = sizeof(struct aggregate),
	.visit = visit,
	.fill = fill,
	.clean = clean,
};
