/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where events were called from, by their stacks of Python. As in the PyTorch profiler
 * (EventList._set_backward_stacktraces) a backward node and what is inside it have the stack of the
 * operator that the node differentiates.
 */
#ifndef PROFTRACE_SOURCES_H
#define PROFTRACE_SOURCES_H

#include "analysis/analysis.h"
#include "analysis/forward_ops.h"
#include "model/call_stack.h"

#define SOURCES_DEPTH 5 /* frames, unless --stack-depth says otherwise */

struct sources {
	struct call_stacks *stacks;
	struct forward_ops forwards;
	json_t *ids; /* by text */
	const char **texts;
	size_t cnt, cap;
	uint32_t *by_frame; /* id by stack, 0: not asked for yet */
	bool opened;
};

/* Has the recording stacks? Then GROUP_BY_STACK is about these. */
bool sources__has(const struct analysis *a);
/* Takes a batch before its spans are asked about. 0 or -ENOMEM. */
int sources__take(const struct analysis *a, struct sources *s, const struct batch *b);
/* Id of the stack that a span was called from, 0: none is known. */
uint32_t sources__stack(const struct analysis *a, struct sources *s, const struct track *t,
			const struct span *span);
/* *id of the text of a stack's innermost frames, at most opts->stack_depth; 0 of 0. 0 or -ENOMEM. */
int sources__id(const struct analysis *a, struct sources *s, uint32_t stack, uint32_t *id);
/* "linear.py(134): forward < train.py(41): step"; NULL for 0. */
const char *sources__text(const struct sources *s, uint32_t id);
void sources__free(struct sources *s);

#endif
