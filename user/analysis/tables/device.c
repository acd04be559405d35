// SPDX-License-Identifier: BSD-2-Clause
/* Device Summary: how busy the processors were. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include "analysis/tables/by_stream.h"

#define MAX_DEVICES 64

struct devices {
	struct interval_union kernels[MAX_DEVICES];
	bool seen[MAX_DEVICES];
	struct stream_unions streams; /* by track */
};

static int add_kernel(struct devices *d, const struct track *t, const struct span *s)
{
	struct interval_union *stream = stream_unions__at(&d->streams, t->id);
	int err = stream ? interval_union__add(stream, s->ev.ts_ns, s->ev.ts_ns + s->ev.dur_ns)
			 : -ENOMEM;

	return err ? err
		   : interval_union__add(&d->kernels[t->device], s->ev.ts_ns,
					 s->ev.ts_ns + s->ev.dur_ns);
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct devices *d = state;
	int err = 0;

	for (size_t i = 0; i < b->track_cnt && !err; i++) {
		const struct track *t = b->tracks[i].track;

		if (t->kind != TRACK_DEVICE || t->device < 0 || t->device >= MAX_DEVICES)
			continue;
		d->seen[t->device] = true;
		for (const struct span *s = b->tracks[i].roots; s && !err; s = s->next_sibling)
			if (s->kind == KIND_KERNEL)
				err = add_kernel(d, t, s);
	}
	return err;
}

static uint64_t number(const json_t *cpu, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(cpu, key));

	return v > 0 ? (uint64_t)v : 0;
}

static int add_row(struct table *t, int indent, const char *name, uint64_t part, uint64_t whole,
		   const char *why)
{
	struct cell cells[] = {cell__text(name),
			       whole ? cell__share(part, whole) : cell__none(why)};

	return table__add_row(t, indent, cells);
}

/* What steps launched counts for them, whenever it ran: as much of the steps before the first one
 * ran in their time, and is not recorded. Of a queue that grew that is not so. */
static const char *why_unknown(const struct analysis *a, struct interval_union *kernels)
{
	return a->steps.calls && interval_union__length(kernels) > coverage__known_ns(a)
		       ? "the steps launched more than it could do in their time, and what it had "
			 "from before is not recorded"
		       : NULL;
}

static int add_busy(const struct analysis *a, int indent, const char *name, const char *unknown,
		    struct interval_union *kernels, struct table *t)
{
	return add_row(t, indent, name, interval_union__length(kernels),
		       unknown ? 0 : coverage__known_ns(a),
		       unknown ? unknown : "no time was recorded");
}

static int by_stream(const void *x, const void *y, void *ctx)
{
	const struct stream_union *p = x, *q = y;
	const struct recording *r = ctx;
	int64_t v = recording__track(r, p->group)->stream;
	int64_t w = recording__track(r, q->group)->stream;

	return v < w ? -1 : v > w;
}

static int fill_streams(const struct analysis *a, struct devices *d, int device,
			const char *unknown, struct table *t)
{
	int err = 0;

	if (!a->opts->by_device)
		return 0;
	if (d->streams.cnt)
		qsort_r(d->streams.items, d->streams.cnt, sizeof(*d->streams.items), by_stream,
			(void *)a->r);
	for (size_t i = 0; i < d->streams.cnt && !err; i++) {
		struct stream_union *u = &d->streams.items[i];
		const struct track *track = recording__track(a->r, u->group);
		char name[48];

		if (track->device != device)
			continue;
		snprintf(name, sizeof(name), "stream %lld", (long long)track->stream);
		err = add_busy(a, 1, name, unknown, &u->time, t);
	}
	return err;
}

static int fill_devices(const struct analysis *a, struct devices *d, struct table *t)
{
	int err = 0;

	for (int i = 0; i < MAX_DEVICES && !err; i++) {
		const char *unknown = why_unknown(a, &d->kernels[i]);
		char name[16];

		if (!d->seen[i])
			continue;
		snprintf(name, sizeof(name), "GPU%d", i);
		err = add_busy(a, 0, name, unknown, &d->kernels[i], t);
		if (!err)
			err = fill_streams(a, d, i, unknown, t);
		if (!err && unknown)
			err = table__add_notef(t, "%s: not known: %s.", name, unknown);
	}
	return err;
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	const struct column name = {"device", "Device", 30, NULL, CELL_TEXT};
	const struct column use = {"utilization", "Utilization (%)", 20, NULL, CELL_PERCENT};
	const json_t *cpu = json_object_get(recording__summary(a->r), "cpu");
	const char *why = recording__summary(a->r) ? "CPU time was not recorded"
						   : "the recording was cut off";
	uint64_t busy = number(cpu, "busy_ns");
	int err = table__add_column(t, &name);

	if (!err)
		err = table__add_column(t, &use);
	if (!err)
		err = add_row(t, 0, "CPU(Process)", number(cpu, "process_ns"),
			      number(cpu, "wall_ns"), why);
	if (!err)
		err = add_row(t, 0, "CPU(System)", busy, busy + number(cpu, "idle_ns"), why);
	if (!err)
		err = fill_devices(a, state, t);
	if (!err)
		err = table__add_note(t, "CPU(Process): CPU time of the process on all cores / "
					 "elapsed time; 100 % is one core.");
	if (!err)
		err = table__add_note(t, "CPU(System): busy time of all cores / (busy + idle).");
	if (!err && !(number(cpu, "wall_ns") && busy))
		err = table__add_notef(t, "CPU: not known (%s).", why);
	if (!err && a->has_device)
		err = table__add_notef(
			t, "GPU: time in which at least one kernel of the process ran / %s%s.",
			analysis__total_name(a),
			coverage__is_partial(a) ? ", as far as device times are known" : "");
	return err;
}

static void clean(void *state)
{
	struct devices *d = state;

	for (int i = 0; i < MAX_DEVICES; i++)
		interval_union__free(&d->kernels[i]);
	stream_unions__free(&d->streams);
}

const struct table_impl table_device = {
	.def = {"device", "CPU and GPU utilisation", true, NULL, USES_BY_DEVICE},
	.title = "Device Summary",
	.rests_on_device = true,
	.state_size = sizeof(struct devices),
	.visit = visit,
	.fill = fill,
	.clean = clean,
};
