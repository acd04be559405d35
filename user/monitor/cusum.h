/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Has the step time grown permanently? A one-sided CUSUM (Page 1954) over the logarithm of window
 * medians, with a dead zone. Steps drift, so a textbook CUSUM raises false alarms in a third of
 * jobs. The deviation is that of the warm-up, enlarged by its lag-1 correlation.
 */
#ifndef PROFTRACE_CUSUM_H
#define PROFTRACE_CUSUM_H

#include <stdbool.h>
#include <stddef.h>

#define CUSUM_WARM_UP 60 /* windows */
#define CUSUM_PERSIST 5	 /* so many windows in a row above (or below) raise (or clear) an alarm */

struct cusum {
	double warm_up[CUSUM_WARM_UP];
	size_t warm_up_cnt;
	double centre, deviation; /* of the logarithm, after the warm-up */
	double sum, recent;	  /* recent: smoothed logarithm, for the size of a change */
	unsigned int above, below;
	bool alarm;
};

/* Begins with a zeroed struct. True: the alarm was raised or cleared. */
bool cusum__add(struct cusum *c, double median_seconds);
bool cusum__is_warm(const struct cusum *c);
/* How much longer recent steps are than in the warm-up; 0.05: 5 %. */
double cusum__change(const struct cusum *c);

#endif
