/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stacks of Python from which events were called. A backward node, and what is inside it, has
 * the stack of the operator that the node differentiates. So it is in the PyTorch profiler
 * (EventList._set_backward_stacktraces).
 */
#ifndef PROFTRACE_SOURCES_H
#define PROFTRACE_SOURCES_H

#include "analysis/analysis.h"
#include "analysis/forward_ops.h"
#include "model/call_stack.h"

#define SOURCES_DEPTH 5 /* frames that tell rows apart, without --stack-depth */

struct sources {
	struct call_stacks *stacks;
	struct forward_ops forwards;
	json_t *ids; /* text to id */
	const char **texts;
	size_t cnt, cap;
	uint32_t *by_frame; /* id by stack; 0: not made yet */
	bool opened;
};

/* Does the recording have stacks? Then GROUP_BY_STACK uses them. */
bool sources__has(const struct analysis *a);
/* Takes a batch. Call it before asking about the batch's spans. 0 or -ENOMEM. */
int sources__take(const struct analysis *a, struct sources *s, const struct batch *b);
/* Id of the stack that a span was called from, 0: none is known. */
uint32_t sources__stack(const struct analysis *a, struct sources *s, const struct track *t,
			const struct span *span);
/* Sets *id to the id of the text of a stack's innermost frames, at most opts->stack_depth. Stack 0
 * has id 0. 0 or -ENOMEM. */
int sources__id(const struct analysis *a, struct sources *s, uint32_t stack, uint32_t *id);
/* "linear.py(134): forward < train.py(41): step"; NULL for 0. */
const char *sources__text(const struct sources *s, uint32_t id);
void sources__free(struct sources *s);

#endif
