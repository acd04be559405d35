/* SPDX-License-Identifier: BSD-2-Clause */
/* Clock time of devices, for tables and findings: what ran in the whole steps of the window,
 * whoever launched it. If the window has no step: in all of the window. */
#ifndef PROFTRACE_DEVICE_FEED_H
#define PROFTRACE_DEVICE_FEED_H

#include "analysis/first_work.h"
#include "model/device_clock.h"

struct analysis;
struct table;
struct device_feed {
	struct first_work first[FEED_DEVICES];
	struct device_clock *clock; /* NULL: not asked yet */
	const struct batch *batch;  /* of the step that is fed now; NULL: the window is */
	int (*take)(const struct device_work *w, void *ctx);
	void *ctx;
};

/* Gives take what ran in the batch's step, by begin; steps in order of time. Nothing if it has
 * none. 0, -ENOMEM, or what take returned. */
int device_feed__step(struct analysis *a, const struct batch *b,
		      int (*take)(const struct device_work *w, void *ctx), void *ctx);
/* After the pass: what ran in the window. Nothing if there were steps. */
int device_feed__window(struct analysis *a, int (*take)(const struct device_work *w, void *ctx),
			void *ctx);
void device_feed__end(struct analysis *a);

/* What clock times are of: the steps, or the window, as measured, as far as it is known what that
 * device (or ANY_DEVICE) did. */
uint64_t analysis__clock_ns(const struct analysis *a, int device);
/* Says from when on that is known, if not from the begin. 0 or -ENOMEM. */
int device_feed__note_table(const struct analysis *a, struct table *t);
/* "the steps", "the window" */
const char *analysis__clock_name(const struct analysis *a);

#endif
