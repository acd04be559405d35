/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * If the framework runs backward nodes on their own thread, the call that began them waits. A sum
 * over threads would count that time twice: for the call and for the nodes.
 */
#ifndef PROFTRACE_BACKWARD_WAITS_H
#define PROFTRACE_BACKWARD_WAITS_H

#include "model/model.h"

struct backward_waits {
	struct backward_node {
		uint32_t pid;
		uint64_t begin_ns, end_ns;
	} *items; /* sorted by process and time; adjacent ones are joined */
	size_t cnt, cap;
};

/* Takes a batch's nodes that no call on their thread encloses, and forgets those of the batch
 * before. 0 or -ENOMEM. */
int backward_waits__take(struct backward_waits *w, const struct recording *r,
			 const struct batch *b);
/* How long such nodes of its process ran during a span, outside of the span's children. 0 if the
 * span is no call of the backward pass. */
uint64_t backward_waits__of(const struct backward_waits *w, uint32_t pid, const struct span *s);
void backward_waits__free(struct backward_waits *w);

#endif
