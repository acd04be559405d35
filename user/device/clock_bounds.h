/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far a device's clock is from the host's. Each pair of a device's time and a call's bounds
 * what must be added to the device's times. Both sides keep a convex hull over time; the line that
 * fits between them is the correction.
 */
#ifndef PROFTRACE_CLOCK_BOUNDS_H
#define PROFTRACE_CLOCK_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLOCK_POINTS 512

/* What is added at t_ns is at least (or at most) bound_ns. */
struct clock_point {
	double t_ns, bound_ns;
};

struct clock_side {
	struct clock_point points[CLOCK_POINTS]; /* the first hull_cnt: a hull, by time */
	size_t hull_cnt, cnt;
	struct clock_point latest; /* the tightest of a millisecond, not in points yet */
	bool has_latest;
	uint64_t broken; /* pairs that the clock as it is contradicts */
};

/* Zeroed at first but for origin_ns, which times are told from. */
struct clock_bounds {
	uint64_t origin_ns;
	struct clock_side least, most;
};

/* Work began at device_ns by its clock, and its launch had begun at host_ns. */
void clock_bounds__launched(struct clock_bounds *b, uint64_t device_ns, uint64_t host_ns);
/* Work ended at device_ns by its clock, and had ended at host_ns. */
void clock_bounds__awaited(struct clock_bounds *b, uint64_t device_ns, uint64_t host_ns);

enum clock_verdict {
	CLOCK_AGREES,  /* or nothing says that it does not */
	CLOCK_IS_OFF,  /* it is corrected by the line */
	CLOCK_IS_WILD, /* no line fits: it jumps, or what bounds it is wrong */
};

/* Corrected time: t + shift_ns + slope * (t - origin_ns). */
struct clock_line {
	enum clock_verdict verdict;
	double shift_ns, slope;
	/* The band around the line, that holds for all times; infinite: no such bound. */
	double below_ns, above_ns;
	double wild_ns; /* CLOCK_IS_WILD: how far from all bounds the best line is */
};
struct clock_line clock_bounds__line(struct clock_bounds *b);

#endif
