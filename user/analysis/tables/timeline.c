// SPDX-License-Identifier: BSD-2-Clause
/*
 * The summary of MindSpore's timeline: the time of the operators, their number, and the number of
 * streams. The keys are those of MindSpore's file.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/analysis.h"
#include "common/util.h"

struct timeline {
	struct stat_map operators; /* id: name; cpu: its time on the side (host or device) that
				      did the work */
	struct stat_map streams;   /* group: track */
	uint64_t total_ns, cnt;
	uint64_t scopes; /* scopes in the full name that has most */
};

static uint64_t scopes_of(const char *name)
{
	uint64_t cnt = 0;

	for (; *name; name++)
		cnt += *name == '/';
	return cnt;
}

static int add_operator(const struct analysis *a, struct timeline *t, const struct span *s)
{
	const struct stat_key key = {.id = s->ev.name};
	const uint64_t scopes = scopes_of(analysis__name(a, s->ev.name));

	if (!stat_map__at(&t->operators, &key))
		return -ENOMEM;
	t->cnt++;
	t->total_ns += s->device_ns ? s->device_ns : s->cpu_ns;
	t->scopes = scopes > t->scopes ? scopes : t->scopes;
	return 0;
}

/* Adds the outermost operators: their time includes the inner ones. */
static int add_operators(const struct analysis *a, struct timeline *t, const struct span *s)
{
	int err = 0;

	for (; s && !err; s = s->next_sibling) {
		if (s->ev.name && (s->kind == KIND_OPERATOR || s->kind == KIND_OPERATOR_INNER ||
				   s->kind == KIND_PYTHON_OP))
			err = add_operator(a, t, s);
		else
			err = add_operators(a, t, s->first_child);
	}
	return err;
}

static int add_stream(struct timeline *t, const struct track_batch *b)
{
	const struct stat_key key = {.group = b->track->id};

	for (const struct span *s = b->roots; s; s = s->next_sibling)
		if (span_kind__is_device_work(s->kind))
			return stat_map__at(&t->streams, &key) ? 0 : -ENOMEM;
	return 0;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	int err = 0;

	for (size_t i = 0; i < b->track_cnt && !err; i++) {
		const struct track_batch *t = &b->tracks[i];

		if (t->track->kind == TRACK_DEVICE)
			err = add_stream(state, t);
		else if (analysis__is_main(a, t->track))
			err = add_operators(a, state, t->roots);
	}
	return err;
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	const struct timeline *x = state;
	const struct cell no_operator = cell__none("no operator was seen in the window");
	const struct column columns[] = {
		{"total_time", "total_time", 0, NULL, CELL_TIME},
		{"num_of_streams", "num_of_streams", 0, NULL, CELL_COUNT},
		{"num_of_ops", "num_of_ops", 0, NULL, CELL_COUNT},
		{"op_exe_times", "op_exe_times", 0, NULL, CELL_COUNT},
		{"max_scope_name_num", "max_scope_name_num", 0, NULL, CELL_COUNT},
	};
	const struct cell cells[] = {
		x->cnt ? cell__time(x->total_ns) : no_operator,
		a->has_device ? cell__count(x->streams.cnt)
			      : cell__none("no device time was recorded"),
		cell__count(x->operators.cnt),
		cell__count(x->cnt),
		x->cnt ? cell__count(x->scopes) : no_operator,
	};
	int err = table__add_columns(t, columns, ARRAY_SIZE(columns));

	if (!err)
		err = table__add_row(t, 0, cells);
	if (!err)
		err = table__add_note(
			t, "total_time: of the operators that stand in no other (op_exe_times of "
			   "them, with num_of_ops different names): the time of what they launched "
			   "on a device, else their own. num_of_streams: of devices. "
			   "max_scope_name_num: scopes in a full name ('Default/net/Conv2D-op1' "
			   "has 2).");
	return err;
}

static void clean(void *state)
{
	struct timeline *t = state;

	stat_map__free(&t->operators);
	stat_map__free(&t->streams);
}

const struct table_impl table_timeline = {
	.def = {"timeline", "MindSpore's: operators and streams of the timeline, counted", false},
	.title = "Timeline Summary",
	.rests_on_device = true,
	.state_size = sizeof(struct timeline),
	.visit = visit,
	.fill = fill,
	.clean = clean,
};
