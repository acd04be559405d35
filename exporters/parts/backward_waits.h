/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * If the framework runs backward nodes on a thread of their own, the call that began them waits. A
 * sum over threads would count that time twice, for the call and for the nodes.
 */
#ifndef PROFTRACE_BACKWARD_WAITS_H
#define PROFTRACE_BACKWARD_WAITS_H

#include "model/model.h"

struct backward_waits {
	struct backward_node {
		uint32_t pid;
		uint64_t begin_ns, end_ns;
	} *items; /* by process and time; those that touch are one */
	size_t cnt, cap;
};

/* Takes the nodes of a batch that no call on their own thread encloses, instead of those of the
 * batch before. 0 or -ENOMEM. */
int backward_waits__take(struct backward_waits *w, const struct recording *r,
			 const struct batch *b);
/* How much of a span, outside of its children, such nodes of its process were running; 0 if it is
 * no call of the backward pass. */
uint64_t backward_waits__of(const struct backward_waits *w, uint32_t pid, const struct span *s);
void backward_waits__free(struct backward_waits *w);

#endif
