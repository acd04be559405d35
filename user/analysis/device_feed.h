/* SPDX-License-Identifier: BSD-2-Clause */
/* Device work in clock time, for tables and findings: what ran during the window's whole steps,
 * whoever launched it. Without steps: what ran during the window. */
#ifndef PROFTRACE_DEVICE_FEED_H
#define PROFTRACE_DEVICE_FEED_H

#include "analysis/first_work.h"
#include "model/device_clock.h"

struct analysis;
struct table;
struct device_feed {
	struct first_work first[FEED_DEVICES];
	struct device_clock *clock; /* NULL: no table asked for it yet */
	const struct batch *batch;  /* of the current step; NULL: of the whole window */
	int (*take)(const struct device_work *w, void *ctx);
	void *ctx;
};

/* Calls take for all work that ran during the batch's step, by begin. Steps come in order of time.
 * Does nothing if the batch has no step. 0, -ENOMEM, or what take returned. */
int device_feed__step(struct analysis *a, const struct batch *b,
		      int (*take)(const struct device_work *w, void *ctx), void *ctx);
/* After the pass: calls take for all work of the window. Does nothing if there were steps. */
int device_feed__window(struct analysis *a, int (*take)(const struct device_work *w, void *ctx),
			void *ctx);
void device_feed__end(struct analysis *a);

/* The measured time of the steps, or of the window, for which the work of that device (or
 * ANY_DEVICE) is known. */
uint64_t analysis__clock_ns(const struct analysis *a, int device);
/* Adds a note from when on device work is known, if not from the begin. 0 or -ENOMEM. */
int device_feed__note_table(const struct analysis *a, struct table *t);
/* "the steps", "the window" */
const char *analysis__clock_name(const struct analysis *a);

#endif
