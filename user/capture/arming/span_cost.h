/* SPDX-License-Identifier: BSD-2-Clause */
/* What our own span programs cost here, measured on a child of ours before they touch the target.
 * Durations are corrected by what probes cost in a tight loop, the least possible cost. What they
 * add to a job is estimated by the distance of its hits. */
#ifndef PROFTRACE_SPAN_COST_H
#define PROFTRACE_SPAN_COST_H

#include "attach/attach.h"

struct session;

struct probe_cost {
	struct attach_cost bare; /* probes with an empty program */
	uint64_t span_inside_ns; /* of a span's own cost, what its measured duration contains */
	uint64_t span_total_ns;	 /* what a span adds to whatever encloses it */
	uint64_t cold_hit_ns;	 /* a hit among work that empties the caches, and what it evicts */
	uint64_t watch_ns;	 /* a hit of a data breakpoint, at least; 0: none is planned */
	double watch_slows; /* one that is not hit: copies take so many times as long; 0: not known
			     */
};

/* What a hit adds, in nanoseconds. */
struct hit_price {
	double least_ns;  /* in a tight loop */
	double likely_ns; /* as far apart as they are */
	double most_ns;	  /* all caches are empty, or more than that by as much as we may be wrong */
};
/* Hits are `apart_ns` of the thread's run time apart on average: between close ones our code and
 * the kernel's stay in the caches. */
struct hit_price span_cost__hit(const struct probe_cost *cost, uint64_t apart_ns);

/* With the loaded programs of the session, which must not have a window open. */
int span_cost__measure(struct session *s, struct probe_cost *cost);

#endif
