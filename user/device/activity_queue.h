/* SPDX-License-Identifier: BSD-2-Clause */
/* What a device did, as it came from the library, and is not written yet. */
#ifndef PROFTRACE_ACTIVITY_QUEUE_H
#define PROFTRACE_ACTIVITY_QUEUE_H

#include <stddef.h>
#include "cupti_shim/protocol.h"

#define ACTIVITY_QUEUE_MAX (1u << 22) /* more are lost, and counted */

union activity {
	struct shim_activity a;
	struct shim_kernel kernel;
	struct shim_copy copy;
	struct shim_set set;
	struct shim_sync sync;
	struct shim_memory memory;
	struct shim_marker marker;
	struct shim_overhead overhead;
	struct shim_event event;
};

/* In the order in which they came. Zeroed at first. */
struct activity_queue {
	union activity *items;
	size_t cnt, cap;
	size_t ripe_cnt; /* the first ones, that came in earlier rounds */
	uint64_t lost;
};

/* A record of any of these kinds. 0 or -ENOMEM. */
int activity_queue__push(struct activity_queue *q, const struct shim_record *r);
/* What is there now has come in an earlier round. */
void activity_queue__ripen(struct activity_queue *q);
/* Hands over, and forgets, the ripe ones. What `take` answers but 0 ends it, and is answered. */
int activity_queue__take(struct activity_queue *q,
			 int (*take)(void *ctx, const union activity *activity), void *ctx);
void activity_queue__clear(struct activity_queue *q);

#endif
