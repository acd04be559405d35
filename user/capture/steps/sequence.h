/* SPDX-License-Identifier: BSD-2-Clause */
/* One thread's operator calls in order, with statistics of each operator. */
#ifndef PROFTRACE_SEQUENCE_H
#define PROFTRACE_SEQUENCE_H

#include <stdbool.h>
#include "capture/steps/period.h"

enum {
	SEQUENCE_LEAST = 4,  /* fewest calls of an operator that opens periods */
	SEQUENCE_LONGER = 4, /* a pause is of another kind if it is this many times as long */
};

struct anchor {
	uint32_t op;
	uint8_t mark;
	size_t cnt;	   /* occurrences */
	size_t same;	   /* periods equal to the one before */
	size_t len;	   /* calls in the latest of these equal periods */
	uint64_t pause_ns; /* median of the pauses before it */
	size_t last;	   /* index of the latest occurrence */
	uint64_t last_hash;
};

/* One thread's calls by begin. An enclosing call comes before the calls inside it. */
struct sequence {
	const struct step_call *calls;
	size_t cnt;
	struct anchor anchors[512];
	size_t anchor_cnt;
	bool has_gaps; /* the calls come from several looks */
};

/* Fills s from the thread with the most calls. Sorts the calls. */
void sequence__of(struct sequence *s, struct step_call *calls, size_t cnt);

/* The index of an operator's anchor; anchor_cnt if the table of anchors was full. */
size_t sequence__anchor(const struct sequence *s, uint32_t op);

/* Does a come `cnt` times, give or take one? One may be cut off at an end. */
bool anchor__is_as_often(const struct anchor *a, size_t cnt);

/* Are the pauses before a much longer than the pauses before other? Then a begins a request, and is no layer of
 * other. */
bool sequence__waits_more(const struct anchor *a, const struct anchor *other);
/* The operator after the longest pauses, whether it repeats or not. NULL if its pauses are not much longer than those
 * before other calls. */
const struct anchor *sequence__pausing(const struct sequence *s);

/* The number of periods between a's calls with a call for which has() is true. */
size_t sequence__periods_with(const struct sequence *s, const struct anchor *a,
			      bool (*has)(const struct step_call *call, uint32_t op), uint32_t op);
/* Finds a's next period and the hash of its calls. The search begins at *at, at first 0; *at becomes the end of the
 * period. Returns false if no period is left. */
bool sequence__next_period(const struct anchor *a, const struct sequence *s, size_t *at,
			   uint64_t *hash);

#endif
