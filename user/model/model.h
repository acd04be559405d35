/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model turns a recording into event trees, one per track, linked by correlation id, cut into
 * steps and phases. The same recording always gives the same trees. It streams: a visitor sees one
 * batch at a time, a step with everything that ended in it. So memory depends on the longest step,
 * not on the file.
 */
#ifndef PROFTRACE_MODEL_H
#define PROFTRACE_MODEL_H

#include <stdbool.h>
#include "recording/recording.h"

/* The roles by which tables group. Derived from a name's category and the span's place in the
 * tree. */
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
	KIND_PIPELINE,	    /* own work of an operation of the data pipeline */
	KIND_PIPELINE_WAIT, /* a wait for a row from its queue, or for room in it */
	KIND_EXECUTION,	    /* an engine's thread runs an operator */
	KIND_CNT,
};
const char *span_kind__label(enum span_kind kind); /* "OperatorInner" and so on, as tables print
						      it */

struct span {
	struct event ev;
	enum span_kind kind;
	enum span_kind phase; /* DATALOADER, FORWARD, BACKWARD, OPTIMIZATION or OTHER */
	uint32_t operator_name; /* EXECUTION: name of the operator; 0: unknown */
	bool inferred;	      /* begin or end was inferred */
	struct span *parent, *first_child, *next_sibling; /* on the same track, by time */
	struct span *first_device,
		*next_device; /* device events that this span launched directly */
	struct span *launch;  /* device events: the host span that launched it, NULL if unknown */
	uint32_t
		descendants; /* probed spans inside it on its track: no inferred phases and no
				calls from CUPTI */
	uint64_t cpu_ns;     /* duration less the known cost of our probes inside it (at least 0) */
	uint64_t self_ns;    /* cpu_ns less the children's */
	uint64_t kernel_ns,
		device_ns; /* sums over the subtree: kernel_ns of kernels; device_ns of kernels,
			      copies and sets */
	int64_t alloc_bytes, self_alloc_bytes; /* host memory allocated less freed inside */
};

struct step {
	uint64_t index;
	uint64_t ts_ns, dur_ns;
	uint64_t cpu_ns; /* dur_ns less the known cost of our probes on its thread */
	/* DATALOADER, FORWARD, BACKWARD, OPTIMIZATION of its thread, like cpu_ns; OTHER: the
	 * rest */
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
	const struct event *memory;	  /* EVENT_MEMORY of the batch, by time; with copies of
					     the args */
	struct span *const *memory_spans; /* the innermost span of each; NULL: outside of any */
	size_t memory_cnt;
	const struct event *others; /* instants, counters, asyncs, as recorded */
	size_t other_cnt;
};

/* What the model had to correct or leave out. All zero for a sound recording. */
struct model_stats {
	uint64_t spans;	  /* host and device spans that were used */
	uint64_t clipped; /* spans that overlapped without nesting: the later begin or an
			     inferred end was moved */
	uint64_t too_deep;  /* left out: nested deeper than MODEL_MAX_DEPTH */
	uint64_t malformed; /* left out: unknown track, type on the wrong track, impossible time */
	uint64_t early;	    /* batches given out before the end of a step, which had too many
			       events */
	uint64_t unlinked;  /* device events whose launch is not in the recording */
	/* linked: kernels, copies and sets with a launch. before_launch: of these, how many begin
	 * before it; and by how much at most. */
	uint64_t linked, before_launch, before_launch_ns;
	/* The least time from a launch's begin to its work's begin, if linked. Then waits for a
	 * device: how many; how many ended before what they waited for; and by how much at most. */
	int64_t least_delay_ns;
	uint64_t waits, after_wait, after_wait_ns;
	uint64_t subtracted_ns; /* cost of probes that was subtracted from steps (without steps:
				   from the roots) */
};
#define MODEL_MAX_DEPTH 512 /* limits the recursion of walks */

struct model_opts {
	bool raw_times;		   /* do not subtract the cost of our probes */
	struct model_stats *stats; /* filled at the end if not NULL */
};

/* Name of a span: that in the recording, or the kind's label for an inferred phase. Never NULL. */
const char *span__name(const struct recording *r, const struct span *s);

/* The next span in preorder; NULL after the last. root: the tree under it; NULL: the whole
 * track. */
struct span *span__next(const struct span *s, const struct span *root);

/* Is it device work: KERNEL, MEMCPY or MEMSET? */
bool span_kind__is_device_work(enum span_kind kind);

/* Is it DATALOADER, FORWARD, BACKWARD or OPTIMIZATION? */
bool span_kind__is_phase(enum span_kind kind);
/* Is it a later part of an inferred phase that other spans interrupt? */
bool span__continues(const struct span *s);

/* Was it recorded with --timer-only? Then it has steps and the wait for data, and nothing is
 * concluded about phases. */
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
