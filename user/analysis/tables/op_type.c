// SPDX-License-Identifier: BSD-2-Clause
/*
 * MindSpore's operator tables: by type, and in detail by full name. An operator is on the device's
 * side if it, or something it called, launched work there. Else it is on the host's side.
 */
#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/analysis.h"
#include "analysis/left_out.h"
#include "analysis/order.h"
#include "common/util.h"

/* Row keys: group 1 is the device's side; id is the name, together with the full name if that is
 * known. cpu, gpu: with all inside. */
struct operators {
	struct stat_map map;
};

static const struct order_word words[] = {
	{"total", CALLS_BY_TOTAL, "total"},
	{"avg", CALLS_BY_AVG, "avg"},
	{"max", CALLS_BY_MAX, "max"},
	{"min", CALLS_BY_MIN, "min"},
	{"count", CALLS_BY_COUNT, "occurrences"},
	{},
};

/* Is it an engine's execution of an operator, apart from the call that asked for it? */
static bool is_execution(const struct span *s)
{
	return s->kind == KIND_EXECUTION && s->operator_name && s->device_ns;
}

static bool is_operator(const struct span *s)
{
	return s->ev.name && (s->kind == KIND_OPERATOR || s->kind == KIND_OPERATOR_INNER ||
			      s->kind == KIND_PYTHON_OP || s->kind == KIND_COMMUNICATION);
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct operators *o = state;

	for (size_t i = 0; i < b->track_cnt; i++) {
		if (!analysis__is_main(a, b->tracks[i].track))
			continue;
		for (const struct span *s = b->tracks[i].roots; s; s = span__next(s, NULL)) {
			const struct stat_key key = {.group = s->device_ns > 0,
						     .id = is_execution(s)
								   ? s->operator_name
								   : analysis__full_id(a, &s->ev)};
			struct stat *stat;

			if (!is_operator(s) && !is_execution(s))
				continue;
			stat = stat_map__at(&o->map, &key);
			if (!stat)
				return -ENOMEM;
			analysis__count(a, stat, &s->ev, s->cpu_ns, s->device_ns);
		}
	}
	return 0;
}

/* "Default/net/conv1-Conv2D/Conv2D-op12" has type Conv2D: the last part of the path, without the
 * number that tells operators of one type apart. */
static char *type_of(const char *name)
{
	const char *slash = strrchr(name, '/'), *end;

	name = slash && slash[1] ? slash + 1 : name;
	end = name + strlen(name);
	while (end > name && isdigit((unsigned char)end[-1]))
		end--;
	if (!*end || end - name < 4 || strncmp(end - 3, "-op", 3) != 0)
		end = name + strlen(name) + 3;
	return strndup(name, (size_t)(end - 3 - name));
}

/* ---- rows ---- */

static const struct range *time_of(const struct stat_row *r)
{
	return r->key.group ? &r->stat.gpu : &r->stat.cpu;
}

static int add_columns(struct table *t, bool detail)
{
	const struct column full = {"op_full_name", "Full Name", 16,
				    NULL,	    CELL_TEXT,	 .max_width = 60};
	const struct column columns[] = {
		{"occurrences", "Calls", 6, NULL, CELL_COUNT},
		{"per_step", "Per Step", 0, NULL, CELL_DECIMAL, .rank = 2},
		{"total", "Total", 9, NULL, CELL_TIME},
		{"avg", "Avg", 8, NULL, CELL_TIME},
		{"max", "Max", 8, NULL, CELL_TIME, .rank = 1, .same_unit = true},
		{"min", "Min", 8, NULL, CELL_TIME, .rank = 1, .same_unit = true},
		{"share", "%", 6, NULL, CELL_PERCENT},
	};
	const struct column type = {
		"op_type",	 "Type",	 16, NULL, CELL_TEXT, .rank = detail ? 3 : 0,
		.max_width = 60, .is_name = true};
	int err = detail ? table__add_column(t, &full) : 0;

	if (!err)
		err = table__add_column(t, &type);
	return err ? err : table__add_columns(t, columns, ARRAY_SIZE(columns));
}

static int add_row(const struct analysis *a, struct table *t, const struct stat_row *r,
		   const char *full, const char *type, uint64_t whole)
{
	const struct range *time = time_of(r);
	const uint64_t calls = r->stat.calls;
	struct cell cells[9];
	size_t n = 0;

	if (full)
		cells[n++] = cell__text(full);
	cells[n++] = cell__text(type);
	cells[n++] = cell__count(calls);
	cells[n++] = a->steps.calls ? cell__decimal((double)calls / (double)a->steps.calls)
				    : cell__none("no steps");
	cells[n++] = cell__time(time->total);
	cells[n++] = cell__time((time->total + calls / 2) / calls);
	cells[n++] = cell__time(time->max);
	cells[n++] = cell__time(time->min);
	cells[n++] = cell__share(time->total, whole);
	return table__add_row(t, 0, cells);
}

static int fill_side(const struct analysis *a, const struct stat_row *rows, size_t cnt,
		     const char *const *names, bool detail, uint32_t side, struct table *t)
{
	static const char *const sides[] = {"Host", "Device"};
	const int measure = order__measure(a, words);
	auto_free struct ordered *order = calloc(cnt + 1, sizeof(*order));
	uint64_t whole = 0;
	size_t n = 0;
	int err;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		if (rows[i].key.group != side)
			continue;
		whole += time_of(&rows[i])->total;
		order[n++] = (struct ordered){
			call_measure__of(measure, time_of(&rows[i]), rows[i].stat.calls), names[i],
			i};
	}
	err = n ? table__add_section(t, sides[side]) : 0;
	ordered__sort(a, order, n);
	for (size_t i = 0; i < n && !err; i++) {
		auto_free char *type = type_of(order[i].name);

		if (!type)
			return -ENOMEM;
		err = add_row(a, t, &rows[order[i].row], detail ? order[i].name : NULL, type,
			      whole);
	}
	return err;
}

static int fill_sides(const struct analysis *a, const struct operators *o,
		      const struct stat_row *rows, size_t cnt, const char *const *names,
		      bool detail, struct table *t)
{
	int err = add_columns(t, detail);

	for (uint32_t side = 0; side < 2 && !err; side++)
		err = fill_side(a, rows, cnt, names, detail, side, t);
	if (!err && !cnt)
		err = table__add_note(t, "No operator was seen in the window.");
	if (!err && cnt)
		err = table__add_note(
			t, "Under Host are calls that launched nothing, with their time "
			   "on the CPU; under Device those that did, with the time of "
			   "what they launched. Operators inside others count for both.");
	if (!err)
		err = table__note_cut(t, &o->map);
	if (!err)
		err = left_out__note_missing(a, t);
	return err ? err : order__describe(a, words, t);
}

static int fill_detail(const struct analysis *a, void *state, struct table *t)
{
	const struct operators *o = state;
	auto_free const char **names = calloc(o->map.cnt + 1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < o->map.cnt; i++)
		names[i] = analysis__full_name(a, o->map.rows[i].key.id);
	return fill_sides(a, o, o->map.rows, o->map.cnt, names, true, t);
}

static void merge(struct range *into, const struct range *r, bool first)
{
	into->total += r->total;
	into->cut += r->cut;
	into->cut_total += r->cut_total;
	into->max = r->max > into->max ? r->max : into->max;
	into->min = first || r->min < into->min ? r->min : into->min;
}

/* Merges rows by type. ids: the number of each type, by name. */
static int merge_types(const struct analysis *a, const struct operators *o, json_t *ids,
		       struct stat_map *types, const char **names)
{
	for (size_t i = 0; i < o->map.cnt; i++) {
		const struct stat_row *r = &o->map.rows[i];
		struct stat_key key = {.group = r->key.group};
		struct stat *stat;
		auto_free char *type = type_of(analysis__name(a, r->key.id));

		if (!type)
			return -ENOMEM;
		if (!json_object_get(ids, type) &&
		    json_object_set_new_nocheck(ids, type,
						json_integer((json_int_t)json_object_size(ids))))
			return -ENOMEM;
		key.id = (uint32_t)json_integer_value(json_object_get(ids, type));
		stat = stat_map__at(types, &key);
		if (!stat)
			return -ENOMEM;
		merge(&stat->cpu, &r->stat.cpu, !stat->calls);
		merge(&stat->gpu, &r->stat.gpu, !stat->calls);
		stat->calls += r->stat.calls;
		names[stat_map__index(types, stat)] =
			json_object_iter_key(json_object_iter_at(ids, type));
	}
	return 0;
}

static int fill_types(const struct analysis *a, void *state, struct table *t)
{
	const struct operators *o = state;
	auto_free const char **names = calloc(o->map.cnt + 1, sizeof(*names));
	json_t *ids = json_object();
	struct stat_map types = {};
	int err = names && ids ? merge_types(a, o, ids, &types, names) : -ENOMEM;

	if (!err)
		err = fill_sides(a, o, types.rows, types.cnt, names, false, t);
	stat_map__free(&types);
	json_decref(ids);
	return err;
}

static void clean(void *state)
{
	stat_map__free(&((struct operators *)state)->map);
}

const struct table_impl table_op_type = {
	.def = {"op_type", "MindSpore's: operators by type and side", false, words, USES_OP},
	.title = "Operator Types",
	.rests_on_device = true,
	.state_size = sizeof(struct operators),
	.visit = visit,
	.fill = fill_types,
	.clean = clean,
};

const struct table_impl table_op_detail = {
	.def = {"op_detail", "MindSpore's: operators by full name and side", false, words, USES_OP},
	.title = "Operator Detail",
	.rests_on_device = true,
	.state_size = sizeof(struct operators),
	.visit = visit,
	.fill = fill_detail,
	.clean = clean,
};
