/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is the difference of two sets of windows more than chance? Steps of one window are no independent
 * samples: the machine is faster or slower for seconds at a time. So the samples are windows, or
 * blocks of a second and more of a long window, and their logarithms are compared by Student's t.
 */
#ifndef PROFTRACE_CHANGE_H
#define PROFTRACE_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHANGE_FEWEST 4 /* steps of a window; below there is nothing to say */

/* One value for each step of a window. */
struct change_window {
	const uint64_t *ns;
	const uint64_t *step_ns; /* of the whole steps */
	size_t cnt;
	double ready_share; /* 0..1 of the steps' time their thread was ready and had no processor
			     */
};

struct change_side {
	const struct change_window *windows;
	size_t cnt;
	bool by_mean;	/* steps differ so much that their median is of no use */
	bool on_device; /* a device alone determines the times: they vary less than a host's */
};

/* The values' median, or mean; it sorts them. */
uint64_t change__level(uint64_t *ns, size_t cnt, bool by_mean);
/* Do some steps take much longer than most, again and again? */
int change__is_uneven(const uint64_t *ns, size_t cnt, bool *uneven);

struct change {
	double p;     /* two-sided; negative: a window has too few steps */
	double least; /* the smallest change that p < 0.05 would tell: 0.1 is 10 % */
};

/* 0 or -ENOMEM. A change of less than 2 % is never told. */
int change__test(const struct change_side *a, const struct change_side *b, struct change *out);

/* Two-sided p of Student's t; Abramowitz and Stegun, 26.7.1 and 26.5.8. */
double student_t__p(double t, double df);

#endif
