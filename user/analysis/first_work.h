/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of each device what began first, and when its launch had returned: work that was launched before
 * the window is not recorded, and keeps that waiting.
 */
#ifndef PROFTRACE_FIRST_WORK_H
#define PROFTRACE_FIRST_WORK_H

#include "model/model.h"

#define FEED_DEVICES 64
#define ANY_DEVICE   (-1)

struct analysis;
struct first_work {
	bool seen;
	uint64_t begin_ns, launched_ns;
};

/* For each span of a device's track. */
void first_work__note(struct first_work works[FEED_DEVICES], const struct track *t,
		      const struct span *s);
/* From when on it is known what that device (or ANY_DEVICE: one of them) did; before it did what was
 * launched before the window. 0: from the begin. */
uint64_t first_work__known_from(const struct analysis *a, int device);

#endif
