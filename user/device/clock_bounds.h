/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far a device's clock is off the host's. Each pair of a device's time and a call's time bounds
 * the correction. Lower and upper bounds each keep a convex hull over time. A line between the
 * hulls is the correction.
 */
#ifndef PROFTRACE_CLOCK_BOUNDS_H
#define PROFTRACE_CLOCK_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLOCK_POINTS 512

/* The correction at t_ns is at least (or at most) bound_ns. */
struct clock_point {
	double t_ns, bound_ns;
};

struct clock_side {
	struct clock_point points[CLOCK_POINTS]; /* the first hull_cnt are a hull, sorted by time */
	size_t hull_cnt, cnt;
	struct clock_point latest; /* the tightest bound of the current millisecond, not in
				      points yet */
	bool has_latest;
	uint64_t broken; /* pairs that contradict the uncorrected clock */
};

/* Zeroed at first, except origin_ns, to which times are relative. */
struct clock_bounds {
	uint64_t origin_ns;
	struct clock_side least, most;
};

/* Work began at device_ns on the device's clock. Its launch had begun at host_ns before that. */
void clock_bounds__launched(struct clock_bounds *b, uint64_t device_ns, uint64_t host_ns);
/* Work ended at device_ns on the device's clock. A wait for it returned at host_ns after that. */
void clock_bounds__awaited(struct clock_bounds *b, uint64_t device_ns, uint64_t host_ns);

enum clock_verdict {
	CLOCK_AGREES,  /* or nothing contradicts it */
	CLOCK_IS_OFF,  /* the line corrects it */
	CLOCK_IS_WILD, /* no line fits: the clock jumps, or a bound is wrong */
};

/* Corrected time: t + shift_ns + slope * (t - origin_ns). */
struct clock_line {
	enum clock_verdict verdict;
	double shift_ns, slope;
	/* The correction may be lower or higher by so much, at all times. Infinite: there is no
	 * bound. */
	double below_ns, above_ns;
	double wild_ns; /* CLOCK_IS_WILD: how much the best line violates the bounds */
};
struct clock_line clock_bounds__line(struct clock_bounds *b);

#endif
