// SPDX-License-Identifier: BSD-2-Clause
/*
 * The file of Paddle's profiler before 2.3 (profile_path of fluid.profiler), which Paddle's
 * tools/timeline.py reads: paddle/fluid/platform/profiler.proto, package paddle.platform.proto.
 */
#include <string.h>
#include "common/counted.h"
#include "common/err.h"
#include "exporters/message_table.h"
#include "common/util.h"
#include "exporters/exporters.h"
#include "exporters/parts/facts.h"
#include "exporters/parts/lifetimes.h"
#include "exporters/parts/output.h"
#include "common/proto.h"
#include "exporters/parts/rows.h"
#include "exporters/parts/text_file.h"

enum {
	PROFILE_EVENT = 1,
	PROFILE_BEGIN = 2,
	PROFILE_END = 3,
	PROFILE_MEMORY = 4,
	EVENT_NAME = 1,
	EVENT_BEGIN = 2,
	EVENT_END = 3,
	EVENT_DEVICE_ID = 5,
	EVENT_SUB_DEVICE = 6, /* thread or stream */
	EVENT_COPY = 7,
	EVENT_KIND = 8,
	EVENT_DETAIL = 9,
	COPY_BYTES = 1,
	MEMORY_BEGIN = 1,
	MEMORY_END = 2,
	MEMORY_BYTES = 3,
	MEMORY_PLACE = 4,
	MEMORY_THREAD = 5,
	MEMORY_DEVICE = 6,
	MEMORY_ALLOC_IN = 7,
	MEMORY_FREE_IN = 8,
};

enum { KIND_CPU = 0, KIND_GPU_KERNEL = 1 };
enum { PLACE_CUDA = 0, PLACE_CPU = 1, PLACE_PINNED = 2 };

#define DEVICE_CALLS  UINT64_MAX /* -1: calls of CUDA */
#define DEVICE_HOST   0		 /* depth of a static program's block, which is not recorded */
#define PLACE_DEVICES 4		 /* place in struct lifetime: device * 4 + place */

struct paddle_proto {
	struct rows *rows;
	struct text_file *out;
	struct proto p;
	struct lifetimes lifetimes;
	uint64_t first_ns, last_ns, events;
	uint64_t unknown_allocations, other;
	int64_t wall_offset_ns;
};

static uint64_t wall_ns(const struct paddle_proto *w, uint64_t ns)
{
	return ns + (uint64_t)w->wall_offset_ns;
}

static int flush(struct paddle_proto *w)
{
	text_file__put(w->out, (char *)w->p.buf, w->p.len);
	w->p.len = 0;
	return w->p.err ? w->p.err : text_file__error(w->out);
}

/* ---- events ---- */

static size_t begin_event(struct paddle_proto *w, const struct event *e, const char *name)
{
	const size_t at = proto__begin(&w->p, PROFILE_EVENT);
	const uint64_t end_ns = e->ts_ns + e->dur_ns;

	proto__string(&w->p, EVENT_NAME, name);
	proto__varint(&w->p, EVENT_BEGIN, wall_ns(w, e->ts_ns));
	proto__varint(&w->p, EVENT_END, wall_ns(w, end_ns));
	if (e->ts_ns < w->first_ns)
		w->first_ns = e->ts_ns;
	if (end_ns > w->last_ns)
		w->last_ns = end_ns;
	w->events++;
	return at;
}

static void put_place(struct paddle_proto *w, uint64_t device, uint64_t sub, int kind)
{
	proto__varint(&w->p, EVENT_DEVICE_ID, device);
	proto__varint(&w->p, EVENT_SUB_DEVICE, sub);
	proto__varint(&w->p, EVENT_KIND, (uint64_t)kind);
}

static void put_host(struct paddle_proto *w, const struct row *row, const char *name)
{
	const uint8_t category = row->name ? row->name->category : CAT_NONE;
	const bool is_call = category == CAT_RUNTIME || category == CAT_DRIVER;
	const size_t at = begin_event(w, row->ev, name);

	put_place(w, is_call ? DEVICE_CALLS : DEVICE_HOST, row->track->tid, KIND_CPU);
	if (!is_call && row->ev->type == EVENT_SPAN && row->ev->args && row->ev->args_len) {
		char inputs[TENSORS_TEXT_MAX];

		tensors__text(&w->rows->dtypes, row->ev->args, row->ev->args_len, inputs,
			      sizeof(inputs));
		if (*inputs)
			proto__string(&w->p, EVENT_DETAIL, inputs);
	}
	proto__end(&w->p, at);
}

/* Paddle's name for device work: that of the innermost event that launched it. NULL: unknown. */
static const struct span *annotation_of(const struct span *work)
{
	const struct span *s = work->launch;

	while (s && s->kind == KIND_RUNTIME)
		s = s->parent;
	return s;
}

static int put_device(struct paddle_proto *w, const struct row *row)
{
	const uint8_t category = row->name ? row->name->category : CAT_NONE;
	const char *own = span__name(w->rows->r, row->span);
	const struct span *enclosing = annotation_of(row->span);
	size_t at, copy;

	if (category == CAT_SYNC || row->track->kind != TRACK_DEVICE) {
		w->other++;
		return 0;
	}
	at = begin_event(w, row->ev, enclosing ? span__name(w->rows->r, enclosing) : own);
	put_place(w, (uint64_t)row->track->device, (uint64_t)row->track->stream, KIND_GPU_KERNEL);
	if (enclosing)
		proto__string(&w->p, EVENT_DETAIL, own);
	if (category == CAT_MEMCPY && row->ev->value > 0) {
		copy = proto__begin(&w->p, EVENT_COPY);
		proto__varint(&w->p, COPY_BYTES, (uint64_t)row->ev->value);
		proto__end(&w->p, copy);
	}
	proto__end(&w->p, at);
	return flush(w);
}

static void put_step(struct paddle_proto *w, const struct row *row)
{
	char name[48];

	snprintf(name, sizeof(name), "ProfileStep#%llu", (unsigned long long)row->ev->id);
	put_host(w, row, name);
}

/* ---- memory ---- */

/* Memory that the driver gave to the framework's allocator would be counted twice. */
static bool is_from_driver(const struct row *row, const struct event_memory *m)
{
	return row->name && m->device_type;
}

/* The id of the enclosing event's name (of the caller of cudaMalloc, not of cudaMalloc). Without a
 * name: the number of names plus its kind. 0: there is no event. */
static uint32_t owner_of(const struct paddle_proto *w, const struct row *row)
{
	const struct span *s = row->enclosing;

	while (s && s->kind == KIND_RUNTIME)
		s = s->parent;
	if (!s)
		return 0;
	return s->ev.name ? s->ev.name : recording__name_cnt(w->rows->r) + 1 + (uint32_t)s->kind;
}

static void put_owner(struct paddle_proto *w, uint32_t field, uint32_t owner)
{
	const uint32_t name_cnt = recording__name_cnt(w->rows->r);
	const struct name *n =
		owner && owner <= name_cnt ? recording__name(w->rows->r, owner) : NULL;

	if (n)
		proto__string(&w->p, field, n->text);
	else if (owner > name_cnt)
		proto__string(&w->p, field,
			      span_kind__label((enum span_kind)(owner - name_cnt - 1)));
}

static void put_lifetime(struct paddle_proto *w, const struct lifetime *l, uint64_t end_ns,
			 uint32_t freed_in)
{
	const size_t at = proto__begin(&w->p, PROFILE_MEMORY);

	proto__varint(&w->p, MEMORY_BEGIN, wall_ns(w, l->begin_ns));
	proto__varint(&w->p, MEMORY_END, wall_ns(w, end_ns));
	proto__varint(&w->p, MEMORY_BYTES, l->bytes);
	proto__varint(&w->p, MEMORY_PLACE, l->place % PLACE_DEVICES);
	proto__varint(&w->p, MEMORY_THREAD, l->tid);
	proto__varint(&w->p, MEMORY_DEVICE, l->place / PLACE_DEVICES);
	put_owner(w, MEMORY_ALLOC_IN, l->alloc_in);
	put_owner(w, MEMORY_FREE_IN, freed_in);
	proto__end(&w->p, at);
	w->events++;
}

static uint32_t place_of(const struct row *row, const struct event_memory *m)
{
	if (m->device_type && m->device_index >= 0)
		return (uint32_t)m->device_index * PLACE_DEVICES + PLACE_CUDA;
	return row->name && !strcmp(row->name->text, "Pinned") ? PLACE_PINNED : PLACE_CPU;
}

static int put_memory(struct paddle_proto *w, const struct row *row)
{
	const struct event *e = row->ev;
	struct lifetime found, l = {.address = e->id,
				    .pid = row->track->pid,
				    .tid = row->track->tid,
				    .begin_ns = e->ts_ns,
				    .alloc_in = owner_of(w, row)};
	struct event_memory m;
	int err = 0;

	if (!event__memory(e, &m) || e->id == EVENT_NO_ID || is_from_driver(row, &m)) {
		w->other++;
		return 0;
	}
	if (e->ts_ns > w->last_ns)
		w->last_ns = e->ts_ns;
	l.place = place_of(row, &m);
	if (e->value > 0) {
		l.bytes = (uint64_t)e->value;
		err = lifetimes__begin(&w->lifetimes, &l, &found);
	} else {
		found = lifetimes__end(&w->lifetimes, &l);
		w->unknown_allocations += !found.bytes;
	}
	if (!err && found.bytes)
		put_lifetime(w, &found, e->ts_ns, e->value > 0 ? 0 : l.alloc_in);
	return err ? err : flush(w);
}

static void put_alive(const struct lifetime *l, void *ctx)
{
	struct paddle_proto *w = ctx;

	put_lifetime(w, l, w->last_ns, 0);
	flush(w);
}

/* ---- the export ---- */

static int put_row(const struct row *row, void *ctx)
{
	struct paddle_proto *w = ctx;

	switch (row->ev->type) {
	case EVENT_STEP:
		put_step(w, row);
		break;
	case EVENT_SPAN:
		put_host(w, row, span__name(w->rows->r, row->span));
		break;
	case EVENT_ASYNC:
		put_host(w, row, row->name ? row->name->text : "unnamed");
		break;
	case EVENT_DEVICE:
		return put_device(w, row);
	case EVENT_MEMORY:
		return put_memory(w, row);
	default:
		w->other++;
	}
	return flush(w);
}

static int put_all(struct paddle_proto *w)
{
	int err = rows__each(w->rows, put_row, w);

	if (err)
		return err;
	lifetimes__each(&w->lifetimes, put_alive, w);
	if (w->first_ns <= w->last_ns) {
		proto__varint(&w->p, PROFILE_BEGIN, wall_ns(w, w->first_ns));
		proto__varint(&w->p, PROFILE_END, wall_ns(w, w->last_ns));
	}
	return flush(w);
}

/* Reports it on stderr, because the file has no place for it. */
static void say_left_out(const struct paddle_proto *w)
{
	auto_free char *loss = facts__loss(w->rows->r);

	if (w->other)
		log__warn(MESSAGE_PADDLE_EVENTS_LEFT_OUT, counted(w->other, "event", "events").s);
	if (w->unknown_allocations)
		log__warn(MESSAGE_PADDLE_FREES_LEFT_OUT,
			  counted(w->unknown_allocations, "free was", "frees were").s);
	if (w->lifetimes.forgotten)
		log__warn(MESSAGE_PADDLE_ALLOCATIONS_LEFT_OUT,
			  counted(w->lifetimes.forgotten, "allocation was", "allocations were").s);
	if (loss && *loss)
		log__warn(MESSAGE_PADDLE_LOSS_LEFT_OUT, loss);
}

static int paddle_proto__run(const struct recording *r, const struct export_opts *opts,
			     struct export_result *result)
{
	struct paddle_proto w = {.wall_offset_ns = facts__wall_offset_ns(r),
				 .first_ns = UINT64_MAX};
	int err = output__no_dialect(opts, "paddle-proto"), level;

	*result = (struct export_result){0};
	if (!err)
		err = output__choose(r, opts, ".paddle.pb", 0, &level, result);
	if (!err)
		err = rows__open(r, &w.rows);
	if (!err)
		err = text_file__open(result->path, level, &w.out);
	if (!err) {
		err = put_all(&w);
		result->events = w.events;
		err = text_file__end(w.out, err, &result->bytes);
	}
	if (!err)
		say_left_out(&w);
	rows__close(w.rows);
	lifetimes__free(&w.lifetimes);
	proto__free(&w.p);
	return err;
}

const struct exporter exporter_paddle_proto = {
	.name = "paddle-proto",
	.summary = "profile.proto of Paddle's fluid.profiler, for its tools/timeline.py",
	.binary = true,
	.run = paddle_proto__run,
};
