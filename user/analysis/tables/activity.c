// SPDX-License-Identifier: BSD-2-Clause
/*
 * MindSpore's detail of device activities: what ran on a stream, by name, by launching operator and
 * by launch parameters.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/order.h"
#include "common/util.h"

struct activities {
	/* Row keys: group is the track, id the name, child the operator's full name (0: none),
	 * device a row of launches. gpu: durations. */
	struct stat_map map;
	struct activity {
		enum span_kind kind;
		bool launched; /* the launching call was recorded */
	} *items;	       /* by row of the map */
	size_t cnt, cap;
	/* sizes: grids and blocks, as x, y, z. launches: pairs of a grid's and a block's row. */
	struct stat_map sizes, launches;
};

static const struct order_word words[] = {
	{"total", CALLS_BY_TOTAL, "total_duration"}, {"avg", CALLS_BY_AVG, "avg_duration"},
	{"max", CALLS_BY_MAX, "max_duration"},	     {"min", CALLS_BY_MIN, "min_duration"},
	{"count", CALLS_BY_COUNT, "occurrences"},    {},
};

#define NO_LAUNCH UINT32_MAX

static int index_of(struct stat_map *m, const struct stat_key *key, uint32_t *index)
{
	const struct stat *stat = stat_map__at(m, key);

	if (!stat)
		return -ENOMEM;
	*index = (uint32_t)stat_map__index(m, stat);
	return 0;
}

static int launch_of(struct activities *x, const struct span *s, uint32_t *launch)
{
	struct stat_key pair = {0};
	struct event_kernel k;
	int err;

	*launch = NO_LAUNCH;
	if (s->kind != KIND_KERNEL || s->ev.args_len < sizeof(k))
		return 0;
	memcpy(&k, s->ev.args, sizeof(k));
	err = index_of(&x->sizes, &(struct stat_key){k.grid[0], k.grid[1], k.grid[2]}, &pair.group);
	if (!err)
		err = index_of(&x->sizes, &(struct stat_key){k.block[0], k.block[1], k.block[2]},
			       &pair.id);
	return err ? err : index_of(&x->launches, &pair, launch);
}

/* The innermost operator around the launching call, because MindSpore's operators do not nest. */
static uint32_t operator_of(const struct analysis *a, const struct span *launch)
{
	for (const struct span *s = launch; s; s = s->parent)
		if (s->kind == KIND_OPERATOR || s->kind == KIND_OPERATOR_INNER ||
		    s->kind == KIND_PYTHON_OP)
			return analysis__full_id(a, &s->ev);
		else if (s->kind == KIND_EXECUTION && s->operator_name)
			return s->operator_name;
	return 0;
}

static int add(const struct analysis *a, struct activities *x, const struct track *t,
	       const struct span *s)
{
	const struct activity one = {.kind = s->kind, .launched = s->launch};
	struct stat_key key = {
		.group = t->id, .id = s->ev.name, .child = operator_of(a, s->launch)};
	int err = launch_of(x, s, &key.device);
	struct stat *stat = err ? NULL : stat_map__at(&x->map, &key);
	size_t index;

	if (!stat)
		return -ENOMEM;
	stat__add(stat, 0, s->ev.dur_ns);
	index = stat_map__index(&x->map, stat);
	if (index == x->cnt)
		return ARRAY_PUSH(x->items, x->cnt, x->cap, one);
	x->items[index].launched |= one.launched;
	return 0;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	int err = 0;

	for (size_t i = 0; i < b->track_cnt; i++) {
		const struct track_batch *t = &b->tracks[i];

		if (t->track->kind != TRACK_DEVICE)
			continue;
		for (const struct span *s = t->roots; s && !err; s = s->next_sibling)
			if (span_kind__is_device_work(s->kind))
				err = add(a, state, t->track, s);
	}
	return err;
}

/* ---- rows ---- */

static int add_columns(struct table *t)
{
	const struct column columns[] = {
		{"name", "Name", 16, NULL, CELL_TEXT, .max_width = 60, .keep = 24},
		{"type", "Type", 6, NULL, CELL_TEXT},
		{"op_full_name", "Operator", 12, NULL, CELL_TEXT, .max_width = 24, .keep = 20,
		 .is_name = true},
		{"device_id", "Device", 0, NULL, CELL_COUNT, .brief = "Dev"},
		{"stream_id", "Stream", 0, NULL, CELL_COUNT, .brief = "Strm"},
		{"block_dim", "Block", 9, NULL, CELL_TEXT, .rank = 2},
		{"grid_dim", "Grid", 9, NULL, CELL_TEXT, .rank = 2},
		{"occurrences", "Calls", 6, NULL, CELL_COUNT},
		{"total_duration", "Total", 9, NULL, CELL_TIME},
		{"avg_duration", "Avg", 8, NULL, CELL_TIME, .rank = 1},
		{"max_duration", "Max", 8, NULL, CELL_TIME, .rank = 3, .same_unit = true},
		{"min_duration", "Min", 8, NULL, CELL_TIME, .rank = 3, .same_unit = true},
	};

	return table__add_columns(t, columns, ARRAY_SIZE(columns));
}

struct size_text {
	char s[36];
};

static struct size_text size_text(const struct activities *x, uint32_t size)
{
	const struct stat_key *k = &x->sizes.rows[size].key;
	struct size_text text;

	snprintf(text.s, sizeof(text.s), "%u,%u,%u", k->group, k->id, k->child);
	return text;
}

static int add_row(const struct analysis *a, const struct activities *x, size_t row,
		   struct table *t)
{
	const struct stat_row *r = &x->map.rows[row];
	const struct activity *one = &x->items[row];
	const struct track *track = recording__track(a->r, r->key.group);
	const struct range *time = &r->stat.gpu;
	struct size_text grid, block;
	struct cell cells[] = {
		cell__text(analysis__name(a, r->key.id)),
		cell__text(span_kind__label(one->kind)),
		cell__none(one->launched ? "no operator launched it"
					 : "its launch was not recorded"),
		cell__count((uint64_t)track->device),
		cell__count((uint64_t)track->stream),
		cell__none("copies and sets have no blocks"),
		cell__none("copies and sets have no grid"),
		cell__count(r->stat.calls),
		cell__time(time->total),
		cell__time(range__avg(time, r->stat.calls)),
		cell__time(time->max),
		cell__time(time->min),
	};

	if (r->key.child)
		cells[2] = cell__text(analysis__full_name(a, r->key.child));
	if (r->key.device != NO_LAUNCH) {
		const struct stat_key *launch = &x->launches.rows[r->key.device].key;

		grid = size_text(x, launch->group);
		block = size_text(x, launch->id);
		cells[5] = cell__text(block.s);
		cells[6] = cell__text(grid.s);
	} else if (one->kind == KIND_KERNEL) {
		cells[5] = cells[6] = cell__none("how it was launched was not recorded");
	}
	return table__add_row(t, 0, cells);
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	const struct activities *x = state;
	const int measure = order__measure(a, words);
	auto_free struct ordered *order = calloc(x->map.cnt + 1, sizeof(*order));
	int err = order ? add_columns(t) : -ENOMEM;

	for (size_t i = 0; i < x->map.cnt && !err; i++) {
		const struct stat_row *r = &x->map.rows[i];

		order[i] = (struct ordered){call_measure__of(measure, &r->stat.gpu, r->stat.calls),
					    analysis__name(a, r->key.id), i};
	}
	if (!err)
		ordered__sort(a, order, x->map.cnt);
	for (size_t i = 0; i < x->map.cnt && !err; i++)
		err = add_row(a, x, order[i].row, t);
	if (!err && !x->map.cnt)
		err = table__add_note(t, "No device time was recorded.");
	if (!err && x->map.cnt)
		err = table__add_note(t, "Operator: the innermost one around the launching call.");
	return err ? err : order__describe(a, words, t);
}

static void clean(void *state)
{
	struct activities *x = state;

	stat_map__free(&x->map);
	stat_map__free(&x->sizes);
	stat_map__free(&x->launches);
	free(x->items);
}

const struct table_impl table_activity = {
	.def = {"activity", "MindSpore's: what ran on devices by operator, stream, grid and block",
		false, words, USES_OP},
	.title = "Device Activities",
	.rests_on_device = true,
	.state_size = sizeof(struct activities),
	.visit = visit,
	.fill = fill,
	.clean = clean,
};
