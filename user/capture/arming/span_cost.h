/* SPDX-License-Identifier: BSD-2-Clause */
/* The cost of our span programs on this machine, measured on a child process before they touch the target. Durations
 * are corrected by the cost in a tight loop, the least possible cost. The cost to a job is estimated from the distance
 * between its hits. */
#ifndef PROFTRACE_SPAN_COST_H
#define PROFTRACE_SPAN_COST_H

#include "attach/attach.h"

struct session;

struct probe_cost {
	struct attach_cost bare; /* probes with an empty program */
	uint64_t span_inside_ns; /* the part of a span's cost inside its measured duration */
	uint64_t span_total_ns;	 /* time that a span adds to its enclosing span */
	uint64_t cold_hit_ns;	 /* a hit among work that empties the caches, with the cost of what it evicts */
	uint64_t watch_ns;	 /* least cost of a hit of a data breakpoint; 0: none is planned */
	double watch_slows; /* slow-down of copies by a data breakpoint that is not hit; 0: unknown */
};

/* What a hit adds, in nanoseconds. */
struct hit_price {
	double least_ns;  /* in a tight loop */
	double likely_ns; /* at their actual distance */
	double most_ns;	  /* with all caches empty, or likely_ns plus our possible error, if that is more */
};
/* The cost of hits that are on average `apart_ns` of CPU time apart. Between close hits our code and the kernel's stay
 * in the caches. */
struct hit_price span_cost__hit(const struct probe_cost *cost, uint64_t apart_ns);

/* Uses the loaded programs of the session, which must not have a window open. */
int span_cost__measure(struct session *s, struct probe_cost *cost);

#endif
