/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spans of a recording added up by call stack, as flame graphs and pprof want them. Memory
 * follows the number of distinct stacks, up to a limit, and not that of the events.
 *
 * A stack is [track,] [step,] phase, then spans from the outermost inwards. Around operators stand
 * the lines of Python that called them. Work of a device stands below the call that launched it.
 * The phase is that of the innermost span, so sums by phase are those of the tables. An inferred
 * phase has no frame of its own beside it. What --timer-only recorded is in PHASE_UNRECORDED unless
 * it is a phase's own call. The time is what threads did: a call of the backward pass is without
 * the time in which it waits for nodes on other threads.
 */
#ifndef PROFTRACE_STACKS_H
#define PROFTRACE_STACKS_H

#include "model/model.h"

#define PHASE_UNRECORDED "(phase not recorded)"

/* Frames: 1..name_cnt are the recording's names. The exporter's own follow. */
enum stack_label {
	LABEL_KINDS = 0, /* + enum span_kind: phases, and the step */
	LABEL_NO_STEP = KIND_CNT,
	LABEL_NO_LAUNCH,
	LABEL_NO_NAME,
	LABEL_NO_PHASE,
	LABEL_TRACKS, /* + track id; after the last track come the recording's Python frames */
};

struct stack_node {
	uint32_t parent; /* index; the root's parent is 0, itself */
	uint32_t frame;	 /* 0: the root */
	uint64_t self_ns, device_ns, calls;
};

struct stacks {
	const struct recording *r;
	bool by_track, by_step;
	uint32_t name_cnt, frame_max;
	struct call_stacks *python; /* NULL: the recording has none */
	uint32_t *lines;	    /* by Python frame: the first frame of the same line */
	char **texts;		    /* by Python frame, only for those first frames */
	struct stack_node *nodes; /* a parent comes before its children */
	size_t cnt, cap;
	uint32_t *slots; /* index of a node, 0: free */
	size_t slot_cnt;
	uint64_t cut; /* spans that were added to their caller's stack, because there are too
			 many stacks */
	struct model_stats stats;
	uint64_t spans;		    /* number of host and device spans */
	uint64_t first_ns, last_ns; /* of all spans; first > last: none */
};

/* by_track: separates threads. by_step: separates steps from the rest. */
int stacks__collect(const struct recording *r, bool by_track, bool by_step, struct stacks *out);
void stacks__free(struct stacks *s);

/* Text of a frame that is no track. Never NULL. */
const char *stacks__text(const struct stacks *s, uint32_t frame);
/* Id of the track that the frame means. 0: it means none. */
uint32_t stacks__track(const struct stacks *s, uint32_t frame);

#endif
