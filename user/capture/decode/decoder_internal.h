/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the parts of the decoder. Larger kinds of records have a file each. */
#ifndef PROFTRACE_DECODER_INTERNAL_H
#define PROFTRACE_DECODER_INTERNAL_H

#include "capture/decode/decoder.h"
#include "capture/decode/passes.h"
#include "recording/hash_index.h"

struct row {
	const struct planned_probe *probe; /* NULL: no such row */
	uint32_t name;			   /* id in the current writer, 0: not yet */
	bool steps_begin, steps_end;	   /* the kernel single-steps the probe at the begin, at the end */
};

struct track_entry {
	uint32_t tid, id;
};

struct counter {
	uint32_t pid;
	bool relative; /* only changes of the value are known */
	int64_t value;
	char *name;
};

struct decoder {
	const struct target *target;
	const struct framework *framework;
	const struct probe_plan *plan;
	struct recording_writer *writer;
	struct row rows[PT_MAX_PROBES];
	struct track_entry *tracks;
	size_t track_cnt, track_cap;
	struct hash_index track_index; /* by tid */
	struct node_names *nodes;
	struct object_names *objects;
	struct kernel_processes *kernels;
	struct pending *pending;
	struct python_stacks *stacks; /* NULL: no stacks come */
	struct passes passes;
	const struct pt_passes *latest_passes; /* as the probes report them */
	bool has_passes;		       /* passes have probes */
	struct long_names *long_names;	       /* NULL: there are none */
	struct counter *counters;
	size_t counter_cnt, counter_cap;
	struct hash_index counter_index;
	int (*before)(void *ctx, uint32_t tid, uint64_t end_ns); /* may be NULL */
	void *before_ctx;
	int (*look)(void *ctx, uint64_t end_ns); /* may be NULL */
	void *look_ctx;
	uint64_t (*asleep_since)(void *ctx, uint32_t tid);
	void *asleep_ctx;
	uint64_t malformed;
	uint64_t cut_names; /* spans and marks whose names are cut */
	uint64_t not_ended; /* ranges: see PT_SPAN_NOT_ENDED */
	uint64_t hits[GROUP_CNT], stepped_hits;
	uint64_t rearmed_ns, changed_ns; /* see decoder__forget_ranges, decoder__forget_calls */
};

/* NULL: no such row. */
const struct planned_probe *decoder__row_probe(const struct decoder *d, uint32_t row);
/* Name of a row in the current writer; 0: no memory, or the row has none. */
uint32_t decoder__row_name(struct decoder *d, uint32_t row);

/* Adds hits of a row's probes. An even number is begins and ends. */
void decoder__count_hits(struct decoder *d, uint32_t row, uint64_t cnt);

/* A name as text; the caller frees. */
struct decoded_name {
	char *text;  /* NULL: no memory */
	bool is_cut; /* the name continues, and the rest is unknown */
};

/* A name that the programs have read; `len` is its number of bytes in the record. */
struct decoded_name decoder__name(struct decoder *d, const struct pt_name *name, uint32_t len);
/* Adds a mark to a cut name and counts the name: other names may begin with the same text. */
void decoder__mark_cut(struct decoder *d, struct decoded_name *name);
/* The full name that came with the begin of a span. NULL: none came, or it is no path. */
char *decoder__full_name(struct decoder *d, uint32_t tid, uint64_t ts_ns);

/* Each function takes one record. Returns 0 or a negative errno. Malformed records are counted in `malformed`. */
int decoder__span(struct decoder *d, const struct pt_rec *h, const struct pt_span *span,
		  uint32_t name, uint64_t id);
/* flags: EVENT_UNPROBED or 0. */
int decoder__span_write(struct decoder *d, const struct pt_rec *h, const struct pt_span *span,
			uint32_t name, uint64_t id, uint32_t flags);
/* Takes a span of any kind but PT_KIND_NAMED. */
int decoder__take_span(struct decoder *d, const struct pt_rec *h, const struct pt_span *recorded);
/* Remembers the span if it is a backward pass: nodes end with their pass. */
void decoder__note_pass(struct decoder *d, uint32_t tid, const struct pt_span *span);
int decoder__named(struct decoder *d, const struct pt_rec_named *r);
int decoder__named_write(struct decoder *d, const struct pt_rec *h, const struct pt_span *span,
			 uint32_t name_class, const struct pt_name *name, uint32_t len);
/* Writes a span that the library saw: own and full as in decoder__hooked(); type_obj is the object. */
int decoder__named_hooked(struct decoder *d, const struct pt_rec *h, const struct pt_span *hooked,
			 const struct planned_probe *probe, const char *own, const char *full);
/* Announces the span: reads its name now, while the process lives. */
void decoder__named_meet(struct decoder *d, uint32_t pid, const struct planned_probe *probe,
			 uint64_t object);
int decoder__call(struct decoder *d, const struct pt_rec *h, const struct pt_span *span,
		  const struct planned_probe *probe);
int decoder__queue(struct decoder *d, const struct pt_rec *h, const struct pt_span *span,
		   const struct planned_probe *probe);
int decoder__memory(struct decoder *d, const struct pt_rec_memory *r);
int decoder__async_begin(struct decoder *d, const struct pt_rec_async *r);
int decoder__async_end(struct decoder *d, const struct pt_rec_async *r);
int decoder__mark(struct decoder *d, const struct pt_rec_mark *r);
int decoder__storage(struct decoder *d, const struct pt_rec_storage *r);

#endif
