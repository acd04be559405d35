/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices whose clock was off: their events are read with corrected times; not a door. */
#ifndef PROFTRACE_RECORDING_CLOCK_SHIFT_H
#define PROFTRACE_RECORDING_CLOCK_SHIFT_H

#include "recording/recording.h"

/* Of one device: t + shift_ns + slope * (t - at_ns). */
struct clock_shift {
	int32_t device;
	int64_t shift_ns;
	double slope;
	uint64_t at_ns;
};

struct clock_shifts {
	struct clock_shift *items;
	size_t cnt;
};

/* As the summary's "device" has them in "clocks"; what is malformed is left out. 0 or -ENOMEM. */
int clock_shifts__load(struct clock_shifts *s, const json_t *summary);
/* NULL: the device's times stay. */
const struct clock_shift *clock_shifts__find(const struct clock_shifts *s, int32_t device);
void clock_shift__apply(const struct clock_shift *s, struct event *e);

#endif
