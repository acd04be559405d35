/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which operator a backward node belongs to. Forward operators number the nodes as they make them.
 * An operator has the number of the last node that it made. So a node belongs to the first operator
 * whose number is at least its own. Of nested operators the innermost counts.
 */
#ifndef PROFTRACE_FORWARD_OPS_H
#define PROFTRACE_FORWARD_OPS_H

#include "analysis/analysis.h"

struct forward_ops {
	struct forward_op {
		uint64_t seq, order, begin_ns, end_ns;
		const struct track *track;
		uint32_t pid, group, name;
		uint32_t stack; /* of the call; 0: no stack was read */
	} *items; /* sorted by process and number */
	size_t cnt, cap;
	uint64_t order;
	uint64_t unsure; /* nodes that may be of a function that was left out */
};

/* Adds the operators of a batch, and forgets those of earlier steps. */
int forward_ops__take(const struct analysis *a, struct forward_ops *f, const struct batch *b);
/* NULL: it is no backward node, its operator was not seen, or it is an unsure one. */
const struct forward_op *forward_ops__of(const struct analysis *a, struct forward_ops *f,
					 const struct track *t, const struct span *node);
void forward_ops__free(struct forward_ops *f);

#endif
