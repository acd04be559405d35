/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of a recording in order of their begins. An outer span comes before its inner spans.
 * Memory does not grow with the number of events. A recording is sorted by ends, so a window of it
 * is sorted by begins. A first pass finds the few spans that began before the window; these are
 * held. A span that crosses a step boundary keeps its longest part, so that steps nest.
 */
#ifndef PROFTRACE_TIMELINE_H
#define PROFTRACE_TIMELINE_H

#include "recording/recording.h"

struct timeline;

/* Reads the recording once. Calls see() (or NULL) for each event in the recording's order. A result
 * other than 0 ends the reading. A negative errno on error. */
int timeline__open(const struct recording *r, int (*see)(void *ctx, const struct event *e), void *ctx,
		   struct timeline **out);
void timeline__close(struct timeline *t);

struct timeline_event {
	struct event ev; /* its end does not overflow: ts_ns + dur_ns <= UINT64_MAX */
	uint64_t cut_ns; /* nanoseconds that were cut off its duration */
};

/* 1 with *e set (args valid until the next call), 0 at the end, or a negative errno. */
int timeline__next(struct timeline *t, struct timeline_event *e);

/* Puts the latest event back. timeline__next() returns it again, beginning at begin_ns, which is
 * after its begin and not after its end. False: too many are deferred; timeline__next() returns
 * -ENOMEM. */
bool timeline__defer(struct timeline *t, const struct timeline_event *e, uint64_t begin_ns);

uint64_t timeline__begin_ns(const struct timeline *t); /* earliest begin, 0: there is no event */
uint64_t timeline__step_cnt(const struct timeline *t);
/* Bit c is set if the track has an event of span_category c. */
uint32_t timeline__categories(const struct timeline *t, uint32_t track);

#endif
