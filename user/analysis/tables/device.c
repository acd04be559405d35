// SPDX-License-Identifier: BSD-2-Clause
/* Device Summary: how busy the processors were. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include "analysis/tables/facts.h"
#include "common/json_number.h"
#include "common/util.h"

#define MAX_DEVICES 64

struct devices {
	struct busy_time kernels[MAX_DEVICES];
	bool seen[MAX_DEVICES];
	struct busy_time *streams; /* by track */
};

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct devices *d = state;

	for (size_t i = 0; i < b->track_cnt; i++) {
		const struct track *t = b->tracks[i].track;

		if (t->kind == TRACK_DEVICE && t->device >= 0 && t->device < MAX_DEVICES)
			d->seen[t->device] = true;
	}
	return 0;
}

static int visit_work(const struct analysis *a, void *state, const struct device_work *w)
{
	struct devices *d = state;

	if (w->kind != KIND_KERNEL || w->track->device < 0 || w->track->device >= MAX_DEVICES)
		return 0;
	if (!d->streams)
		d->streams = calloc(recording__track_cnt(a->r) + 1, sizeof(*d->streams));
	if (!d->streams)
		return -ENOMEM;
	busy_time__add(&d->kernels[w->track->device], w->begin_ns, w->end_ns);
	busy_time__add(&d->streams[w->track->id], w->begin_ns, w->end_ns);
	return 0;
}

static int add_row(struct table *t, int indent, const char *name, uint64_t part, uint64_t whole,
		   const char *why)
{
	struct cell cells[] = {cell__text(name),
			       whole ? cell__share(part, whole) : cell__none(why)};

	return table__add_row(t, indent, cells);
}

static int add_busy(const struct analysis *a, int device, int indent, const char *name,
		    uint64_t busy_ns, struct table *t)
{
	return add_row(t, indent, name, busy_ns, analysis__clock_ns(a, device),
		       "all that ran was launched before the window");
}

static int by_stream(const void *x, const void *y)
{
	const struct track *p = *(const struct track *const *)x;
	const struct track *q = *(const struct track *const *)y;

	return (p->stream > q->stream) - (p->stream < q->stream);
}

static int fill_streams(const struct analysis *a, const struct devices *d, int device,
			struct table *t)
{
	const uint32_t cnt = recording__track_cnt(a->r);
	auto_free const struct track **tracks = calloc(cnt + 1, sizeof(*tracks));
	size_t used = 0;
	int err = tracks ? 0 : -ENOMEM;

	for (uint32_t id = 1; id <= cnt && !err; id++) {
		const struct track *track = recording__track(a->r, id);

		if (track && track->kind == TRACK_DEVICE && track->device == device &&
		    d->streams[id].total_ns)
			tracks[used++] = track;
	}
	if (used)
		qsort(tracks, used, sizeof(*tracks), by_stream);
	for (size_t i = 0; i < used && !err; i++) {
		char name[48];

		snprintf(name, sizeof(name), "stream %lld", (long long)tracks[i]->stream);
		err = add_busy(a, device, 1, name, d->streams[tracks[i]->id].total_ns, t);
	}
	return err;
}

static int fill_devices(const struct analysis *a, const struct devices *d, struct table *t)
{
	int err = 0;

	for (int i = 0; i < MAX_DEVICES && !err; i++) {
		char name[16];

		if (!d->seen[i])
			continue;
		snprintf(name, sizeof(name), "GPU%d", i);
		err = add_busy(a, i, 0, name, d->kernels[i].total_ns, t);
		if (!err && a->opts->by_device && d->streams)
			err = fill_streams(a, d, i, t);
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
	uint64_t busy = json__positive(cpu, "busy_ns");
	int err = table__add_column(t, &name);

	if (!err)
		err = table__add_column(t, &use);
	if (!err)
		err = add_row(t, 0, "CPU(Process)", json__positive(cpu, "process_ns"),
			      json__positive(cpu, "wall_ns"), why);
	if (!err)
		err = add_row(t, 0, "CPU(System)", busy, busy + json__positive(cpu, "idle_ns"),
			      why);
	if (!err)
		err = fill_devices(a, state, t);
	if (!err)
		err = table__add_note(t, "CPU(Process): CPU time of the process on all cores / "
					 "elapsed time; 100 % is one core.");
	if (!err)
		err = table__add_note(t, "CPU(System): busy time of all cores / (busy + idle).");
	if (!err && !(json__positive(cpu, "wall_ns") && busy))
		err = table__add_notef(t, "CPU: not known (%s).", why);
	if (!err && a->has_device)
		err = table__add_notef(
			t,
			"GPU: time in which at least one kernel of the process ran, inside %s%s.",
			analysis__clock_name(a),
			coverage__is_partial(a) ? ", as far as device times are known" : "");
	if (!err)
		err = device_feed__note_table(a, t);
	return err;
}

static void put_share(FILE *f, const char *name, uint64_t part, uint64_t whole)
{
	if (whole)
		fprintf(f, "%s %.2f %%", name, 100.0 * (double)part / (double)whole);
	else
		fprintf(f, "%s -", name);
}

static char *shares(const struct analysis *a, const struct devices *d)
{
	const json_t *cpu = json_object_get(recording__summary(a->r), "cpu");
	const uint64_t busy = json__positive(cpu, "busy_ns");
	char *text = NULL, name[24];
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	put_share(f, "CPU(Process)", json__positive(cpu, "process_ns"),
		  json__positive(cpu, "wall_ns"));
	put_share(f, ", CPU(System)", busy, busy + json__positive(cpu, "idle_ns"));
	for (int i = 0; i < MAX_DEVICES; i++) {
		if (!d->seen[i])
			continue;
		snprintf(name, sizeof(name), ", GPU%d", i);
		put_share(f, name, d->kernels[i].total_ns, analysis__clock_ns(a, i));
	}
	return fclose(f) ? NULL : text;
}

static int fill_short(const struct analysis *a, void *state, struct table *t)
{
	auto_free char *text = shares(a, state);
	const struct fact fact = {"device", "device, busy", cell__text(text)};
	int err = text ? facts__add(t, &fact, 1) : -ENOMEM;

	return err ? err : device_feed__note_table(a, t);
}

static void clean(void *state)
{
	free(((struct devices *)state)->streams);
}

const struct table_impl table_device = {
	.def = {"device", "CPU and GPU utilisation", true, NULL, USES_BY_DEVICE},
	.title = "Device Summary",
	.rests_on_device = true,
	.state_size = sizeof(struct devices),
	.visit = visit,
	.visit_work = visit_work,
	.fill = fill,
	.fill_short = fill_short,
	.clean = clean,
};
