/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of the ring into events of a recording: names, tracks, arguments, pairing. */
#ifndef PROFTRACE_DECODER_H
#define PROFTRACE_DECODER_H

#include "frameworks/framework.h"
#include "recording/recording.h"

struct decoder;
struct long_names;
struct pt_passes;
struct python_stacks;

/* Borrows the target, the plan and the passes, which the probes write; framework may be NULL. */
struct decoder *decoder__new(struct target *t, const struct framework *framework,
			     const struct probe_plan *plan, const struct pt_passes *latest_passes);
void decoder__free(struct decoder *d);
/* The plan has more probes than before. */
void decoder__plan_grew(struct decoder *d);
/* Stacks of Python come, and are these (borrowed). */
void decoder__set_stacks(struct decoder *d, struct python_stacks *stacks);
/* Where names are that do not fit into records (borrowed); without, only their beginning is known.
 */
void decoder__set_long_names(struct decoder *d, struct long_names *names);
/* Reads ahead what names of kernels need, which takes a moment. */
void decoder__prepare_kernels(struct decoder *d);

/* Where events go from now on; NULL: nowhere. Ids of names and tracks are learned anew. */
void decoder__set_writer(struct decoder *d, struct recording_writer *w);

/* Called before each span is written: what `before` writes for the thread, up to end_ns, is inside.
 */
void decoder__set_before(struct decoder *d, int (*before)(void *ctx, uint32_t tid, uint64_t end_ns),
			 void *ctx);
/* Called before a node is written that ended at end_ns: it tells by decoder__meet() of the passes
 * that the library has noted by then. */
void decoder__set_look(struct decoder *d, int (*look)(void *ctx, uint64_t end_ns), void *ctx);
/* Since when a thread is blocked, 0 if it is not: one that ends a pass so had no node left. */
void decoder__set_asleep(struct decoder *d, uint64_t (*asleep_since)(void *ctx, uint32_t tid),
			 void *ctx);

/* A span that the library in the target has noted, cut to the window: no probe was hit for it. What
 * is inside it must have come before. own: its name as the library told it, NULL: it lies in its
 * object; full: its caller's name for it, NULL: there is none. */
int decoder__hooked(struct decoder *d, uint32_t pid, uint32_t tid, const struct pt_span *hooked,
		   const char *own, const char *full);
/* The span will come. A name that lies in an object is read while the process lives. Nodes of other
 * threads that come before it end with a pass. */
void decoder__meet(struct decoder *d, uint32_t pid, uint32_t tid, const struct pt_span *hooked);

/* One record as the ring holds it; steps and task events are not the decoder's. 0 or the writer's
 * error; a malformed record is counted, not an error. */
int decoder__record(struct decoder *d, const void *data, size_t size);
/* The same of a stack, which comes once: in a window, or before it. 0 or -ENOMEM. */
int decoder__stack(struct decoder *d, const void *data, size_t size);

/* A whole step, from its two boundaries. */
int decoder__step(struct decoder *d, uint32_t pid, uint32_t tid, uint64_t step, uint64_t begin_ns,
		  uint64_t end_ns);

/* Open ranges that began earlier are none: their ends had no probes. */
void decoder__forget_ranges(struct decoder *d, uint64_t before_ns);
/* Neither are open calls whose probes were changed meanwhile (PT_MAY_MISS_END). */
void decoder__forget_calls(struct decoder *d, uint64_t before_ns);

/* What the threads still hold of window number `window` (1 is the first). These are spans that have
 * ended but were not sent, and open ones, cut at the window's end. threads_fd: the map of struct
 * pt_thread. */
int decoder__open_spans(struct decoder *d, int threads_fd, uint64_t window, uint64_t open_ns,
			uint64_t close_ns);

/* The same of one thread that ended at end_ns, before its row goes. */
int decoder__ended_thread(struct decoder *d, int threads_fd, uint32_t tid, uint64_t window,
			  uint64_t open_ns, uint64_t end_ns);

/* Track id of a thread in the current writer; 0 on error. */
uint32_t decoder__track(struct decoder *d, uint32_t pid, uint32_t tid);
/* The same; last_name (or NULL) is for one that has ended by now, whose name /proc has no more. */
uint32_t decoder__named_track(struct decoder *d, uint32_t pid, uint32_t tid, const char *last_name);

/* Probe hits behind the events written to the current writer, by group. */
void decoder__hits(const struct decoder *d, uint64_t hits[GROUP_CNT]);
/* Those among them at instructions that the kernel single-steps. */
uint64_t decoder__stepped_hits(const struct decoder *d);
uint64_t decoder__malformed(const struct decoder *d);
/* Spans and marks of whose names only the beginning is known. */
uint64_t decoder__cut_names(const struct decoder *d);
/* How many ranges were ended not by their program but by what enclosed or followed them. */
uint64_t decoder__not_ended(const struct decoder *d);

#endif
