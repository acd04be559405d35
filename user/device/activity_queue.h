/* SPDX-License-Identifier: BSD-2-Clause */
/* Activities of a device that came from the library and are not written yet. */
#ifndef PROFTRACE_ACTIVITY_QUEUE_H
#define PROFTRACE_ACTIVITY_QUEUE_H

#include <stddef.h>
#include "cupti_shim/protocol.h"

#define ACTIVITY_QUEUE_MAX (1u << 22) /* activities; more are lost, and counted */

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

/* In the order of arrival. Zeroed at first. */
struct activity_queue {
	union activity *items;
	size_t cnt, cap;
	size_t ripe_cnt; /* so many of the first ones came in earlier rounds */
	uint64_t lost;
};

/* Adds a record of one of these kinds. 0 or -ENOMEM. */
int activity_queue__push(struct activity_queue *q, const struct shim_record *r);
/* A new round: all that are there now came in an earlier round. */
void activity_queue__ripen(struct activity_queue *q);
/* Passes the ripe ones to `take` and removes them. Stops at the first result of `take` that is not
 * 0, and returns it. */
int activity_queue__take(struct activity_queue *q,
			 int (*take)(void *ctx, const union activity *activity), void *ctx);
void activity_queue__clear(struct activity_queue *q);

#endif
