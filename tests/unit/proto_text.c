// SPDX-License-Identifier: BSD-2-Clause
#include "proto_text.h"
#include <criterion/criterion.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* perfetto: protos/perfetto/trace/ */
const struct proto_field proto_perfetto[] = {
	{"Trace", 1, "packet", "TracePacket"},
	{"TracePacket", 6, "clock_snapshot", "ClockSnapshot"},
	{"TracePacket", 8, "timestamp", NULL},
	{"TracePacket", 10, "trusted_packet_sequence_id", NULL},
	{"TracePacket", 11, "track_event", "TrackEvent"},
	{"TracePacket", 12, "interned_data", "InternedData"},
	{"TracePacket", 13, "sequence_flags", NULL},
	{"TracePacket", 59, "trace_packet_defaults", "TracePacketDefaults"},
	{"TracePacket", 60, "track_descriptor", "TrackDescriptor"},
	{"ClockSnapshot", 1, "clocks", "Clock"},
	{"ClockSnapshot", 2, "primary_trace_clock", NULL},
	{"Clock", 1, "clock_id", NULL},
	{"Clock", 2, "timestamp", NULL},
	{"TracePacketDefaults", 58, "timestamp_clock_id", NULL},
	{"TrackDescriptor", 1, "uuid", NULL},
	{"TrackDescriptor", 2, "name", "string"},
	{"TrackDescriptor", 3, "process", "ProcessDescriptor"},
	{"TrackDescriptor", 4, "thread", "ThreadDescriptor"},
	{"TrackDescriptor", 5, "parent_uuid", NULL},
	{"TrackDescriptor", 8, "counter", "CounterDescriptor"},
	{"TrackDescriptor", 11, "child_ordering", NULL},
	{"TrackDescriptor", 12, "sibling_order_rank", NULL},
	{"ProcessDescriptor", 1, "pid", NULL},
	{"ProcessDescriptor", 2, "cmdline", "string"},
	{"ProcessDescriptor", 6, "process_name", "string"},
	{"ProcessDescriptor", 8, "process_labels", "string"},
	{"ThreadDescriptor", 1, "pid", NULL},
	{"ThreadDescriptor", 2, "tid", NULL},
	{"ThreadDescriptor", 5, "thread_name", "string"},
	{"CounterDescriptor", 3, "unit", NULL},
	{"TrackEvent", 3, "category_iids", NULL},
	{"TrackEvent", 4, "debug_annotations", "DebugAnnotation"},
	{"TrackEvent", 9, "type", NULL},
	{"TrackEvent", 10, "name_iid", NULL},
	{"TrackEvent", 11, "track_uuid", NULL},
	{"TrackEvent", 23, "name", "string"},
	{"TrackEvent", 30, "counter_value", NULL},
	{"TrackEvent", 44, "double_counter_value", "double"},
	{"TrackEvent", 47, "flow_ids", NULL},
	{"DebugAnnotation", 1, "name_iid", NULL},
	{"DebugAnnotation", 3, "uint_value", NULL},
	{"DebugAnnotation", 4, "int_value", NULL},
	{"DebugAnnotation", 5, "double_value", "double"},
	{"DebugAnnotation", 6, "string_value", "string"},
	{"InternedData", 1, "event_categories", "Interned"},
	{"InternedData", 2, "event_names", "Interned"},
	{"InternedData", 3, "debug_annotation_names", "Interned"},
	{"Interned", 1, "iid", NULL},
	{"Interned", 2, "name", "string"},
	{NULL, 0, NULL, NULL},
};

/* pprof: proto/profile.proto */
const struct proto_field proto_pprof[] = {
	{"Profile", 1, "sample_type", "ValueType"},
	{"Profile", 2, "sample", "Sample"},
	{"Profile", 3, "mapping", "Mapping"},
	{"Profile", 4, "location", "Location"},
	{"Profile", 5, "function", "Function"},
	{"Profile", 6, "string_table", "string"},
	{"Profile", 9, "time_nanos", NULL},
	{"Profile", 10, "duration_nanos", NULL},
	{"Profile", 13, "comment", NULL},
	{"Profile", 14, "default_sample_type", NULL},
	{"ValueType", 1, "type", NULL},
	{"ValueType", 2, "unit", NULL},
	{"Sample", 1, "location_id", "packed"},
	{"Sample", 2, "value", "packed"},
	{"Sample", 3, "label", "Label"},
	{"Label", 1, "key", NULL},
	{"Label", 2, "str", NULL},
	{"Mapping", 1, "id", NULL},
	{"Mapping", 5, "filename", NULL},
	{"Mapping", 7, "has_functions", NULL},
	{"Location", 1, "id", NULL},
	{"Location", 2, "mapping_id", NULL},
	{"Location", 4, "line", "Line"},
	{"Line", 1, "function_id", NULL},
	{"Function", 1, "id", NULL},
	{"Function", 2, "name", NULL},
	{NULL, 0, NULL, NULL},
};

/* Paddle 1.x: paddle/fluid/platform/profiler.proto */
const struct proto_field proto_paddle[] = {
	{"Profile", 1, "events", "Event"},    {"Profile", 2, "start_ns", NULL},
	{"Profile", 3, "end_ns", NULL},	      {"Profile", 4, "mem_events", "MemEvent"},
	{"Event", 1, "name", "string"},	      {"Event", 2, "start_ns", NULL},
	{"Event", 3, "end_ns", NULL},	      {"Event", 5, "device_id", NULL},
	{"Event", 6, "sub_device_id", NULL},  {"Event", 7, "memcopy", "MemCopy"},
	{"Event", 8, "type", NULL},	      {"Event", 9, "detail_info", "string"},
	{"MemCopy", 1, "bytes", NULL},	      {"MemEvent", 1, "start_ns", NULL},
	{"MemEvent", 2, "end_ns", NULL},      {"MemEvent", 3, "bytes", NULL},
	{"MemEvent", 4, "place", NULL},	      {"MemEvent", 5, "thread_id", NULL},
	{"MemEvent", 6, "device_id", NULL},   {"MemEvent", 7, "alloc_in", "string"},
	{"MemEvent", 8, "free_in", "string"}, {NULL, 0, NULL, NULL},
};

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

struct reader {
	const unsigned char *at, *end;
	const struct proto_field *fields;
	FILE *out;
	bool bad;
};

static uint64_t take_varint(struct reader *r)
{
	uint64_t v = 0;

	for (int shift = 0; shift < 64; shift += 7) {
		if (r->at == r->end)
			break;
		v |= (uint64_t)(*r->at & 0x7f) << shift;
		if (!(*r->at++ & 0x80))
			return v;
	}
	r->bad = true;
	return 0;
}

static uint64_t take_fixed64(struct reader *r)
{
	uint64_t v = 0;

	r->bad |= r->end - r->at < 8;
	for (int i = 0; i < 8 && !r->bad; i++)
		v |= (uint64_t)*r->at++ << (8 * i);
	return v;
}

static const struct proto_field *find(const struct reader *r, const char *message, uint64_t number)
{
	for (const struct proto_field *f = r->fields; f->message; f++)
		if (f->number == number && strcmp(f->message, message) == 0)
			return f;
	return NULL;
}

static void put_string(const unsigned char *text, size_t len, FILE *out)
{
	fputc('"', out);
	for (size_t i = 0; i < len; i++)
		if (isprint(text[i]) && text[i] != '"' && text[i] != '\\')
			fputc(text[i], out);
		else
			fprintf(out, "\\x%02x", text[i]);
	fputc('"', out);
}

static void put_packed(struct reader r)
{
	fputc('[', r.out);
	for (bool first = true; r.at < r.end && !r.bad; first = false)
		fprintf(r.out, "%s%" PRId64, first ? "" : " ", (int64_t)take_varint(&r));
	fputs(r.bad ? " (malformed)]" : "]", r.out);
}

static void put_message(struct reader *r, const char *message, char between);

static void put_bytes(struct reader *r, const char *of)
{
	const uint64_t len = take_varint(r);
	struct reader inner = *r;

	if (r->bad || len > (uint64_t)(r->end - r->at)) {
		r->bad = true;
		return;
	}
	inner.end = r->at + len;
	r->at = inner.end;
	if (of && strcmp(of, "packed") == 0) {
		fputs(": ", r->out);
		put_packed(inner);
	} else if (!of || strcmp(of, "string") == 0) {
		fputs(": ", r->out);
		put_string(inner.at, len, r->out);
	} else {
		fputs(" { ", r->out);
		put_message(&inner, of, ' ');
		fputc('}', r->out);
		r->bad |= inner.bad;
	}
}

static void put_double(uint64_t bits, FILE *out)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	fprintf(out, ": %.9g", v);
}

static void put_field(struct reader *r, const char *message)
{
	const uint64_t tag = take_varint(r);
	const struct proto_field *f = find(r, message, tag >> 3);

	if (f)
		fputs(f->name, r->out);
	else
		fprintf(r->out, "?%" PRIu64, tag >> 3);
	switch (tag & 7) {
	case WIRE_VARINT:
		fprintf(r->out, ": %" PRId64, (int64_t)take_varint(r));
		break;
	case WIRE_FIXED64:
		if (f && f->of && strcmp(f->of, "double") == 0)
			put_double(take_fixed64(r), r->out);
		else
			fprintf(r->out, ": %" PRIu64, take_fixed64(r));
		break;
	case WIRE_BYTES:
		put_bytes(r, f ? f->of : NULL);
		break;
	default:
		r->bad = true;
	}
}

static void put_message(struct reader *r, const char *message, char between)
{
	while (r->at < r->end && !r->bad) {
		put_field(r, message);
		fputc(between, r->out);
	}
}

char *proto_text(const unsigned char *data, size_t len, const struct proto_field *fields)
{
	char *text;
	size_t size;
	struct reader r = {data, data + len, fields, open_memstream(&text, &size), false};

	cr_assert_not_null(r.out);
	put_message(&r, fields->message, '\n');
	if (r.bad)
		fputs("(malformed)\n", r.out);
	fclose(r.out);
	return text;
}

Test(proto_text, a_message_by_its_fields)
{
	static const struct proto_field fields[] = {
		{"A", 1, "name", "string"}, {"A", 2, "b", "B"},	   {"B", 1, "n", NULL},
		{"B", 2, "all", "packed"},  {NULL, 0, NULL, NULL},
	};
	static const unsigned char data[] = {0x0a, 2,	 'h', '"', 0x12, 9,    0x08, 0x96,
					     0x01, 0x12, 2,   1,   2,	 0x18, 0x07};

	char *text = proto_text(data, sizeof(data), fields);

	cr_expect_str_eq(text, "name: \"h\\x22\"\nb { n: 150 all: [1 2] ?3: 7 }\n");
	free(text);
	text = proto_text(data, sizeof(data) - 1, fields);
	cr_expect_not_null(strstr(text, "(malformed)\n"), "%s", text);
	free(text);
}
