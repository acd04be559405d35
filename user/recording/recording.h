/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recording connects capture with everything else. It is append-only, chunked and
 * self-describing; doc/reference/recording.md describes the bytes. Each chunk stands alone (type,
 * lengths, checksum), so a file that was cut off anywhere opens up to its last whole chunk.
 *
 * Functions return 0 or a negative errno unless noted otherwise.
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
/* The same for an open sink, which it takes over, also on error. */
int recording_writer__begin(struct sink *sink, const json_t *meta, struct recording_writer **out);

/* Returns the id of the name, defining it on first use; 0 on error. The same category, text and
 * schema give the same id; schema may be NULL. Readers see overloads, which differ only by schema,
 * as one name: an event has the id of the first overload, and its own id beside it. */
uint32_t recording_writer__name(struct recording_writer *w, enum span_category category,
				const char *text, const char *schema);

/* Defines a track (t->id is ignored) and returns its id; 0 on error. An existing track with the
 * same kind, pid, tid, device and stream is returned, and renamed if t->name differs. */
uint32_t recording_writer__track(struct recording_writer *w, const struct track *t);

/* Return the id of a function, and of a frame in it whose caller is `parent`. Each is defined on
 * first use. 0 on error. */
uint32_t recording_writer__code(struct recording_writer *w, const char *file, const char *function,
				uint32_t first_line);
uint32_t recording_writer__frame(struct recording_writer *w, uint32_t parent, uint32_t code,
				 uint32_t line);

int recording_writer__event(struct recording_writer *w, const struct event *e);
int recording_writer__sched(struct recording_writer *w, const struct sched_row *row);
int recording_writer__entry(struct recording_writer *w, const struct sched_row *row);

/* Writes buffered data as whole chunks. Call it about once a second. */
int recording_writer__flush(struct recording_writer *w);

/* Appends the summary object ("loss", "cost", "cpu", "windows", ...), marks the file complete,
 * closes and frees. Also frees on error. summary may be NULL (aborted). */
int recording_writer__close(struct recording_writer *w, const json_t *summary);

/* Bytes written to the file, and events added, so far. */
uint64_t recording_writer__bytes(const struct recording_writer *w);
uint64_t recording_writer__events(const struct recording_writer *w);

/* ---- reader ---- */

struct recording;

/* Opens a recording and scans the whole chunk index. Then names, tracks, sched rows, metadata and
 * summary are complete. -EINVAL: no recording; -EPROTONOSUPPORT: newer major version; -ENODATA: cut
 * off or damaged, and nothing is readable. */
int recording__open(const char *path, struct recording **out);
/* The same, but also opens one with nothing readable. */
int recording__salvage(const char *path, struct recording **out);
void recording__close(struct recording *r);

const json_t *recording__meta(const struct recording *r);    /* never NULL */
/* Makes its wall clock earlier by so many ns, for all readers. */
void recording__correct_clock(struct recording *r, int64_t ns);
const json_t *recording__summary(const struct recording *r); /* NULL if the file was cut off */

/* What the file lost: false and zeroes for a complete one. */
struct recording_damage {
	bool truncated;	      /* no end mark, or a partial last chunk */
	uint64_t bad_chunks;  /* whole chunks with a wrong checksum; they are skipped */
	uint64_t lost_events; /* events in those chunks, according to their headers */
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
/* The place of an operator in its network, as the framework writes it
 * ("Default/net/conv1/Conv2D-op1"). overload: an event's `overload`. It is the name's schema, if
 * that has a slash before any bracket. NULL if unknown. */
const char *recording__full_name(const struct recording *r, uint32_t overload);
uint32_t recording__name_cnt(const struct recording *r);  /* ids are 1..cnt */
uint32_t recording__track_cnt(const struct recording *r); /* ids are 1..cnt */
size_t recording__sched(const struct recording *r, const struct sched_row **rows);
/* System calls and page faults; none if they were not recorded. */
size_t recording__entries(const struct recording *r, const struct sched_row **rows);
uint64_t recording__event_cnt(const struct recording *r);

/* Events in file order: on each track a span comes after everything inside it. Holds one chunk in
 * memory. Next returns 1 with *e set, 0 at the end, or a negative errno. */
struct recording_cursor;
int recording_cursor__open(const struct recording *r, struct recording_cursor **out);
int recording_cursor__next(struct recording_cursor *c, struct event *e);
void recording_cursor__rewind(struct recording_cursor *c); /* moves it to the first event */
void recording_cursor__close(struct recording_cursor *c);

/* Events are in chunks 0..cnt-1, at most 65536 in each. Each chunk can be read alone. */
size_t recording__chunk_cnt(const struct recording *r);
void recording_cursor__seek(struct recording_cursor *c, size_t chunk); /* moves it to the chunk's
									  first event */
/* Like next, but ends with the chunk to which the cursor was moved. Args of its events stay valid
 * until the cursor is moved. */
int recording_cursor__next_in(struct recording_cursor *c, size_t chunk, struct event *e);
/* The same with only type, track, name and id. Do not mix it with the others in a chunk. */
int recording_cursor__next_brief(struct recording_cursor *c, size_t chunk, struct event *e);
size_t recording_cursor__bytes(const struct recording_cursor *c); /* bytes of memory that the
								     cursor holds */

#endif
