/* SPDX-License-Identifier: BSD-2-Clause */
/* The user's ranges (NVTX), made of the marks at their begins and ends. */
#ifndef PROFTRACE_DEVICE_RANGES_H
#define PROFTRACE_DEVICE_RANGES_H

#include "cupti_shim/protocol.h"

#define RANGES_MAX 4096 /* open at once; more are lost, and counted */

struct device_range {
	uint32_t id, tid;	   /* tid as the target sees it, 0: not known */
	uint64_t begin_ns, end_ns; /* CUPTI's clock; 0: not seen */
	uint64_t name;		   /* key */
	bool nests;		   /* in the other ranges of its thread */
};

struct device_ranges {
	struct device_range *open; /* in the order of their first mark */
	size_t cnt, cap;
	uint64_t lost;
};

/* 1: the mark completes *range; 0: it does not; or -ENOMEM. Marks of one range may come in either
 * order. */
int device_ranges__mark(struct device_ranges *r, const struct shim_marker *m,
			struct device_range *range);
void device_ranges__clear(struct device_ranges *r);

#endif
