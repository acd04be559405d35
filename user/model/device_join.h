/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds device events by their launch, however far behind it in the file. Only for the model. A
 * chunk with device events is read when a launch asks, and kept for the next launches. While the
 * device follows its host at a constant distance, about one chunk is kept, and never more than
 * JOIN_KEPT_BYTES.
 */
#ifndef PROFTRACE_DEVICE_JOIN_H
#define PROFTRACE_DEVICE_JOIN_H

#include "model/device_index.h"

#define JOIN_KEPT_BYTES (64u << 20)
#define JOIN_KEPT_MAX	48

/* Args of *e are valid during the call. Returns 0, or a value that ends the reading. */
typedef int (*device_event_fn)(void *ctx, const struct event *e);

struct device_join {
	struct device_index index;
	struct join_chunk *kept[JOIN_KEPT_MAX];
	size_t kept_cnt, kept_bytes;
	uint64_t clock;	 /* for replacing the chunk that was used longest ago */
	uint64_t *taken; /* one bit per device event of the recording */
	uint32_t *left;	 /* by chunk: number of device events that were not taken */
	uint64_t reads;	 /* chunks decoded */
};

/* 0 or a negative errno; free after either. */
int device_join__open(struct device_join *j, const struct recording *r);
void device_join__free(struct device_join *j);

/* Passes the events of a launch that were not taken before, in file order. */
int device_join__take(struct device_join *j, struct launch_key key, device_event_fn take,
		      void *ctx);
/* Passes up to `max` events that nobody took, in file order. Returns their number, or the value
 * that ended it. */
int device_join__take_rest(struct device_join *j, size_t max, device_event_fn take, void *ctx);
/* Marks the recording's device event `number`, which is in the chunk, as taken by another
 * caller. */
void device_join__mark(struct device_join *j, uint64_t number);

#endif
