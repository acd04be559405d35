// SPDX-License-Identifier: BSD-2-Clause
/*
 * The aggregate statistics of MXNet's profiler: events by name, one section per category. In JSON
 * the table has the object that the profiler's dumps(format='json') gives beside its rows.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/left_out.h"
#include "analysis/order.h"
#include "common/util.h"

struct aggregate {
	struct stat_map map; /* group: category */
	struct in_use {
		bool known;
		int64_t now, least, most; /* bytes, from the window's begin on */
		uint64_t cnt;
	} memory[2]; /* host, devices */
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
};

static uint32_t category_of(enum span_kind kind)
{
	return categories[kind] ? kind : KIND_OPERATOR;
}

static int add_span(struct aggregate *g, const struct span *s)
{
	const struct stat_key key = {.group = category_of(s->kind), .id = s->ev.name};
	const bool device = s->ev.type == EVENT_DEVICE;
	struct stat *stat;

	if (!s->ev.name)
		return 0;
	stat = stat_map__at(&g->map, &key);
	if (!stat)
		return -ENOMEM;
	stat__add_partly(stat, s->ev.flags & (EVENT_CUT_BEGIN | EVENT_CUT_END), true,
			 device ? s->ev.dur_ns : s->cpu_ns, 0);
	return 0;
}

static void add_memory(struct aggregate *g, const struct event *e)
{
	const struct event_memory *m = e->args;
	struct in_use *u = &g->memory[m->device_type != 0];

	if (e->name)
		return; /* what the framework's allocator asked of the driver */
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
			err = add_span(g, s);
	for (size_t i = 0; i < b->memory_cnt; i++)
		add_memory(g, &b->memory[i]);
	return err;
}

/* ---- dumps ---- */

static double ms(double ns)
{
	return ns / 1e6;
}

/* Names are bytes of the target; what is not UTF-8 is kept readable by replacing it. */
static int dump_time(json_t *category, const char *name, const struct stat *s)
{
	json_t *one =
		json_pack("{s:I,s:f,s:f,s:f,s:f}", "Count", (json_int_t)s->calls, "Total",
			  ms((double)s->cpu.total), "Min", ms((double)s->cpu.min), "Max",
			  ms((double)s->cpu.max), "Avg", ms((double)range__avg(&s->cpu, s->calls)));
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

static int dump_memory(json_t *memory, const struct aggregate *g)
{
	static const char *const names[] = {"Memory: cpu", "Memory: gpu"};
	json_t *storage = json_object();
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(g->memory); i++) {
		const struct in_use *u = &g->memory[i];
		const double least = (double)u->least / 1e3, most = (double)u->most / 1e3;

		if (u->known)
			err |= json_object_set_new(
				storage, names[i],
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
		const char *category = categories[r->key.group];

		if (!json_object_get(time, category) &&
		    json_object_set_new(time, category, json_object()))
			err = -ENOMEM;
		if (!err)
			err = dump_time(json_object_get(time, category),
					analysis__name(a, r->key.id), &r->stat);
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
		cell__text(analysis__name(a, r->key.id)),
		cell__count(s->calls),
		cell__time(s->cpu.total),
		cell__time(s->cpu.min),
		cell__time(s->cpu.max),
		cell__time(range__avg(&s->cpu, s->calls)),
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
				analysis__name(a, r->key.id), i};
	}
	if (!cnt)
		return 0;
	err = table__add_section(t, categories[category]);
	ordered__sort(a, order, cnt);
	for (size_t i = 0; i < cnt && !err; i++)
		err = add_row(a, t, &g->map.rows[order[i].row]);
	return err;
}

static int add_memory_notes(const struct aggregate *g, struct table *t)
{
	static const char *const names[] = {"cpu", "gpu"};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(g->memory) && !err; i++) {
		const struct in_use *u = &g->memory[i];

		if (u->known)
			err = table__add_notef(
				t,
				"Memory: %s: count %llu, min use %.4f kB, max use %.4f kB, avg use "
				"%.4f kB, from the window's begin on",
				names[i], (unsigned long long)u->cnt, (double)u->least / 1e3,
				(double)u->most / 1e3, (double)(u->most - u->least) / 2e3);
	}
	return err;
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	const struct column columns[] = {
		{"name", "Name", 25, NULL, CELL_TEXT, .max_width = 90},
		{"count", "Total Count", 0, NULL, CELL_COUNT, .brief = "Count"},
		{"total", "Time", 9, NULL, CELL_TIME},
		{"min", "Min Time", 9, NULL, CELL_TIME},
		{"max", "Max Time", 9, NULL, CELL_TIME},
		{"avg", "Avg Time", 9, NULL, CELL_TIME},
	};
	const struct aggregate *g = state;
	auto_free struct ordered *order = calloc(g->map.cnt + 1, sizeof(*order));
	int err = order ? table__add_columns(t, columns, ARRAY_SIZE(columns)) : -ENOMEM;

	for (uint32_t category = 0; category < KIND_CNT && !err; category++)
		err = fill_category(a, g, category, order, t);
	if (!err && !g->map.cnt)
		err = table__add_note(t, "No event was seen in the window.");
	if (!err)
		err = table__note_cut(t, &g->map);
	if (!err)
		err = left_out__note_missing(a, t);
	if (!err)
		err = add_memory_notes(g, t);
	if (!err)
		err = add_dumps(a, g, t);
	return err ? err : order__tell(a, words, t);
}

static void clean(void *state)
{
	stat_map__free(&((struct aggregate *)state)->map);
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
