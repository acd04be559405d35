// SPDX-License-Identifier: BSD-2-Clause
/* Data over time: phases of the steps, work on threads and devices, and memory in use. */
#include <string.h>
#include "common/util.h"
#include "exporters/parts/event_text.h"
#include "model/device_clock.h"
#include "page/page_internal.h"

/* ---- phases and threads ---- */

static bool is_work(enum span_kind kind)
{
	return kind == KIND_OPERATOR || kind == KIND_PYTHON_OP || kind == KIND_SCRIPT ||
	       kind == KIND_COMMUNICATION || kind == KIND_RUNTIME || kind == KIND_SYNC;
}

static int add_span(struct usage *u, const struct span *s, bool phases)
{
	const uint64_t end_ns = s->ev.ts_ns + s->ev.dur_ns;
	int err = 0;

	if (phases && span_kind__is_phase(s->kind))
		err = bins__add(&u->bins, BIN_PHASE, s->kind, s->ev.ts_ns, end_ns);
	if (is_work(s->kind))
		return err ? err
			   : bins__add(&u->bins, BIN_THREAD, s->ev.track, s->ev.ts_ns, end_ns);
	for (const struct span *c = s->first_child; c && !err; c = c->next_sibling)
		err = add_span(u, c, phases && !span_kind__is_phase(s->kind));
	return err;
}

/* ---- devices: streams overlap, so time is that of a union ---- */

struct devices {
	struct usage *u;
	struct busy_time busy[USAGE_DEVICES];
};

static int add_work(const struct device_work *w, void *ctx)
{
	struct devices *d = ctx;
	const int device = w->track->device;
	uint64_t more_ns;

	if (device < 0 || device >= USAGE_DEVICES) {
		d->u->bins.left_out++;
		return 0;
	}
	more_ns = busy_time__add(&d->busy[device], w->begin_ns, w->end_ns);
	return bins__add(&d->u->bins, BIN_DEVICE, (uint32_t)device, w->end_ns - more_ns, w->end_ns);
}

int usage__finish(struct usage *u)
{
	struct devices d = {.u = u};
	struct device_clock *clock;
	int err;

	if (!u->bins.begun || !u->has_device)
		return 0;
	err = device_clock__open(u->r, &clock);
	if (err)
		return err;
	err = device_clock__between(clock, u->bins.begin_ns, UINT64_MAX, add_work, &d);
	device_clock__close(clock);
	return err;
}

/* ---- memory ---- */

/* 2 * (device + 1), 0 for the host; + 1: taken from the driver. */
static uint32_t place_of(const struct event *e, const struct event_memory *m)
{
	const bool device = m->device_type && m->device_index >= 0;

	return (device ? (uint32_t)m->device_index + 1 : 0) * 2 + (e->name != 0);
}

static int add_memory(struct usage *u, const struct event *e)
{
	const struct event_memory *m = e->args;
	const uint32_t place = place_of(e, m);

	if (place >= USAGE_PLACES) {
		u->bins.left_out++;
		return 0;
	}
	u->held[place] += e->value;
	if (m->total_allocated != UINT64_MAX && !e->name)
		u->held[place] = (int64_t)m->total_allocated;
	else
		u->relative[place] = true;
	return bins__level(&u->bins, place, e->ts_ns, u->held[place]);
}

/* ---- a batch ---- */

static void begin(struct usage *u, const struct batch *b)
{
	uint64_t ns = b->step ? b->step->ts_ns : UINT64_MAX;

	if (u->bins.begun)
		return;
	for (size_t i = 0; i < b->track_cnt; i++)
		if (b->tracks[i].roots && b->tracks[i].roots->ev.ts_ns < ns)
			ns = b->tracks[i].roots->ev.ts_ns;
	if (b->memory_cnt && b->memory[0].ts_ns < ns)
		ns = b->memory[0].ts_ns;
	if (ns != UINT64_MAX)
		bins__begin(&u->bins, ns);
}

static int add_track(struct usage *u, const struct track_batch *t, const struct step *step)
{
	const bool phases = step && step->track == t->track->id;
	int err = 0;

	for (const struct span *s = t->roots; s && !err; s = s->next_sibling) {
		if (t->track->kind != TRACK_DEVICE)
			err = add_span(u, s, phases);
		else
			u->has_device = true;
	}
	return err;
}

int usage__visit(struct usage *u, const struct batch *b)
{
	int err = 0;

	begin(u, b);
	if (b->step)
		err = bins__add(&u->bins, BIN_PHASE, KIND_STEP, b->step->ts_ns,
				b->step->ts_ns + b->step->dur_ns);
	for (size_t i = 0; i < b->track_cnt && !err; i++)
		err = add_track(u, &b->tracks[i], b->step);
	for (size_t i = 0; i < b->memory_cnt && !err; i++)
		err = add_memory(u, &b->memory[i]);
	return err;
}

void usage__free(struct usage *u)
{
	bins__free(&u->bins);
}

/* ---- JSON ---- */

static const char *const whats[] = {
	[BIN_PHASE] = "phase",
	[BIN_THREAD] = "thread",
	[BIN_DEVICE] = "device",
	[BIN_MEMORY] = "memory",
};

static void series_name(const struct usage *u, const struct bin_series *s, char *name, size_t size)
{
	const struct track *t = recording__track(u->r, s->id);

	name[0] = '\0';
	if (s->what == BIN_PHASE)
		snprintf(name, size, "%s", span_kind__label((enum span_kind)s->id));
	else if (s->what == BIN_DEVICE)
		snprintf(name, size, "GPU %u", s->id);
	else if (s->what == BIN_MEMORY && s->id > 1)
		snprintf(name, size, "GPU %u, %s", s->id / 2 - 1,
			 s->id % 2 ? "taken from the driver" : "allocated");
	else if (s->what == BIN_MEMORY)
		snprintf(name, size, "CPU%s", s->id ? ", pinned" : "");
	else if (t)
		track__label(t, name, size);
}

/* A level lasts until the next event, so an empty bin has the level of the bin before. An absolute
 * level is unknown before its first event. */
static void write_levels(const struct bin_series *s, bool known, size_t cnt, struct text_file *out)
{
	int64_t last = 0;

	for (size_t i = 0; i < cnt; i++) {
		if (i)
			text_file__put(out, ",", 1);
		if (s->has[i])
			text_file__print(out, "%lld",
					 (long long)(known && last > s->max[i] ? last : s->max[i]));
		else if (known)
			text_file__print(out, "%lld", (long long)last);
		else
			text_file__print(out, "null");
		if (s->has[i])
			last = s->last[i];
		known |= s->has[i];
	}
}

static void write_series(const struct usage *u, const struct bin_series *s, size_t cnt,
			 struct text_file *out)
{
	char name[256];

	series_name(u, s, name, sizeof(name));
	text_file__print(out, "{\"what\":\"%s\",\"id\":%u,\"name\":", whats[s->what], s->id);
	page_json__string(out, name);
	if (s->what == BIN_MEMORY)
		text_file__print(out, ",\"relative\":%s", u->relative[s->id] ? "true" : "false");
	text_file__print(out, ",\"values\":[");
	if (s->what == BIN_MEMORY)
		write_levels(s, u->relative[s->id], cnt, out);
	else
		for (size_t i = 0; i < cnt; i++)
			text_file__print(out, "%s%llu", i ? "," : "",
					 (unsigned long long)s->sum_ns[i]);
	text_file__print(out, "]}");
}

void usage__write(const struct usage *u, struct text_file *out)
{
	const struct bins *b = &u->bins;
	const uint64_t ns = b->end_ns - b->begin_ns;
	const size_t cnt = b->begun && ns ? (ns - 1) / b->width_ns + 1 : 0;

	text_file__print(out,
			 "{\"begin_ns\":%llu,\"width_ns\":%llu,\"length_ns\":%llu,"
			 "\"left_out\":%llu,\"series\":[",
			 (unsigned long long)b->begin_ns, (unsigned long long)b->width_ns,
			 (unsigned long long)ns, (unsigned long long)b->left_out);
	for (size_t i = 0; i < b->cnt && cnt; i++) {
		text_file__print(out, i ? ",\n" : "\n");
		write_series(u, b->series[i], cnt, out);
	}
	text_file__print(out, "]}");
}
