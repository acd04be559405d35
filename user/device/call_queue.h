/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that were read from a ring and are not written yet. */
#ifndef PROFTRACE_CALL_QUEUE_H
#define PROFTRACE_CALL_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include "cupti_shim/protocol.h"

struct queued_call {
	struct shim_call call;
	uint32_t tid; /* in the initial pid namespace */
};

/* The calls of one thread, in the order of their ends, then those of the next thread that uses the
 * ring. Zeroed at first. */
struct call_queue {
	uint32_t tid; /* thread of the latest call */
	uint32_t ns_tid;
	struct queued_call *calls;
	size_t first, cnt, cap; /* index of the first call that is not taken */
};

/* Adds a call of the queue's latest thread. */
int call_queue__push(struct call_queue *q, const struct shim_call *call);
/* Passes the calls that ended by end_ns to `take` and removes them. Stops at the first result of
 * `take` that is not 0. */
int call_queue__take(struct call_queue *q, uint64_t end_ns,
		     int (*take)(void *ctx, uint32_t tid, const struct shim_call *call), void *ctx);
/* The same for all calls that ended before before_ns, at any place of the queue. */
int call_queue__discard(struct call_queue *q, uint64_t before_ns,
			int (*discarded)(void *ctx, const struct shim_call *call), void *ctx);
/* Does the queue have calls of this thread? */
bool call_queue__has(const struct call_queue *q, uint32_t tid);
void call_queue__clear(struct call_queue *q);

#endif
