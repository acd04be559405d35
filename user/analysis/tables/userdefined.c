// SPDX-License-Identifier: BSD-2-Clause
/* UserDefined Summary: the user's own ranges. */
#include "analysis/order.h"
#include "analysis/tables/spans_by_name.h"

/* Adds a range that does not nest in its thread's ranges. What it launched is unknown. */
static int add_async(const struct analysis *a, struct by_name *n, const struct event *e)
{
	const struct name *name = e->name ? recording__name(a->r, e->name) : NULL;
	const struct track *t = recording__track(a->r, e->track);

	if (e->type != EVENT_ASYNC || !name || name->category != CAT_USER || !t)
		return 0;
	return by_name__add_event(a, n, t, e, e->dur_ns, 0);
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	int err = 0;

	for (size_t i = 0; i < b->track_cnt; i++) {
		const struct track_batch *t = &b->tracks[i];

		if (t->track->kind != TRACK_THREAD)
			continue;
		for (const struct span *s = t->roots; s && !err; s = span__next(s, NULL))
			if (s->kind == KIND_USER &&
			    !range__is_manipulation(analysis__name(a, s->ev.name)))
				err = by_name__add(a, state, t->track, s);
	}
	for (size_t i = 0; i < b->other_cnt && !err; i++)
		err = add_async(a, state, &b->others[i]);
	return err;
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	const struct ratio_base base = analysis__base(a);
	const struct by_name_whole whole = {};
	int err = table__add_name_columns(a, t, 11);

	if (!err && !((struct by_name *)state)->map.cnt)
		err = table__add_note(t, "No range of the user's own was seen in the window.");
	if (!err)
		err = by_name__fill(a, state, &whole, t);
	if (!err && table__row_cnt(t))
		err = stat_rows__describe_order(a, order_both, t);
	if (!err && table__row_cnt(t))
		err = table__note_ratios(a, t, base.cpu_name, base.gpu_name);
	return err;
}

static void clean(void *state)
{
	struct by_name *n = state;

	stat_map__free(&n->map);
}

const struct table_impl table_userdefined = {
	.def = {"userdefined", "the user's own ranges (record_function, NVTX, RecordEvent)", true,
		order_both, USES_BY_THREAD | USES_OP},
	.title = "UserDefined Summary",
	.rests_on_device = true,
	.state_size = sizeof(struct by_name),
	.visit = visit,
	.fill = fill,
	.clean = clean,
};
