/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets of a Perfetto trace on one sequence. Tracks are described, and names interned, right
 * before the first packet that uses them. Field numbers: protos/perfetto/trace/ in google/perfetto.
 */
#ifndef PROFTRACE_PERFETTO_WRITER_H
#define PROFTRACE_PERFETTO_WRITER_H

#include "common/proto.h"
#include "exporters/parts/text_file.h"
#include "recording/recording.h"

enum perfetto_event { PERFETTO_BEGIN = 1, PERFETTO_END = 2, PERFETTO_INSTANT = 3, PERFETTO_COUNTER = 4 };

/* Names of debug annotations, interned by number. */
enum perfetto_key {
	KEY_STEP = 1,
	KEY_CORRELATION,
	KEY_SEQUENCE,
	KEY_BYTES,
	KEY_INPUTS,
	KEY_FULL_NAME,
	KEY_STREAM_HANDLE,
	KEY_COPY,
	KEY_KERNEL,
	KEY_FAILED,
	KEY_GRID,
	KEY_BLOCK,
	KEY_REGISTERS,
	KEY_SHARED,
	KEY_CONTEXT,
	KEY_GRAPH,
	KEY_OCCUPANCY,
	KEY_BLOCKS_PER_SM,
	KEY_WARPS_PER_SM,
	KEY_QUEUE_DELAY,
	KEY_BANDWIDTH,
	KEY_END,
	KEY_CUT,
	KEY_CLIPPED,
	KEY_THREAD,
	KEY_VALUE,
	KEY_CNT,
};

struct perfetto_writer {
	const struct recording *r;
	struct text_file *out;
	struct proto event;    /* the track event in progress */
	struct proto interned; /* data that it is the first to use */
	struct proto packet;
	unsigned char *known_names; /* bitmap by name id */
	uint64_t known_keys, known_categories;
	uint64_t next_uuid;
	bool any; /* a packet with incremental state was written */
};

int perfetto_writer__init(struct perfetto_writer *w, const struct recording *r,
			  struct text_file *out);
void perfetto_writer__free(struct perfetto_writer *w);
/* Writes the clocks and the meaning of times. Call it first. begin_ns: of the first event. */
void perfetto_writer__clocks(struct perfetto_writer *w, uint64_t begin_ns);

/* Make tracks, and return the new track's uuid. parent 0: none. */
uint64_t perfetto_writer__process(struct perfetto_writer *w, uint32_t pid, const char *name,
				  const char *label);
uint64_t perfetto_writer__thread(struct perfetto_writer *w, uint64_t process, uint32_t pid,
				 uint32_t tid, const char *name);
uint64_t perfetto_writer__track(struct perfetto_writer *w, uint64_t parent, const char *name,
				int rank);
uint64_t perfetto_writer__counter(struct perfetto_writer *w, uint64_t parent, const char *name,
				  bool bytes);

/* Write a track event: begin, fields, end. */
void perfetto_event__begin(struct perfetto_writer *w, enum perfetto_event type, uint64_t track);
void perfetto_event__name(struct perfetto_writer *w, uint32_t name);	  /* id of the recording */
void perfetto_event__text(struct perfetto_writer *w, const char *text);	  /* not interned */
void perfetto_event__category(struct perfetto_writer *w, uint8_t category);
void perfetto_event__flow(struct perfetto_writer *w, uint64_t id);
void perfetto_event__value(struct perfetto_writer *w, int64_t value);
void perfetto_event__arg_u64(struct perfetto_writer *w, enum perfetto_key key, uint64_t v);
void perfetto_event__arg_i64(struct perfetto_writer *w, enum perfetto_key key, int64_t v);
void perfetto_event__arg_double(struct perfetto_writer *w, enum perfetto_key key, double v);
void perfetto_event__arg_text(struct perfetto_writer *w, enum perfetto_key key, const char *text);
int perfetto_event__end(struct perfetto_writer *w, uint64_t ts_ns);

#endif
