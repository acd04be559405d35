/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns records of the ring into events of a recording: names, tracks, arguments, pairs. */
#ifndef PROFTRACE_DECODER_H
#define PROFTRACE_DECODER_H

#include "frameworks/framework.h"
#include "recording/recording.h"

struct decoder;
struct long_names;
struct pt_passes;
struct python_stacks;

/* Borrows the target, the plan and the passes that the probes write. framework may be NULL. */
struct decoder *decoder__new(struct target *t, const struct framework *framework,
			     const struct probe_plan *plan, const struct pt_passes *latest_passes);
void decoder__free(struct decoder *d);
/* Call when the plan has more probes. */
void decoder__plan_grew(struct decoder *d);
/* Sets the stacks of Python (borrowed). */
void decoder__set_stacks(struct decoder *d, struct python_stacks *stacks);
/* Sets the table of names that are too long for records (borrowed). Without it only the beginning of such names is
 * known. */
void decoder__set_long_names(struct decoder *d, struct long_names *names);
/* Reads ahead what the names of kernels need, which takes some time. */
void decoder__prepare_kernels(struct decoder *d);

/* Events go to this writer from now on; NULL: nowhere. Forgets the ids of names and tracks. */
void decoder__set_writer(struct decoder *d, struct recording_writer *w);

/* Sets a function that is called before each span is written. What it writes for the thread, up to end_ns, lies inside
 * the span. */
void decoder__set_before(struct decoder *d, int (*before)(void *ctx, uint32_t tid, uint64_t end_ns),
			 void *ctx);
/* Sets a function that is called before a node is written that ended at end_ns. It calls decoder__meet() for the passes
 * that the library has seen by then. */
void decoder__set_look(struct decoder *d, int (*look)(void *ctx, uint64_t end_ns), void *ctx);
/* Sets a function that returns since when a thread is blocked; 0: it is not blocked. A thread that ends its pass
 * blocked had no node left. */
void decoder__set_asleep(struct decoder *d, uint64_t (*asleep_since)(void *ctx, uint32_t tid),
			 void *ctx);

/* Writes a span that the library in the target has seen, cut to the window: no probe was hit. Spans inside it must have
 * come before. own: its name, NULL: the name is in its object. full: the caller's name for it, NULL: none. */
int decoder__hooked(struct decoder *d, uint32_t pid, uint32_t tid, const struct pt_span *hooked,
		   const char *own, const char *full);
/* Announces a hooked span. A name in an object is read now, while the process lives. A backward pass ends the nodes of
 * other threads that come before its span. */
void decoder__meet(struct decoder *d, uint32_t pid, uint32_t tid, const struct pt_span *hooked);

/* Takes one record of the ring, except steps and task events. Returns 0 or the writer's error. A malformed record is
 * counted and is no error. */
int decoder__record(struct decoder *d, const void *data, size_t size);
/* Takes the record of a stack, which comes once: in a window or before it. Returns 0 or -ENOMEM. */
int decoder__stack(struct decoder *d, const void *data, size_t size);

/* Writes a whole step. */
int decoder__step(struct decoder *d, uint32_t pid, uint32_t tid, uint64_t step, uint64_t begin_ns,
		  uint64_t end_ns);

/* Drops open ranges that began earlier: their ends had no probes. */
void decoder__forget_ranges(struct decoder *d, uint64_t before_ns);
/* Drops open calls that began earlier, if their probes may have missed the end (PT_MAY_MISS_END). */
void decoder__forget_calls(struct decoder *d, uint64_t before_ns);

/* Writes the spans that threads still hold of window number `window` (from 1 on). They have ended and were not sent, or
 * are open and are cut at the window's end. threads_fd: the map of struct pt_thread. */
int decoder__open_spans(struct decoder *d, int threads_fd, uint64_t window, uint64_t open_ns,
			uint64_t close_ns);

/* Writes such spans of one thread that ended at end_ns. Call before its row is removed. */
int decoder__ended_thread(struct decoder *d, int threads_fd, uint32_t tid, uint64_t window,
			  uint64_t open_ns, uint64_t end_ns);

/* Track id of a thread in the current writer; 0: an error. */
uint32_t decoder__track(struct decoder *d, uint32_t pid, uint32_t tid);
/* As decoder__track(). last_name (or NULL) is the name of a thread that has ended, since /proc no longer has it. */
uint32_t decoder__named_track(struct decoder *d, uint32_t pid, uint32_t tid, const char *last_name);

/* Probe hits of the events written to the current writer, by group. */
void decoder__hits(const struct decoder *d, uint64_t hits[GROUP_CNT]);
/* Of these hits, those at instructions that the kernel single-steps. */
uint64_t decoder__stepped_hits(const struct decoder *d);
uint64_t decoder__malformed(const struct decoder *d);
/* Number of spans and marks whose names are cut. */
uint64_t decoder__cut_names(const struct decoder *d);
/* Number of ranges that an enclosing or following range ended, not the program. */
uint64_t decoder__not_ended(const struct decoder *d);

#endif
