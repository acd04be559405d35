/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Has the step time grown for good? A one-sided CUSUM (Page 1954) over the logarithm of window
 * medians, with a dead zone. Steps drift, and a textbook CUSUM raises false alarms in a third of
 * jobs. The deviation is that of the warm-up, made larger by its lag-1 correlation.
 */
#ifndef PROFTRACE_CUSUM_H
#define PROFTRACE_CUSUM_H

#include <stdbool.h>
#include <stddef.h>

#define CUSUM_WARM_UP 60 /* windows */
#define CUSUM_PERSIST 5	 /* windows in a row above, or below, until an alarm is raised, or cleared */

struct cusum {
	double warm_up[CUSUM_WARM_UP];
	size_t warm_up_cnt;
	double centre, deviation; /* of the logarithm, after the warm-up */
	double sum, recent;	  /* recent: smoothed logarithm, for the size of a change */
	unsigned int above, below;
	bool alarm;
};

/* A zeroed struct is one that begins. True: the alarm was raised or cleared. */
bool cusum__add(struct cusum *c, double median_seconds);
bool cusum__is_warm(const struct cusum *c);
/* How much longer steps take lately than in the warm-up, 0.05: by 5 %. */
double cusum__change(const struct cusum *c);

#endif
