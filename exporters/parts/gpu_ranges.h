/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranges of threads as the devices ran them. Such a range covers what was launched inside a step or
 * a user's range, on its own thread, at any depth. On each stream it lasts from the first kernel,
 * copy or set to the last.
 */
#ifndef PROFTRACE_GPU_RANGES_H
#define PROFTRACE_GPU_RANGES_H

#include "recording/recording.h"

struct gpu_range {
	uint64_t begin_ns, end_ns; /* on the device */
	uint32_t track;		   /* its stream */
	/* track of the thread's range */
	uint32_t host_track;
	uint64_t host_ns; /* begin of the thread's range */
	uint32_t name;	  /* 0: it is the step of that number */
	uint32_t next;	  /* the same range on another stream: index + 1, 0: none */
	uint64_t step;
	uint64_t external_id; /* of its event in the trace, 0 if it has none */
};

struct gpu_ranges {
	struct gpu_range *ranges; /* an outer range comes before its inner ranges */
	size_t cnt, cap, next;
	struct gpu_range **by_host;
};

/* Sorts them. 0 or -ENOMEM. */
int gpu_ranges__sort(struct gpu_ranges *g);
void gpu_ranges__free(struct gpu_ranges *g);

/* The trace shows the thread's range under external_id. name 0: the range is a step. */
void gpu_ranges__set_id(struct gpu_ranges *g, uint32_t track, uint64_t begin_ns, uint32_t name,
			uint64_t external_id);

/* The next range that begins at or before that time. NULL: none. */
static inline const struct gpu_range *gpu_ranges__next(struct gpu_ranges *g, uint64_t until_ns)
{
	if (g->next == g->cnt || g->ranges[g->next].begin_ns > until_ns)
		return NULL;
	return &g->ranges[g->next++];
}

#endif
