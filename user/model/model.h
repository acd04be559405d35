/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model turns a recording into event trees, one per track, linked by correlation id, cut into
 * steps and phases. It is pure (same recording, same trees). It streams: a visitor sees one batch
 * at a time, a step with everything that ended in it. So memory follows the longest step and not
 * the file.
 */
#ifndef PROFTRACE_MODEL_H
#define PROFTRACE_MODEL_H

#include <stdbool.h>
#include "recording/recording.h"

/* The roles that tables group by; derived from a name's category and its place in the tree. */
enum span_kind {
	KIND_STEP = 0,
	KIND_DATALOADER,
	KIND_FORWARD, /* often inferred, see span.inferred */
	KIND_BACKWARD,
	KIND_OPTIMIZATION,   /* optimizer step */
	KIND_OPERATOR,	     /* outermost operator, backward nodes included */
	KIND_OPERATOR_INNER, /* an operator inside another one */
	KIND_PYTHON_OP,
	KIND_USER,
	KIND_COMMUNICATION,
	KIND_RUNTIME,
	KIND_KERNEL,
	KIND_MEMCPY,
	KIND_MEMSET,
	KIND_SYNC,
	KIND_SCRIPT,
	KIND_OTHER,
	KIND_PIPELINE,	    /* what an operation of the data pipeline does itself */
	KIND_PIPELINE_WAIT, /* for a row from its queue, or for room in it */
	KIND_EXECUTION,	    /* an engine's thread runs an operator */
	KIND_CNT,
};
const char *span_kind__label(enum span_kind kind); /* "OperatorInner", as tables print it */

struct span {
	struct event ev;
	enum span_kind kind;
	enum span_kind phase; /* DATALOADER, FORWARD, BACKWARD, OPTIMIZATION or OTHER */
	uint32_t operator_name; /* EXECUTION: of what it is, 0: not known */
	bool inferred;	      /* begin or end was not seen but derived */
	struct span *parent, *first_child, *next_sibling; /* same track, by time */
	struct span *first_device,
		*next_device; /* device events that this span launched directly */
	struct span *launch;  /* device events: the host span that launched it, NULL if unknown */
	uint32_t
		descendants; /* probed spans below it on its track: neither inferred phases nor CUPTI's calls */
	uint64_t cpu_ns;     /* duration less the known cost of our probes inside it (never < 0) */
	uint64_t self_ns;    /* cpu_ns less the children's */
	uint64_t kernel_ns,
		device_ns; /* sums over the subtree: kernels; kernels, copies and sets */
	int64_t alloc_bytes, self_alloc_bytes; /* host memory allocated less freed inside */
};

struct step {
	uint64_t index;
	uint64_t ts_ns, dur_ns;
	uint64_t cpu_ns; /* dur_ns less the known cost of our probes on its thread */
	/* DATALOADER, FORWARD, BACKWARD, OPTIMIZATION of its thread, as cpu_ns; OTHER: the rest */
	uint64_t phase_ns[KIND_CNT];
	uint32_t track; /* id of the thread that counts steps */
};

struct track_batch {
	const struct track *track;
	struct span *roots; /* linked by next_sibling */
};

struct batch {
	const struct step *step; /* NULL: events outside any step */
	const struct track_batch *tracks;
	size_t track_cnt;
	const struct event *memory;	  /* EVENT_MEMORY of the batch, by time; args are copied */
	struct span *const *memory_spans; /* the innermost span of each, NULL: outside any */
	size_t memory_cnt;
	const struct event *others; /* instants, counters, asyncs, as recorded */
	size_t other_cnt;
};

/* What the model had to mend or leave out. All zero for a sound recording. */
struct model_stats {
	uint64_t spans;	  /* host and device spans taken */
	uint64_t clipped; /* overlapped without nesting: the later begin or an inferred end moved */
	uint64_t too_deep;  /* nested deeper than MODEL_MAX_DEPTH: left out */
	uint64_t malformed; /* unknown track, type on the wrong track, impossible time: left out */
	uint64_t early;	    /* batches given out before the end of a step of too many events */
	uint64_t unlinked;  /* device events whose launch is not in the recording */
	/* Kernels, copies and sets that have one, and those of them that begin before it does; by how much at
	 * most. */
	uint64_t linked, before_launch, before_launch_ns;
	/* The least time from a launch's begin to its work's begin, if linked. Then waits for a
	 * device: how many, how many ended before what they waited for, and by how much at most. */
	int64_t least_delay_ns;
	uint64_t waits, after_wait, after_wait_ns;
	uint64_t subtracted_ns; /* probe cost taken off the steps (off the roots if no steps) */
};
#define MODEL_MAX_DEPTH 512 /* so that a walk may recurse */

struct model_opts {
	bool raw_times;		   /* do not subtract the cost of our probes */
	struct model_stats *stats; /* filled at the end if not NULL */
};

/* Name of a span: the recording's, or the kind's label for an inferred phase. Never NULL. */
const char *span__name(const struct recording *r, const struct span *s);

/* The next span in preorder, NULL after the last: of the tree under `root`, or if that is NULL of the
 * whole track. */
struct span *span__next(const struct span *s, const struct span *root);

/* What a device does: KERNEL, MEMCPY, MEMSET. */
bool span_kind__is_device_work(enum span_kind kind);

/* One of DATALOADER, FORWARD, BACKWARD, OPTIMIZATION. */
bool span_kind__is_phase(enum span_kind kind);
/* A later part of an inferred phase that other spans cut: of the call before. */
bool span__continues(const struct span *s);

/* --timer-only recorded it: it knows steps and the wait for data. What else a step does is not in
 * it, so nothing is concluded about phases. */
bool recording__is_timer_only(const struct recording *r);

/*
 * Calls visit for each batch in order of time; a batch is gone when visit returns. Stops at the
 * first non-zero return and returns it. A span is in the batch of the step that it ended in, a
 * device event in the batch of its launch. Phases:
 *  - DATALOADER, BACKWARD, OPTIMIZATION: by category; zero_grad stays a USER span of phase OTHER;
 *  - OPTIMIZATION of an optimizer's step in which a closure ran the backward pass: what follows that
 *    pass, until zero_grad if the closure begins with it; the step itself is a USER span of phase
 *    OTHER;
 *  - FORWARD, where the framework does not say: the gap before a BACKWARD, back to the phase (or
 *    zero_grad) before it; if zero_grad stands between a longer gap and the backward, both gaps.
 *    In a step without BACKWARD: from the data loader's end to the next phase or the step's end.
 *    A forward that another span cuts is several spans; all but the first carry EVENT_CUT_BEGIN.
 *    None in a recording of --timer-only.
 */
int model__run(const struct recording *r, const struct model_opts *opts,
	       int (*visit)(const struct batch *b, void *ctx), void *ctx);

#endif
