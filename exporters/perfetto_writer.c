// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/perfetto_writer.h"
#include "common/util.h"
#include "exporters/parts/event_text.h"
#include "exporters/parts/facts.h"

#define SEQUENCE 1

enum {
	TRACE_PACKET = 1,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
	DEFAULTS_CLOCK_ID = 58,
	FLAG_STATE_CLEARED = 1,
	FLAG_NEEDS_STATE = 2,

	SNAPSHOT_CLOCK = 1,
	SNAPSHOT_PRIMARY_CLOCK = 2,
	CLOCK_FIELD_ID = 1,
	CLOCK_FIELD_TIMESTAMP = 2,
	CLOCK_ID_REALTIME = 1,
	CLOCK_ID_MONOTONIC = 3,

	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_OF_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	TRACK_CHILD_ORDERING = 11,
	TRACK_RANK = 12,
	ORDERING_EXPLICIT = 3,
	PROCESS_PID = 1,
	PROCESS_CMDLINE = 2,
	PROCESS_NAME = 6,
	PROCESS_LABELS = 8,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	COUNTER_UNIT = 3,
	UNIT_COUNT = 2,
	UNIT_SIZE_BYTES = 3,

	EVENT_CATEGORY_IID = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_NAME_TEXT = 23,
	EVENT_COUNTER_VALUE = 30,
	EVENT_FLOW = 47,
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_STRING = 6,

	INTERNED_CATEGORY = 1,
	INTERNED_NAME = 2,
	INTERNED_ANNOTATION = 3,
	INTERNED_IID = 1,
	INTERNED_TEXT = 2,
};

static const char *const keys[KEY_CNT] = {
	[KEY_STEP] = "step",
	[KEY_CORRELATION] = "correlation",
	[KEY_SEQUENCE] = "sequence number",
	[KEY_BYTES] = "bytes",
	[KEY_INPUTS] = "inputs",
	[KEY_FULL_NAME] = "full name",
	[KEY_STREAM_HANDLE] = "stream handle",
	[KEY_COPY] = "copy",
	[KEY_KERNEL] = "kernel",
	[KEY_FAILED] = "failed",
	[KEY_GRID] = "grid",
	[KEY_BLOCK] = "block",
	[KEY_REGISTERS] = "registers per thread",
	[KEY_SHARED] = "shared memory",
	[KEY_CONTEXT] = "context",
	[KEY_GRAPH] = "graph id",
	[KEY_OCCUPANCY] = "est. achieved occupancy %",
	[KEY_BLOCKS_PER_SM] = "blocks per SM",
	[KEY_WARPS_PER_SM] = "warps per SM",
	[KEY_QUEUE_DELAY] = "queue delay (ns)",
	[KEY_BANDWIDTH] = "memory bandwidth (GB/s)",
	[KEY_END] = "end",
	[KEY_CUT] = "cut",
	[KEY_CLIPPED] = "clipped_ns",
	[KEY_THREAD] = "begun by thread",
	[KEY_VALUE] = "value",
};

int perfetto_writer__init(struct perfetto_writer *w, const struct recording *r,
			  struct text_file *out)
{
	*w = (struct perfetto_writer){.r = r, .out = out, .next_uuid = 1};
	w->known_names = calloc((size_t)recording__name_cnt(r) / 8 + 1, 1);
	return w->known_names ? 0 : -ENOMEM;
}

void perfetto_writer__free(struct perfetto_writer *w)
{
	proto__free(&w->event);
	proto__free(&w->interned);
	proto__free(&w->packet);
	free(w->known_names);
}

/* ---- packets ---- */

static size_t packet__begin(struct perfetto_writer *w)
{
	w->packet.len = 0;
	return proto__begin(&w->packet, TRACE_PACKET);
}

static void packet__end(struct perfetto_writer *w, size_t at)
{
	proto__varint(&w->packet, PACKET_SEQUENCE_ID, SEQUENCE);
	proto__varint(&w->packet, PACKET_SEQUENCE_FLAGS,
		      w->any ? FLAG_NEEDS_STATE : FLAG_STATE_CLEARED);
	w->any = true;
	proto__end(&w->packet, at);
	text_file__put(w->out, (char *)w->packet.buf, w->packet.len);
}

static void put_clock(struct proto *p, uint64_t id, uint64_t ns)
{
	const size_t at = proto__begin(p, SNAPSHOT_CLOCK);

	proto__varint(p, CLOCK_FIELD_ID, id);
	proto__varint(p, CLOCK_FIELD_TIMESTAMP, ns);
	proto__end(p, at);
}

void perfetto_writer__clocks(struct perfetto_writer *w, uint64_t begin_ns)
{
	const json_t *clock = json_object_get(recording__meta(w->r), "clock");
	const json_int_t mono = json_integer_value(json_object_get(clock, "monotonic_ns"));
	const json_int_t wall = json_integer_value(json_object_get(clock, "realtime_ns"));
	struct proto *p = &w->packet;
	size_t packet = packet__begin(w), at;

	at = proto__begin(p, PACKET_CLOCK_SNAPSHOT);
	put_clock(p, CLOCK_ID_MONOTONIC, mono > 0 ? (uint64_t)mono : begin_ns);
	if (wall > 0 && mono > 0)
		put_clock(p, CLOCK_ID_REALTIME, (uint64_t)wall);
	proto__varint(p, SNAPSHOT_PRIMARY_CLOCK, CLOCK_ID_MONOTONIC);
	proto__end(p, at);
	at = proto__begin(p, PACKET_DEFAULTS);
	proto__varint(p, DEFAULTS_CLOCK_ID, CLOCK_ID_MONOTONIC);
	proto__end(p, at);
	packet__end(w, packet);
}

/* ---- tracks ---- */

struct track_packet {
	size_t packet, descriptor;
	uint64_t uuid;
};

static struct track_packet track__begin(struct perfetto_writer *w, uint64_t parent)
{
	struct track_packet t = {.packet = packet__begin(w), .uuid = w->next_uuid++};

	t.descriptor = proto__begin(&w->packet, PACKET_TRACK_DESCRIPTOR);
	proto__varint(&w->packet, TRACK_UUID, t.uuid);
	if (parent)
		proto__varint(&w->packet, TRACK_PARENT, parent);
	return t;
}

static uint64_t track__end(struct perfetto_writer *w, const struct track_packet *t)
{
	proto__end(&w->packet, t->descriptor);
	packet__end(w, t->packet);
	return t->uuid;
}

static void put_command(struct perfetto_writer *w)
{
	const json_t *process = json_object_get(recording__meta(w->r), "process");
	const json_t *argv = json_object_get(process, "argv");

	for (size_t i = 0; i < json_array_size(argv); i++) {
		const char *arg = json_string_value(json_array_get(argv, i));

		proto__string(&w->packet, PROCESS_CMDLINE, arg ? arg : "");
	}
}

uint64_t perfetto_writer__process(struct perfetto_writer *w, uint32_t pid, const char *name,
				  const char *label)
{
	const json_t *process = json_object_get(recording__meta(w->r), "process");
	const struct track_packet t = track__begin(w, 0);
	const size_t at = proto__begin(&w->packet, TRACK_PROCESS);

	proto__varint(&w->packet, PROCESS_PID, pid);
	proto__string(&w->packet, PROCESS_NAME, name);
	if (json_integer_value(json_object_get(process, "pid")) == pid)
		put_command(w);
	if (*label)
		proto__string(&w->packet, PROCESS_LABELS, label);
	proto__end(&w->packet, at);
	return track__end(w, &t);
}

uint64_t perfetto_writer__thread(struct perfetto_writer *w, uint64_t process, uint32_t pid,
				 uint32_t tid, const char *name)
{
	const struct track_packet t = track__begin(w, process);
	const size_t at = proto__begin(&w->packet, TRACK_OF_THREAD);

	proto__varint(&w->packet, THREAD_PID, pid);
	proto__varint(&w->packet, THREAD_TID, tid);
	if (name)
		proto__string(&w->packet, THREAD_NAME, name);
	proto__end(&w->packet, at);
	return track__end(w, &t);
}

uint64_t perfetto_writer__track(struct perfetto_writer *w, uint64_t parent, const char *name,
				int rank)
{
	const struct track_packet t = track__begin(w, parent);

	proto__string(&w->packet, TRACK_NAME, name);
	proto__varint(&w->packet, TRACK_CHILD_ORDERING, ORDERING_EXPLICIT);
	proto__varint(&w->packet, TRACK_RANK, (uint64_t)(int64_t)rank);
	return track__end(w, &t);
}

uint64_t perfetto_writer__counter(struct perfetto_writer *w, uint64_t parent, const char *name,
				  bool bytes)
{
	const struct track_packet t = track__begin(w, parent);
	size_t at;

	proto__string(&w->packet, TRACK_NAME, name);
	at = proto__begin(&w->packet, TRACK_COUNTER);
	proto__varint(&w->packet, COUNTER_UNIT, bytes ? UNIT_SIZE_BYTES : UNIT_COUNT);
	proto__end(&w->packet, at);
	return track__end(w, &t);
}

/* ---- events ---- */

static void intern(struct perfetto_writer *w, uint32_t kind, uint64_t iid, const char *text)
{
	const size_t at = proto__begin(&w->interned, kind);

	proto__varint(&w->interned, INTERNED_IID, iid);
	proto__string(&w->interned, INTERNED_TEXT, text);
	proto__end(&w->interned, at);
}

void perfetto_event__begin(struct perfetto_writer *w, enum perfetto_event type, uint64_t track)
{
	w->event.len = 0;
	w->interned.len = 0;
	proto__varint(&w->event, EVENT_TYPE, type);
	proto__varint(&w->event, EVENT_TRACK_UUID, track);
}

void perfetto_event__name(struct perfetto_writer *w, uint32_t name)
{
	const struct name *n = recording__name(w->r, name);
	unsigned char *known;

	if (!n || !n->text) {
		perfetto_event__text(w, "(name lost)");
		return;
	}
	known = &w->known_names[name / 8];
	if (!(*known & 1u << name % 8))
		intern(w, INTERNED_NAME, name, n->text);
	*known |= (unsigned char)(1u << name % 8);
	proto__varint(&w->event, EVENT_NAME_IID, name);
}

void perfetto_event__text(struct perfetto_writer *w, const char *text)
{
	proto__string(&w->event, EVENT_NAME_TEXT, text);
}

void perfetto_event__category(struct perfetto_writer *w, uint8_t category)
{
	const uint64_t iid = category < CAT_CNT ? category + 1u : 1;

	if (!(w->known_categories & 1ull << iid))
		intern(w, INTERNED_CATEGORY, iid, category__key(category));
	w->known_categories |= 1ull << iid;
	proto__varint(&w->event, EVENT_CATEGORY_IID, iid);
}

void perfetto_event__flow(struct perfetto_writer *w, uint64_t id)
{
	proto__fixed64(&w->event, EVENT_FLOW, id);
}

void perfetto_event__value(struct perfetto_writer *w, int64_t value)
{
	proto__varint(&w->event, EVENT_COUNTER_VALUE, (uint64_t)value);
}

static size_t arg__begin(struct perfetto_writer *w, enum perfetto_key key)
{
	const size_t at = proto__begin(&w->event, EVENT_ANNOTATION);

	if (!(w->known_keys & 1ull << key))
		intern(w, INTERNED_ANNOTATION, key, keys[key]);
	w->known_keys |= 1ull << key;
	proto__varint(&w->event, ANNOTATION_NAME_IID, key);
	return at;
}

void perfetto_event__arg_u64(struct perfetto_writer *w, enum perfetto_key key, uint64_t v)
{
	const size_t at = arg__begin(w, key);

	proto__varint(&w->event, ANNOTATION_UINT, v);
	proto__end(&w->event, at);
}

void perfetto_event__arg_i64(struct perfetto_writer *w, enum perfetto_key key, int64_t v)
{
	const size_t at = arg__begin(w, key);

	proto__varint(&w->event, ANNOTATION_INT, (uint64_t)v);
	proto__end(&w->event, at);
}

void perfetto_event__arg_double(struct perfetto_writer *w, enum perfetto_key key, double v)
{
	const size_t at = arg__begin(w, key);

	proto__double(&w->event, ANNOTATION_DOUBLE, v);
	proto__end(&w->event, at);
}

void perfetto_event__arg_text(struct perfetto_writer *w, enum perfetto_key key, const char *text)
{
	const size_t at = arg__begin(w, key);

	proto__string(&w->event, ANNOTATION_STRING, text);
	proto__end(&w->event, at);
}

int perfetto_event__end(struct perfetto_writer *w, uint64_t ts_ns)
{
	const size_t at = packet__begin(w);

	proto__varint(&w->packet, PACKET_TIMESTAMP, ts_ns);
	if (w->interned.len)
		proto__bytes(&w->packet, PACKET_INTERNED_DATA, w->interned.buf, w->interned.len);
	if (w->event.buf)
		proto__bytes(&w->packet, PACKET_TRACK_EVENT, w->event.buf, w->event.len);
	packet__end(w, at);
	if (w->event.err || w->interned.err || w->packet.err)
		return -ENOMEM;
	return text_file__error(w->out);
}
