/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far the clock of one host is ahead of that of another, by collectives that ranks of both take
 * part in. No rank leaves an all-reduce before the last rank has come. So its ends on all ranks are
 * nearly at the same moment.
 */
#ifndef PROFTRACE_CLOCK_OFFSET_H
#define PROFTRACE_CLOCK_OFFSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OFFSET_STEPS 5 /* fewest common steps with collectives */

/* The collectives of one rank that no rank leaves before the last one has come. */
struct collective_ends {
	struct collective_end {
		uint64_t step; /* its index */
		uint64_t begin_ns, end_ns;
		int kind; /* only the same kinds are compared */
	} *items;
	size_t cnt, cap;
};

/* Adds a collective, unless ranks may leave it alone, as a broadcast. 0 or -ENOMEM. */
int collective_ends__add(struct collective_ends *e, uint64_t step, const char *name,
			 uint64_t begin_ns, uint64_t end_ns);
/* Call after the last one. */
void collective_ends__sort(struct collective_ends *e);
void collective_ends__free(struct collective_ends *e);

enum offset_result {
	OFFSET_KNOWN,
	/* The steps are so alike that the offset may be whole steps more or less. It is the one of
	 * less than half a step. */
	OFFSET_OF_ALIKE_STEPS,
	/* unknown: fewer than OFFSET_STEPS common steps, or than half of the shorter window */
	OFFSET_FEW_STEPS,
	OFFSET_APART, /* unknown: the ends of the collectives fit to no offset, or to many */
};

struct clock_offset {
	enum offset_result result;
	int64_t ns;	   /* median of b's ends less a's */
	uint64_t error_ns; /* nine of ten differences are nearer to the median */
	size_t collectives;
};

/* ahead_ns: added to b's times before they are compared. 0 or -ENOMEM. */
int clock_offset__find(const struct collective_ends *a, const struct collective_ends *b,
		       int64_t ahead_ns, struct clock_offset *out);
bool clock_offset__is_known(const struct clock_offset *o);

#endif
