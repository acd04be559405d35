/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first recorded work of each device, and when its launch had returned. Work that was launched
 * before the window is not recorded. It delays the first recorded work.
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

/* Called for each span of a device's track. */
void first_work__note(struct first_work works[FEED_DEVICES], const struct track *t,
		      const struct span *s);
/* From when on the work of that device (or of any, with ANY_DEVICE) is known. Before that, the
 * device ran what was launched before the window. 0: from the begin. */
uint64_t first_work__known_from(const struct analysis *a, int device);

#endif
