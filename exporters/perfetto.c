// SPDX-License-Identifier: BSD-2-Clause
/*
 * Perfetto's own protobuf format: tracks of processes, threads, devices and their streams, arrows
 * from launches to device work, counters, and details of each slice. Steps and phases, including
 * the inferred forward, come from the model in a second pass, on a separate track.
 */
#include <inttypes.h>
#include "common/err.h"
#include "common/util.h"
#include "exporters/parts/event_text.h"
#include "exporters/exporters.h"
#include "exporters/parts/facts.h"
#include "exporters/parts/output.h"
#include "exporters/perfetto_writer.h"
#include "exporters/parts/slices.h"
#include "model/device_info.h"
#include "model/model.h"

#define LINK_CNT (1u << 16) /* remembered launches; older ones get no arrow */

struct launch {
	uint64_t correlation, flow, end_ns; /* flow 0: free */
};

/* A parent of tracks: a process, or a device. */
struct group {
	bool device;
	uint32_t id;
	uint64_t uuid;
	uint64_t phases; /* of a process: track of steps and phases, 0: none yet */
};

/* A counter: memory of a place by kind, or a named counter. */
struct counter {
	uint64_t group, key, uuid;
	int64_t value;
};

struct perfetto {
	const struct recording *r;
	struct slices *slices;
	struct perfetto_writer w;
	struct dtypes dtypes;
	struct device_infos devices;
	struct launch *launches;
	uint64_t next_flow;
	struct group *groups;
	size_t group_cnt, group_cap;
	struct counter *counters;
	size_t counter_cnt, counter_cap;
	uint64_t *tracks; /* uuid by row, 0: not written yet */
	uint32_t track_cnt;
	uint64_t events;
	uint64_t last_phase_ns;
	char *title, *loss;
};

/* ---- tracks ---- */

static int group__of(struct perfetto *p, bool device, uint32_t id, struct group **out)
{
	struct group g = {.device = device, .id = id};
	char name[192], clock[64];
	int err;

	for (size_t i = 0; i < p->group_cnt; i++)
		if (p->groups[i].device == device && p->groups[i].id == id) {
			*out = &p->groups[i];
			return 0;
		}
	if (device) {
		const struct device_info *d = device_infos__at(&p->devices, id);

		facts__clock(p->r, id, clock, sizeof(clock));
		snprintf(name, sizeof(name), "GPU %u%s%s%s", id, d ? " " : "", d ? d->name : "",
			 clock);
		g.uuid = perfetto_writer__track(&p->w, 0, name, (int)id);
	} else {
		g.uuid = perfetto_writer__process(&p->w, id, p->title, p->loss);
	}
	err = ARRAY_PUSH(p->groups, p->group_cnt, p->group_cap, g);
	*out = &p->groups[p->group_cnt ? p->group_cnt - 1 : 0];
	return err;
}

static int row__describe(struct perfetto *p, const struct slice_row *row, uint64_t *uuid)
{
	const struct track *t = row->track;
	const bool device = t->kind == TRACK_DEVICE;
	struct group *g;
	char name[128];
	int err = group__of(p, device, device ? (uint32_t)t->device : t->pid, &g);

	if (err)
		return err;
	slice_row__name(row, name, sizeof(name));
	if (row->kind == ROW_THREAD)
		*uuid = perfetto_writer__thread(&p->w, g->uuid, t->pid, t->tid, t->name);
	else
		*uuid = perfetto_writer__track(&p->w, g->uuid, name, (int)row->id);
	return 0;
}

static int row__track(struct perfetto *p, const struct slice_row *row, uint64_t *uuid)
{
	int err = 0;

	if (row->id >= p->track_cnt) {
		uint64_t *grown = realloc(p->tracks, ((size_t)row->id + 1) * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		memset(grown + p->track_cnt, 0, (row->id + 1 - p->track_cnt) * sizeof(*grown));
		p->tracks = grown;
		p->track_cnt = row->id + 1;
	}
	if (!p->tracks[row->id])
		err = row__describe(p, row, &p->tracks[row->id]);
	*uuid = p->tracks[row->id];
	return err;
}

/* ---- what is known of a slice ---- */

static struct launch *launch_at(struct perfetto *p, uint64_t correlation)
{
	return &p->launches[correlation % LINK_CNT];
}

static void put_call(struct perfetto *p, const struct event *e, uint8_t category)
{
	struct event_call call;
	char text[32];

	if (e->flags & EVENT_FAILED)
		perfetto_event__arg_u64(&p->w, KEY_FAILED, 1);
	if (!event__call(e, category, &call))
		return;
	if (call.stream != EVENT_NO_ID) {
		snprintf(text, sizeof(text), "%#" PRIx64, call.stream);
		perfetto_event__arg_text(&p->w, KEY_STREAM_HANDLE, text);
	}
	if (copy_kind__key(call.copy_kind))
		perfetto_event__arg_text(&p->w, KEY_COPY, copy_kind__key(call.copy_kind));
	if (call.kernel && recording__name(p->r, call.kernel) &&
	    recording__name(p->r, call.kernel)->text)
		perfetto_event__arg_text(&p->w, KEY_KERNEL,
					 recording__name(p->r, call.kernel)->text);
}

static void put_host(struct perfetto *p, const struct slice *s, uint8_t category)
{
	const struct event *e = &s->ev;
	const bool launch = category == CAT_RUNTIME || category == CAT_DRIVER;
	char text[TENSORS_TEXT_MAX];

	if (launch) {
		struct launch *l = launch_at(p, e->id);

		put_call(p, e, category);
		if (e->id == EVENT_NO_ID)
			return;
		perfetto_event__arg_u64(&p->w, KEY_CORRELATION, e->id);
		/* a call through runtime and driver has one id; the outer call is the launch */
		if (l->flow && l->correlation == e->id)
			return;
		*l = (struct launch){e->id, p->next_flow++, s->end_ns};
		perfetto_event__flow(&p->w, l->flow);
		return;
	}
	if (e->id != EVENT_NO_ID && e->type == EVENT_SPAN)
		perfetto_event__arg_u64(&p->w, KEY_SEQUENCE, e->id);
	if (e->type == EVENT_SPAN && recording__full_name(p->r, e->overload))
		perfetto_event__arg_text(&p->w, KEY_FULL_NAME,
					 recording__full_name(p->r, e->overload));
	if (e->args_len && tensors__text(&p->dtypes, e->args, e->args_len, text, sizeof(text)))
		perfetto_event__arg_text(&p->w, KEY_INPUTS, text);
}

static void put_kernel(struct perfetto *p, const struct slice *s, uint8_t category)
{
	const struct device_info *d = device_infos__at(&p->devices, s->row->track->device);
	struct event_kernel k;
	struct kernel_fill fill;
	char text[DIM3_TEXT_MAX];

	if (!event__kernel(&s->ev, category, &k))
		return;
	dim3__text(k.grid, text);
	perfetto_event__arg_text(&p->w, KEY_GRID, text);
	dim3__text(k.block, text);
	perfetto_event__arg_text(&p->w, KEY_BLOCK, text);
	perfetto_event__arg_u64(&p->w, KEY_REGISTERS, k.registers);
	perfetto_event__arg_u64(&p->w, KEY_SHARED,
				(uint64_t)k.static_shared_bytes + k.dynamic_shared_bytes);
	perfetto_event__arg_u64(&p->w, KEY_CONTEXT, k.context);
	if (k.graph)
		perfetto_event__arg_u64(&p->w, KEY_GRAPH, k.graph);
	if (!kernel_fill__of(d, &k, &fill))
		return;
	perfetto_event__arg_double(&p->w, KEY_BLOCKS_PER_SM, fill.blocks_per_sm);
	perfetto_event__arg_double(&p->w, KEY_WARPS_PER_SM, fill.warps_per_sm);
	perfetto_event__arg_u64(&p->w, KEY_OCCUPANCY, (uint64_t)(100 * fill.occupancy + 0.5));
}

static void put_device(struct perfetto *p, const struct slice *s, uint8_t category)
{
	const struct event *e = &s->ev;
	const struct launch *l = launch_at(p, e->id);

	put_kernel(p, s, category);
	if (e->value > 0 && (category == CAT_MEMCPY || category == CAT_MEMSET) && e->dur_ns)
		perfetto_event__arg_double(&p->w, KEY_BANDWIDTH,
					   (double)e->value / (double)e->dur_ns);
	if (e->id == EVENT_NO_ID)
		return;
	perfetto_event__arg_u64(&p->w, KEY_CORRELATION, e->id);
	if (category == CAT_SYNC || !l->flow || l->correlation != e->id)
		return;
	perfetto_event__flow(&p->w, l->flow);
	perfetto_event__arg_u64(&p->w, KEY_QUEUE_DELAY,
				s->ts_ns > l->end_ns ? s->ts_ns - l->end_ns : 0);
}

static void put_marks(struct perfetto *p, const struct slice *s)
{
	const char *cut = event_cut__key(s->ev.flags);

	if (s->ev.end == END_INFERRED)
		perfetto_event__arg_text(&p->w, KEY_END, "inferred");
	if (cut)
		perfetto_event__arg_text(&p->w, KEY_CUT, cut);
	if (s->clipped_ns)
		perfetto_event__arg_u64(&p->w, KEY_CLIPPED, s->clipped_ns);
}

static void put_step_name(struct perfetto *p, uint64_t index)
{
	char text[40];

	snprintf(text, sizeof(text), "ProfileStep#%" PRIu64, index);
	perfetto_event__text(&p->w, text);
	perfetto_event__arg_u64(&p->w, KEY_STEP, index);
}

static int put_begin(struct perfetto *p, const struct slice *s, uint64_t track)
{
	const struct name *n = s->ev.name ? recording__name(p->r, s->ev.name) : NULL;
	const uint8_t category = n ? n->category : CAT_NONE;

	p->events++;
	perfetto_event__begin(&p->w, PERFETTO_BEGIN, track);
	if (s->ev.type == EVENT_STEP) {
		put_step_name(p, s->ev.id);
	} else {
		perfetto_event__name(&p->w, s->ev.name);
		perfetto_event__category(&p->w, category);
	}
	if (s->ev.value > 0 && !category__is_joined(category))
		perfetto_event__arg_u64(&p->w, KEY_BYTES, (uint64_t)s->ev.value);
	if (s->ev.type == EVENT_DEVICE)
		put_device(p, s, category);
	else if (s->ev.type == EVENT_SPAN)
		put_host(p, s, category);
	else if (s->ev.type == EVENT_ASYNC)
		perfetto_event__arg_u64(&p->w, KEY_THREAD, s->row->track->tid);
	put_marks(p, s);
	return perfetto_event__end(&p->w, s->ts_ns);
}

/* ---- counters and marks ---- */

static int counter__of(struct perfetto *p, uint64_t group, uint64_t key, const char *name,
		       bool bytes, struct counter **out)
{
	struct counter c = {.group = group, .key = key};
	int err;

	for (size_t i = 0; i < p->counter_cnt; i++)
		if (p->counters[i].group == group && p->counters[i].key == key) {
			*out = &p->counters[i];
			return 0;
		}
	c.uuid = perfetto_writer__counter(&p->w, group, name, bytes);
	err = ARRAY_PUSH(p->counters, p->counter_cnt, p->counter_cap, c);
	*out = &p->counters[p->counter_cnt ? p->counter_cnt - 1 : 0];
	return err;
}

/* Keys of counters. A name id of the recording has 32 bits. */
#define COUNTER_ALLOCATED (1ull << 32)
#define COUNTER_RESERVED  (2ull << 32)

static int put_value(struct perfetto *p, const struct counter *c, uint64_t ts_ns)
{
	perfetto_event__begin(&p->w, PERFETTO_COUNTER, c->uuid);
	perfetto_event__value(&p->w, c->value);
	return perfetto_event__end(&p->w, ts_ns);
}

/* total: UINT64_MAX if the allocator does not report it; then the sum since the window's begin. */
static int put_memory_counter(struct perfetto *p, const struct slice *s, uint64_t group,
			      bool reserved, uint64_t total, int64_t delta)
{
	struct counter *c;
	int err = counter__of(p, group, reserved ? COUNTER_RESERVED : COUNTER_ALLOCATED,
			      reserved ? "memory reserved" : "memory allocated", true, &c);

	if (err)
		return err;
	c->value = total == UINT64_MAX ? (int64_t)((uint64_t)c->value + (uint64_t)delta)
				       : (int64_t)total;
	return put_value(p, c, s->ts_ns);
}

static int put_memory(struct perfetto *p, const struct slice *s)
{
	const bool driver = s->ev.name;
	struct event_memory m;
	struct group *g;
	uint64_t uuid;
	bool device;
	int err;

	event__memory(&s->ev, &m);
	device = m.device_type && m.device_index >= 0;
	err = group__of(p, device, device ? (uint32_t)m.device_index : s->row->track->pid, &g);
	if (err)
		return err;
	uuid = g->uuid;
	if (!driver)
		err = put_memory_counter(p, s, uuid, false, m.total_allocated, s->ev.value);
	if (!err && (driver || m.total_reserved != UINT64_MAX))
		err = put_memory_counter(p, s, uuid, true, m.total_reserved, s->ev.value);
	return err;
}

static int put_counter(struct perfetto *p, const struct slice *s)
{
	const struct name *n = s->ev.name ? recording__name(p->r, s->ev.name) : NULL;
	struct counter *c;
	struct group *g;
	int err = group__of(p, false, s->row->track->pid, &g);

	if (!err)
		err = counter__of(p, g->uuid, s->ev.name, n && n->text ? n->text : "(name lost)",
				  false, &c);
	if (err)
		return err;
	c->value = s->ev.value;
	return put_value(p, c, s->ts_ns);
}

/* The purpose of memory is no mark of the user. */
static bool is_storage(const struct perfetto *p, const struct slice *s)
{
	const struct name *n = s->ev.name ? recording__name(p->r, s->ev.name) : NULL;

	return n && n->category == CAT_STORAGE;
}

static int put_point(struct perfetto *p, const struct slice *s, uint64_t track)
{
	if (is_storage(p, s))
		return 0;
	p->events++;
	if (s->ev.type == EVENT_MEMORY)
		return put_memory(p, s);
	if (s->ev.type == EVENT_COUNTER)
		return put_counter(p, s);
	perfetto_event__begin(&p->w, PERFETTO_INSTANT, track);
	perfetto_event__name(&p->w, s->ev.name);
	if (s->ev.value)
		perfetto_event__arg_i64(&p->w, KEY_VALUE, s->ev.value);
	return perfetto_event__end(&p->w, s->ts_ns);
}

static int put_slice(struct perfetto *p, const struct slice *s)
{
	uint64_t track;
	int err = row__track(p, s->row, &track);

	if (err)
		return err;
	if (s->what == SLICE_BEGIN)
		return put_begin(p, s, track);
	if (s->what == SLICE_POINT)
		return put_point(p, s, track);
	perfetto_event__begin(&p->w, PERFETTO_END, track);
	return perfetto_event__end(&p->w, s->ts_ns);
}

/* ---- steps and phases ---- */

static int put_phase(struct perfetto *p, const struct span *s, uint64_t track, uint64_t end_ns)
{
	uint64_t begin = s->ev.ts_ns > p->last_phase_ns ? s->ev.ts_ns : p->last_phase_ns;
	uint64_t end = s->ev.ts_ns + s->ev.dur_ns < end_ns ? s->ev.ts_ns + s->ev.dur_ns : end_ns;
	int err;

	if (begin >= end)
		return 0;
	perfetto_event__begin(&p->w, PERFETTO_BEGIN, track);
	perfetto_event__text(&p->w, span_kind__label(s->kind));
	if (!s->ev.name)
		perfetto_event__arg_text(&p->w, KEY_END, "inferred");
	err = perfetto_event__end(&p->w, begin);
	if (err)
		return err;
	perfetto_event__begin(&p->w, PERFETTO_END, track);
	p->last_phase_ns = end;
	return perfetto_event__end(&p->w, end);
}

static int put_phases(struct perfetto *p, const struct span *s, uint64_t track, uint64_t end_ns)
{
	int err = 0;

	for (; s && !err; s = s->next_sibling)
		err = span_kind__is_phase(s->kind) ? put_phase(p, s, track, end_ns)
						   : put_phases(p, s->first_child, track, end_ns);
	return err;
}

static int put_step(const struct batch *b, void *ctx)
{
	struct perfetto *p = ctx;
	const struct step *step = b->step;
	const struct track *t = step ? recording__track(p->r, step->track) : NULL;
	struct group *g;
	uint64_t track;
	int err;

	if (!t)
		return 0;
	err = group__of(p, false, t->pid, &g);
	if (err)
		return err;
	if (!g->phases)
		g->phases = perfetto_writer__track(&p->w, g->uuid, "Steps and phases", -1);
	track = g->phases;
	p->last_phase_ns = step->ts_ns;
	perfetto_event__begin(&p->w, PERFETTO_BEGIN, track);
	put_step_name(p, step->index);
	err = perfetto_event__end(&p->w, step->ts_ns);
	for (size_t i = 0; i < b->track_cnt && !err; i++)
		if (b->tracks[i].track->id == step->track)
			err = put_phases(p, b->tracks[i].roots, track, step->ts_ns + step->dur_ns);
	perfetto_event__begin(&p->w, PERFETTO_END, track);
	return err ? err : perfetto_event__end(&p->w, step->ts_ns + step->dur_ns);
}

/* ---- the export ---- */

static int put_all(struct perfetto *p)
{
	struct slice s;
	int err;

	perfetto_writer__clocks(&p->w, slices__begin_ns(p->slices));
	while ((err = slices__next(p->slices, &s)) > 0) {
		err = put_slice(p, &s);
		if (err)
			return err;
	}
	return err ? err : model__run(p->r, NULL, put_step, p);
}

static int perfetto__init(struct perfetto *p, struct text_file *out)
{
	int err = perfetto_writer__init(&p->w, p->r, out);

	p->next_flow = 1;
	p->title = facts__title(p->r);
	p->loss = facts__loss(p->r);
	p->launches = calloc(LINK_CNT, sizeof(*p->launches));
	if (!err && (!p->title || !p->loss || !p->launches))
		err = -ENOMEM;
	if (!err)
		err = dtypes__load(p->r, &p->dtypes);
	return err ? err : device_infos__load(p->r, &p->devices);
}

static void perfetto__free(struct perfetto *p)
{
	perfetto_writer__free(&p->w);
	slices__close(p->slices);
	dtypes__free(&p->dtypes);
	device_infos__free(&p->devices);
	free(p->launches);
	free(p->groups);
	free(p->counters);
	free(p->tracks);
	free(p->title);
	free(p->loss);
}

static int perfetto__run(const struct recording *r, const struct export_opts *opts,
			 struct export_result *result)
{
	int err = output__no_dialect(opts, "perfetto"), level;
	struct perfetto p = {.r = r};
	struct text_file *out = NULL;

	*result = (struct export_result){0};
	if (!err)
		err = output__choose(r, opts, ".pftrace", 0, &level, result);
	if (!err)
		err = slices__open(r, &p.slices);
	if (!err)
		err = text_file__open(result->path, level, &out);
	if (!err)
		err = perfetto__init(&p, out);
	if (!err)
		err = put_all(&p);
	result->events = p.events;
	perfetto__free(&p);
	return out ? text_file__end(out, err, &result->bytes) : err;
}

const struct exporter exporter_perfetto = {
	.name = "perfetto",
	.summary = "Perfetto's protobuf: tracks, arrows, counters, steps and phases",
	.binary = true,
	.run = perfetto__run,
};
