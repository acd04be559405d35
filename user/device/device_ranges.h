/* SPDX-License-Identifier: BSD-2-Clause */
/* The user's ranges (NVTX), made of their begin and end marks. */
#ifndef PROFTRACE_DEVICE_RANGES_H
#define PROFTRACE_DEVICE_RANGES_H

#include "cupti_shim/protocol.h"

#define RANGES_MAX 4096 /* open ranges at a time; more are lost, and counted */

struct device_range {
	uint32_t id, tid;	   /* tid: as the target sees it; 0: unknown */
	uint64_t begin_ns, end_ns; /* on CUPTI's clock; 0: not seen */
	uint64_t name;		   /* key of the name */
	bool nests;		   /* it nests in the other ranges of its thread */
};

struct device_ranges {
	struct device_range *open; /* sorted by their first mark */
	size_t cnt, cap;
	uint64_t lost;
};

/* 1: the mark completes *range; 0: it does not; or -ENOMEM. The marks of a range may come in either
 * order. */
int device_ranges__mark(struct device_ranges *r, const struct shim_marker *m,
			struct device_range *range);
void device_ranges__clear(struct device_ranges *r);

#endif
