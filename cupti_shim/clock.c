// SPDX-License-Identifier: BSD-2-Clause
/* CUPTI's clock is ours where it asks for one; otherwise both are read together at both ends. */
#include "cupti_shim/shim.h"

#define BRACKETS 32

int64_t shim_clock_ahead_ns;

/* The narrowest of many brackets. */
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
		shim_note_failure(c, SHIM_FAILS_TIMESTAMP, failed);
}

void clock__begin(struct shim_control *c, const struct cupti *cupti)
{
	c->own_clock = cupti->ActivityRegisterTimestampCallback &&
		       !cupti->ActivityRegisterTimestampCallback(shim_now);
	measure(c, cupti, &c->clock_begin);
	c->clock_end = c->clock_begin;
}

void clock__end(struct shim_control *c, const struct cupti *cupti)
{
	measure(c, cupti, &c->clock_end);
}
