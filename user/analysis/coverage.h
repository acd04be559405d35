/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far into the recording the device's work, and the calls that made it, are known. The library
 * in the process can end before the window does. What concludes from such work asks here.
 */
#ifndef PROFTRACE_COVERAGE_H
#define PROFTRACE_COVERAGE_H

#include "model/model.h"

struct analysis;
struct table;

struct coverage {
	bool ends; /* within the window, at end_ns */
	uint64_t end_ns;
	const char *why;
	uint64_t launches; /* whose work did not come */
	bool has_gap; /* a step was seen that ended later */
	uint64_t steps_ns; /* of the steps' time as much as is known */
	uint64_t first_uncovered;
};
/* Before the pass; why is the recording's. */
struct coverage coverage__of(const struct recording *r);
/* Of the work of what ended then. */
bool coverage__knows(const struct coverage *c, uint64_t end_ns);
/* For each step. */
void coverage__add_step(struct coverage *c, const struct step *step);

/* After the pass: of some of the steps (of the window, if there are none) it is not known. */
bool coverage__is_partial(const struct analysis *a);
/* The steps' time, or the window's, of which it is known. */
uint64_t coverage__known_ns(const struct analysis *a);
/* Nothing if all is known. Else "device times end at step 6: ..." below a table that rests on them,
 * and "device times until step 6 of [0,9): ..." in the foot. 0 or -ENOMEM. */
int coverage__note_table(const struct analysis *a, struct table *t);
int coverage__note_foot(const struct analysis *a, struct table *t);

#endif
