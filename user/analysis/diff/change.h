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

#define CHANGE_FEWEST 4 /* fewest steps of a window that can be compared */

/* One value for each step of a window. */
struct change_window {
	const uint64_t *ns;
	const uint64_t *step_ns; /* of the whole steps */
	size_t cnt;
	double ready_share; /* 0..1: the part of the steps' time in which their thread was ready
			       and had no processor */
};

struct change_side {
	const struct change_window *windows;
	size_t cnt;
	bool by_mean;	/* steps are uneven, so means are compared instead of medians */
	bool on_device; /* the times depend on a device alone: they vary less than a host's */
};

/* Median or mean of the values. Sorts them. */
uint64_t change__level(uint64_t *ns, size_t cnt, bool by_mean);
/* Do some steps take much longer than most, again and again? *uneven. 0 or -ENOMEM. */
int change__is_uneven(const uint64_t *ns, size_t cnt, bool *uneven);

struct change {
	double p;     /* two-sided; negative: a window has too few steps */
	double least; /* the smallest change with p < 0.05: 0.1 is 10 % */
};

/* 0 or -ENOMEM. Never reports a change of less than 2 %. */
int change__test(const struct change_side *a, const struct change_side *b, struct change *out);

/* Two-sided p of Student's t; Abramowitz and Stegun, 26.7.1 and 26.5.8. */
double student_t__p(double t, double df);

#endif
