// SPDX-License-Identifier: BSD-2-Clause
/*
 * Distribution Summary: communication, computation and their overlap. Communication is collectives
 * of the host, operators named after a collective with all that they launch, and kernels of the
 * collective library. Computation is all other kernels. Each is a union over streams.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/tables/distributed.h"
#include "common/util.h"

#define HOST UINT32_MAX /* the group of the host, which has no device */

/* A broadcast has a name like "c_broadcast" or "broadcast_ dygraph". Spreading a tensor over a
 * shape is also called broadcast, followed by more words ("broadcast_sub",
 * "aten::broadcast_to"). */
static bool is_broadcast(const char *name)
{
	const char *end = strstr(name, "broadcast");

	if (!end)
		return false;
	end += strlen("broadcast");
	end += *end == '_';
	return !*end || *end == ' ';
}

static bool operator__is_communication(const struct analysis *a, const struct span *s)
{
	const char *name = analysis__name(a, s->ev.name);

	if (s->kind == KIND_COMMUNICATION)
		return true;
	if (s->kind != KIND_OPERATOR && s->kind != KIND_PYTHON_OP)
		return false;
	return strstr(name, "allreduce") || strstr(name, "rpc") || is_broadcast(name);
}

/* Each device is a group if --by-device asks for it. 0: all devices. */
static uint32_t group_of(const struct analysis *a, const struct track *t)
{
	return a->opts->by_device ? (uint32_t)(t->device & INT32_MAX) + 1 : 0;
}

static int add(struct stream_unions *u, uint32_t group, uint64_t begin, uint64_t end)
{
	struct interval_union *time = stream_unions__at(u, group);

	return time ? interval_union__add(time, begin, end) : -ENOMEM;
}

static int add_time(struct distributed *d, bool communication, uint32_t group, uint64_t begin,
		    uint64_t end)
{
	int err = add(communication ? &d->communication : &d->computation, group, begin, end);

	d->found |= communication;
	if (!err)
		err = add(&d->both, group, begin, end);
	return err ? err : add(&d->busy, group, begin, end);
}

/* Adds a collective of the host, or an operator named after one. */
static int add_host(const struct analysis *a, struct distributed *d, const struct event *e,
		    bool is_operator)
{
	const uint32_t group = a->opts->by_device ? HOST : 0;
	struct stretch p;
	int err = 0;

	for (size_t at = 0; !err && analysis__part(a, e->ts_ns, e->ts_ns + e->dur_ns, &at, &p);) {
		if (!is_operator) {
			err = add_time(d, true, group, p.begin, p.end);
			continue;
		}
		d->found = true;
		err = add(&d->communication, group, p.begin, p.end);
		if (!err)
			err = add(&d->both, group, p.begin, p.end);
	}
	return err;
}

static int add_launches(struct distributed *d, const struct span *root)
{
	int err = 0;

	for (const struct span *s = root; s && !err; s = span__next(s, root))
		if (s->kind == KIND_RUNTIME && s->ev.id != EVENT_NO_ID)
			err = launch_set__add(&d->launches, s->ev.id);
	return err;
}

/* Notes the launches of such operators before the batch is visited, because their device work may
 * come first. */
static int note_launches(const struct analysis *a, struct distributed *d, const struct batch *b)
{
	int err = 0;

	d->noted = b;
	for (size_t i = 0; i < b->track_cnt; i++) {
		if (!analysis__is_main(a, b->tracks[i].track))
			continue;
		for (const struct span *s = b->tracks[i].roots; s && !err; s = span__next(s, NULL))
			if (operator__is_communication(a, s))
				err = add_launches(d, s);
	}
	return err;
}

static int visit_thread(const struct analysis *a, struct distributed *d,
			const struct track_batch *t)
{
	int err = 0;

	for (const struct span *s = t->roots; s && !err; s = span__next(s, NULL)) {
		if (!operator__is_communication(a, s))
			continue;
		err = add_host(a, d, &s->ev, s->kind != KIND_COMMUNICATION);
	}
	return err;
}

int distributed__visit_work(const struct analysis *a, void *state, const struct device_work *w)
{
	struct distributed *d = state;
	int err = 0;

	if (a->feed.batch && a->feed.batch != d->noted)
		err = note_launches(a, d, a->feed.batch);
	if (err || w->kind != KIND_KERNEL)
		return err;
	return add_time(d,
			kernel_name__is_collective(analysis__name(a, w->name)) ||
				launch_set__has(&d->launches, w->id),
			group_of(a, w->track), w->begin_ns, w->end_ns);
}

int distributed__visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct distributed *d = state;
	int err = b == d->noted ? 0 : note_launches(a, d, b);

	d->noted = NULL;
	for (size_t i = 0; i < b->track_cnt && !err; i++) {
		const struct track_batch *t = &b->tracks[i];

		if (analysis__is_main(a, t->track))
			err = visit_thread(a, d, t);
	}
	for (size_t i = 0; i < b->other_cnt && !err; i++) {
		const struct event *e = &b->others[i];

		if (analysis__is_collective(a->r, e))
			err = add_host(a, d, e, false);
	}
	return err;
}

static uint64_t length(struct stream_unions *u, uint32_t group, bool *known)
{
	for (size_t i = 0; i < u->cnt; i++)
		if (u->items[i].group == group) {
			*known = true;
			return interval_union__length(&u->items[i].time);
		}
	*known = false;
	return 0;
}

uint64_t distributed__host_ns(struct distributed *d)
{
	uint64_t most = 0;

	if (d->computation.cnt)
		return 0;
	for (size_t i = 0; i < d->communication.cnt; i++) {
		uint64_t ns = interval_union__length(&d->communication.items[i].time);

		most = ns > most ? ns : most;
	}
	return most;
}

uint64_t distributed__exposed_ns(struct distributed *d)
{
	uint64_t most = 0;

	for (size_t i = 0; i < d->busy.cnt; i++) {
		uint32_t group = d->busy.items[i].group;
		bool computes, any;
		uint64_t computation = length(&d->computation, group, &computes);
		uint64_t busy = length(&d->busy, group, &any);

		if (computes && busy - computation > most)
			most = busy - computation;
	}
	return most;
}

static int add_row(const struct analysis *a, struct table *t, int indent, const char *name,
		   uint64_t ns, const char *why)
{
	const struct cell cells[] = {
		cell__text(name),
		why ? cell__none(why) : cell__time(ns),
		why ? cell__none(why) : cell__share(ns, analysis__whole_ns(a)),
	};

	return table__add_row(t, indent, cells);
}

static int add_section(const struct analysis *a, struct distributed *d, struct table *t,
		       uint32_t group)
{
	bool computes, communicates, any;
	uint64_t computation = length(&d->computation, group, &computes);
	uint64_t communication = length(&d->communication, group, &communicates);
	uint64_t both = length(&d->both, group, &any);
	const char *why = computes ? NULL : "no kernels were recorded";
	char title[32] = "Host";
	int err = 0;

	if (group != HOST)
		snprintf(title, sizeof(title), "GPU%u", group - 1);
	if (a->opts->by_device)
		err = table__add_section(t, title);
	if (!err)
		err = add_row(a, t, 0, a->steps.calls ? "ProfileStep" : "Window",
			      analysis__whole_ns(a), NULL);
	if (!err)
		err = add_row(a, t, 1, "Communication", communication, NULL);
	if (!err)
		err = add_row(a, t, 1, "Computation", computation, why);
	return err ? err : add_row(a, t, 1, "Overlap", computation + communication - both, why);
}

static int by_group(const void *x, const void *y)
{
	const struct stream_union *p = x, *q = y;

	return p->group < q->group ? -1 : p->group > q->group;
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	const struct column columns[] = {
		{.key = "name", .title = "Name", .type = CELL_TEXT},
		{.key = "total", .title = "Total Time", .type = CELL_TIME},
		{.key = "ratio", .title = "Ratio (%)", .type = CELL_PERCENT},
	};
	struct distributed *d = state;
	int err = table__add_columns(t, columns, ARRAY_SIZE(columns));

	if (err || !d->found)
		return err ? err : table__add_note(t, "No communication was seen.");
	if (d->both.cnt)
		qsort(d->both.items, d->both.cnt, sizeof(*d->both.items), by_group);
	for (size_t i = 0; i < d->both.cnt && !err; i++)
		err = add_section(a, d, t, d->both.items[i].group);
	if (!err)
		err = table__as_legend(
			t,
			table__add_notef(t,
					 "Communication: collectives of the host, operators named "
					 "after one (allreduce, broadcast), and kernels of the "
					 "collective library; Computation: all other kernels; "
					 "Overlap: both at once. Each is the union of times inside "
					 "%s, whenever it was launched. Ratios: of the first row.",
					 analysis__clock_name(a)));
	if (!err)
		err = device_feed__note_table(a, t);
	return err;
}

void distributed__clean(void *state)
{
	struct distributed *d = state;

	stream_unions__free(&d->communication);
	stream_unions__free(&d->computation);
	stream_unions__free(&d->both);
	stream_unions__free(&d->busy);
	launch_set__free(&d->launches);
}

const struct table_impl table_distributed = {
	.def = {"distributed", "communication, computation and their overlap", true, NULL,
		USES_BY_DEVICE},
	.title = "Distribution Summary",
	.rests_on_device = true,
	.state_size = sizeof(struct distributed),
	.visit = distributed__visit,
	.visit_work = distributed__visit_work,
	.fill = fill,
	.clean = distributed__clean,
};
