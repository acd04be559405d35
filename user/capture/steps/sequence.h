/* SPDX-License-Identifier: BSD-2-Clause */
/* One thread's operator calls in order, and how each operator comes in them. */
#ifndef PROFTRACE_SEQUENCE_H
#define PROFTRACE_SEQUENCE_H

#include <stdbool.h>
#include "capture/steps/period.h"

enum {
	SEQUENCE_LEAST = 4,  /* calls of an operator that opens periods */
	SEQUENCE_LONGER = 4, /* a pause that many times as long is of another kind */
};

struct anchor {
	uint32_t op;
	uint8_t mark;
	size_t cnt;	   /* occurrences */
	size_t same;	   /* periods equal to the one before */
	size_t len;	   /* calls in the latest of these */
	uint64_t pause_ns; /* median of the pauses before it */
	size_t last;	   /* index of the latest occurrence */
	uint64_t last_hash;
};

/* One thread's calls, by begin, what encloses before what is inside. */
struct sequence {
	const struct step_call *calls;
	size_t cnt;
	struct anchor anchors[512];
	size_t anchor_cnt;
	bool has_gaps; /* between several looks */
};

/* Of the thread that has the most calls. Sorts them. */
void sequence__of(struct sequence *s, struct step_call *calls, size_t cnt);

/* An operator's number among the anchors; anchor_cnt: there were too many. */
size_t sequence__anchor(const struct sequence *s, uint32_t op);

/* One more or less: of those at the ends. */
bool anchor__is_as_often(const struct anchor *a, size_t cnt);

/* Are the pauses before a much longer than those before other? Then a begins a request and is no
 * layer of other. */
bool sequence__waits_more(const struct anchor *a, const struct anchor *other);
/* The one that comes after the longest pauses, however it repeats, if they are longer than those
 * before other calls: NULL if they are not. */
const struct anchor *sequence__pausing(const struct sequence *s);

/* Of the periods between a's calls, those with a call that `has` it. */
size_t sequence__periods_with(const struct sequence *s, const struct anchor *a,
			      bool (*has)(const struct step_call *call, uint32_t op), uint32_t op);
/* a's next period: its calls' hash. *at: where it is looked for, at first 0, then its end. */
bool sequence__next_period(const struct anchor *a, const struct sequence *s, size_t *at,
			   uint64_t *hash);

#endif
