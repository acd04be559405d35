/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recording: the only thing between capture and everything else. Append-only, chunked,
 * self-describing; doc/reference/recording.md has the bytes. Each chunk stands alone (type,
 * lengths, checksum), so a file cut off anywhere opens up to its last whole chunk.
 *
 * Functions return 0 or a negative errno unless said otherwise.
 */
#ifndef PROFTRACE_RECORDING_H
#define PROFTRACE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <jansson.h>
#include "recording/event.h"

/* ---- writer: one thread, errors are sticky (the first one is returned by every later call) ----
 */

struct recording_writer;
struct sink;

/* Creates `path` (mode 0644; truncates). meta: an object, see doc/reference/recording.md; borrowed.
 */
int recording_writer__create(const char *path, const json_t *meta, struct recording_writer **out);
/* The same into an open sink, which it takes over, on an error too. */
int recording_writer__begin(struct sink *sink, const json_t *meta, struct recording_writer **out);

/* Returns the id of the name, defining it on first use; 0 on error. Equal (category, text, schema)
 * give equal ids; schema may be NULL. Overloads, which differ by schema alone, are one name to who
 * reads: events come with the id of the first, and their own one beside it. */
uint32_t recording_writer__name(struct recording_writer *w, enum span_category category,
				const char *text, const char *schema);

/* Defines a track (t->id is ignored) and returns its id; 0 on error. A track with the same kind,
 * pid, tid, device and stream is returned as it is, or renamed if t->name differs. */
uint32_t recording_writer__track(struct recording_writer *w, const struct track *t);

/* Ids of a function, and of a frame in it whose caller's is `parent`; each is defined on first use.
 * 0 on error. */
uint32_t recording_writer__code(struct recording_writer *w, const char *file, const char *function,
				uint32_t first_line);
uint32_t recording_writer__frame(struct recording_writer *w, uint32_t parent, uint32_t code,
				 uint32_t line);

int recording_writer__event(struct recording_writer *w, const struct event *e);
int recording_writer__sched(struct recording_writer *w, const struct sched_row *row);
int recording_writer__entry(struct recording_writer *w, const struct sched_row *row);

/* Writes out what is buffered as whole chunks; call about once a second. */
int recording_writer__flush(struct recording_writer *w);

/* Appends the summary object ("loss", "cost", "cpu", "windows", ...), marks the file complete,
 * closes and frees. Also frees on error. summary may be NULL (aborted). */
int recording_writer__close(struct recording_writer *w, const json_t *summary);

/* Bytes written to the file and events taken so far. */
uint64_t recording_writer__bytes(const struct recording_writer *w);
uint64_t recording_writer__events(const struct recording_writer *w);

/* ---- reader ---- */

struct recording;

/* Opens and scans the whole chunk index; names, tracks, sched rows, metadata and summary are
 * complete afterwards. -EINVAL: not a recording; -EPROTONOSUPPORT: newer major version; -ENODATA:
 * cut off or damaged, with nothing left that can be read. */
int recording__open(const char *path, struct recording **out);
/* The same for one with nothing left, too. */
int recording__salvage(const char *path, struct recording **out);
void recording__close(struct recording *r);

const json_t *recording__meta(const struct recording *r);    /* never NULL */
const json_t *recording__summary(const struct recording *r); /* NULL if the file was cut off */

/* What the file lost: false and zeroes for a complete one. */
struct recording_damage {
	bool truncated;	      /* no end mark, or a partial last chunk */
	uint64_t bad_chunks;  /* whole chunks whose checksum did not match; skipped */
	uint64_t lost_events; /* events of those chunks, as far as their headers say */
	uint64_t ignored_bytes;
};
const struct recording_damage *recording__damage(const struct recording *r);

const struct name *recording__name(const struct recording *r, uint32_t id);   /* NULL if unknown */
enum span_category recording__category(const struct recording *r, uint32_t name); /* CAT_NONE: none */
bool recording__has_category(const struct recording *r, enum span_category category);
const struct track *recording__track(const struct recording *r, uint32_t id); /* NULL if unknown */
const struct code *recording__code(const struct recording *r, uint32_t id);   /* NULL if unknown */
/* NULL if unknown; a frame's parent has a smaller id. */
const struct code_frame *recording__frame(const struct recording *r, uint32_t id);
uint32_t recording__frame_cnt(const struct recording *r); /* ids are 1..cnt; 0: no stacks */
/* Where an operator lies in its network, as the framework writes it
 * ("Default/net/conv1/Conv2D-op1"): of the name that is an event's `overload`. What the recording
 * has for a schema of it and has a slash before any bracket. NULL if it is not known. */
const char *recording__full_name(const struct recording *r, uint32_t overload);
uint32_t recording__name_cnt(const struct recording *r);  /* ids are 1..cnt */
uint32_t recording__track_cnt(const struct recording *r); /* ids are 1..cnt */
size_t recording__sched(const struct recording *r, const struct sched_row **rows);
/* System calls and page faults; none if they were not asked for. */
size_t recording__entries(const struct recording *r, const struct sched_row **rows);
uint64_t recording__event_cnt(const struct recording *r);

/* Events in file order: on each track a span comes after everything inside it. Memory use is one
 * chunk. Next returns 1 with *e set, 0 at the end, or a negative errno. */
struct recording_cursor;
int recording_cursor__open(const struct recording *r, struct recording_cursor **out);
int recording_cursor__next(struct recording_cursor *c, struct event *e);
void recording_cursor__rewind(struct recording_cursor *c); /* to the first event */
void recording_cursor__close(struct recording_cursor *c);

/* Events lie in chunks 0..cnt-1, at most 65536 in each, any of which can be read alone. */
size_t recording__chunk_cnt(const struct recording *r);
void recording_cursor__seek(struct recording_cursor *c, size_t chunk); /* to its first event */
/* As next, but ends with the chunk, which the cursor was moved to. Args of its events stay valid
 * until the cursor is moved. */
int recording_cursor__next_in(struct recording_cursor *c, size_t chunk, struct event *e);
/* The same with type, track, name and id alone; not to be mixed with the others in a chunk. */
int recording_cursor__next_brief(struct recording_cursor *c, size_t chunk, struct event *e);
size_t recording_cursor__bytes(const struct recording_cursor *c); /* of memory that it holds */

#endif
