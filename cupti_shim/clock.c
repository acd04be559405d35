// SPDX-License-Identifier: BSD-2-Clause
/* CUPTI uses our clock if it can be told to. Otherwise both clocks are read together, at both ends
 * of the window. */
#include "cupti_shim/shim.h"
#include <time.h>

#define BRACKETS 32

int64_t shim_clock_ahead_ns;
static bool is_ours; /* CUPTI calls us for the time */

/* According to its documentation, CUPTI's own clock on Linux. */
static uint64_t own_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* Takes the narrowest of many brackets. */
static void measure(struct shim_control *c, const struct cupti *cupti,
		    struct shim_clock_point *point)
{
	int failed = 0;

	point->bracket_ns = UINT64_MAX;
	for (int i = 0; i < BRACKETS; i++) {
		uint64_t cupti_ns = 0, before = shim_now(), after;
		int result = cupti->GetTimestamp(&cupti_ns);

		failed = result ? result : failed;
		if (result)
			continue;
		after = shim_now();
		if (after - before >= point->bracket_ns)
			continue;
		point->bracket_ns = after - before;
		point->mono_ns = before + (after - before) / 2;
		point->cupti_ns = cupti_ns;
	}
	if (point->bracket_ns == UINT64_MAX && !c->own_clock)
		failures__note(c, SHIM_FAILS_TIMESTAMP, failed);
}

void clock__begin(struct shim_control *c, const struct cupti *cupti)
{
	is_ours = cupti->ActivityRegisterTimestampCallback &&
		  !cupti->ActivityRegisterTimestampCallback(shim_now);
	c->own_clock = is_ours;
	measure(c, cupti, &c->clock_begin);
	c->clock_end = c->clock_begin;
}

void clock__end(struct shim_control *c, const struct cupti *cupti)
{
	measure(c, cupti, &c->clock_end);
}

/* The next tool of the process may need CUPTI's own clock, and a callback cannot be removed. */
void clock__give_back(struct shim_control *c, const struct cupti *cupti)
{
	if (is_ours)
		failures__note(c, SHIM_FAILS_CLOCK,
			       cupti->ActivityRegisterTimestampCallback(own_now));
	is_ours = false;
}
