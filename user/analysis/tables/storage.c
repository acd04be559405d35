// SPDX-License-Identifier: BSD-2-Clause
/* GPU Memory by Scope: what the scopes of the framework's profiler hold on each device at the
 * window's end. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/analysis.h"
#include "common/counted.h"
#include "common/util.h"
#include "model/storage_log.h"

struct storage_row {
	uint32_t name;
	int32_t device;
	uint64_t given_cnt, freed_cnt, reused_cnt;
	uint64_t held_cnt, requested_bytes, taken_bytes; /* of the memory that is held */
	bool taken_unknown;
};

struct storage {
	struct storage_log log;
	struct storage_row *rows;
	size_t cnt, cap;
	struct stat_map index; /* id: name, device: + 1; calls: index in rows, + 1 */
};

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct storage *s = state;
	int err = 0;

	if (!recording__has_category(a->r, CAT_STORAGE))
		return 0;
	for (size_t i = 0; i < b->memory_cnt && !err; i++)
		err = storage_log__add(&s->log, a->r, &b->memory[i]);
	for (size_t i = 0; i < b->other_cnt && !err; i++)
		err = storage_log__add(&s->log, a->r, &b->others[i]);
	return err;
}

static struct storage_row *row_of(struct storage *s, const struct storage_block *b)
{
	const struct stat_key key = {.id = b->name, .device = (uint32_t)(b->device + 1)};
	const struct storage_row added = {.name = b->name, .device = b->device};
	struct stat *at = stat_map__at(&s->index, &key);

	if (!at)
		return NULL;
	if (!at->calls) {
		if (ARRAY_PUSH(s->rows, s->cnt, s->cap, added))
			return NULL;
		at->calls = s->cnt;
	}
	return &s->rows[at->calls - 1];
}

static int add_block(const struct storage_block *b, void *ctx)
{
	struct storage_row *row;

	if (b->host)
		return 0;
	row = row_of(ctx, b);
	if (!row)
		return -ENOMEM;
	row->given_cnt++;
	row->freed_cnt += !b->held;
	row->reused_cnt += b->reused;
	if (!b->held)
		return 0;
	row->held_cnt++;
	if (b->requested_bytes != STORAGE_UNKNOWN)
		row->requested_bytes += b->requested_bytes;
	if (b->taken_bytes != STORAGE_UNKNOWN)
		row->taken_bytes += b->taken_bytes;
	row->taken_unknown |= b->taken_bytes == STORAGE_UNKNOWN;
	return 0;
}

static int by_bytes(const void *x, const void *y, void *ctx)
{
	const struct storage_row *p = x, *q = y;
	const struct analysis *a = ctx;

	if (p->taken_bytes != q->taken_bytes)
		return p->taken_bytes > q->taken_bytes ? -1 : 1;
	if (p->name != q->name)
		return strcmp(analysis__name(a, p->name), analysis__name(a, q->name));
	return p->device < q->device ? -1 : p->device > q->device;
}

static int add_columns(struct table *t)
{
	const struct column columns[] = {
		{"name", "Attribute Name", 40, NULL, CELL_TEXT, .max_width = 90},
		{"device", "Device", 6, NULL, CELL_COUNT, 1},
		{"requested", "Requested Size", 14, NULL, CELL_BYTES, .brief = "Requested"},
		{"actual", "Actual Size", 11, NULL, CELL_BYTES, .brief = "Actual"},
		{"held_cnt", "Held", 6, NULL, CELL_COUNT},
		{"alloc_cnt", "Allocation Count", 10, NULL, CELL_COUNT, 2, .brief = "Allocs"},
		{"free_cnt", "Free Count", 10, NULL, CELL_COUNT, 3, .brief = "Frees"},
		{"reuse_cnt", "Reuse Count", 11, NULL, CELL_COUNT, 4, .brief = "Reused"},
	};

	return table__add_columns(t, columns, ARRAY_SIZE(columns));
}

static int add_row(const struct analysis *a, struct table *t, const struct storage_row *row)
{
	struct cell cells[] = {
		cell__text(analysis__name(a, row->name)),
		row->device < 0 ? cell__none("its allocation was not seen")
				: cell__count((uint64_t)row->device),
		cell__bytes((int64_t)row->requested_bytes),
		row->taken_unknown ? cell__none("the driver gave it before the window")
				   : cell__bytes((int64_t)row->taken_bytes),
		cell__count(row->held_cnt),
		cell__count(row->given_cnt),
		cell__count(row->freed_cnt),
		cell__count(row->reused_cnt),
	};

	return table__add_row(t, 0, cells);
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	struct storage *s = state;
	int err = storage_log__each(&s->log, add_block, s);

	if (!err)
		err = add_columns(t);
	if (s->cnt)
		qsort_r(s->rows, s->cnt, sizeof(*s->rows), by_bytes, (void *)a);
	for (size_t i = 0; i < s->cnt && !err; i++)
		err = add_row(a, t, &s->rows[i]);
	if (!err && s->cnt)
		err = table__add_note(t,
				      "Sizes are of what was allocated in the window and is held "
				      "at its end; what was allocated before it has no row.");
	if (!err && s->cnt && s->log.unknown_frees)
		err = table__add_notef(t, "%s of what was allocated before the window",
				       counted(s->log.unknown_frees, "free", "frees").s);
	return err;
}

static void clean(void *state)
{
	struct storage *s = state;

	storage_log__free(&s->log);
	stat_map__free(&s->index);
	free(s->rows);
}

static const char *why_empty(const struct analysis *a)
{
	const json_t *runtime = json_object_get(recording__meta(a->r), "runtime");
	const char *framework = json_string_value(json_object_get(runtime, "framework"));
	const char *version = json_string_value(json_object_get(runtime, "version"));

	if (!framework || strcmp(framework, "mxnet") != 0)
		return "Not known: scopes of GPU memory are MXNet 2's (mx.profiler.scope).";
	if (version && version[0] == '1')
		return "Not known: this version of MXNet has no profiler scopes; MXNet 2 has.";
	return "Nothing was allocated on a device in the window; --profile-memory records it.";
}

const struct table_impl table_storage = {
	.def = {"storage", "GPU memory by the framework's profiler scope, if it has them", true,
		NULL, 0},
	.title = "GPU Memory by Scope",
	.state_size = sizeof(struct storage),
	.visit = visit,
	.fill = fill,
	.why_empty = why_empty,
	.clean = clean,
};
