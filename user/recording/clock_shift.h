/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices whose clock was off. Their events are read with corrected times. Only for this room. */
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

/* Loads the clocks of the summary's "device". Leaves out malformed ones. 0 or -ENOMEM. */
int clock_shifts__load(struct clock_shifts *s, const json_t *summary);
/* NULL: the device's times need no correction. */
const struct clock_shift *clock_shifts__find(const struct clock_shifts *s, int32_t device);
void clock_shift__apply(const struct clock_shift *s, struct event *e);

#endif
