/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Until when the recording has the device's work and the calls that made it. The library in the
 * process can end before the window does. Rules that conclude from device work ask here.
 */
#ifndef PROFTRACE_COVERAGE_H
#define PROFTRACE_COVERAGE_H

#include "model/model.h"

struct analysis;
struct table;

struct coverage {
	bool ends; /* device times end within the window, at end_ns */
	uint64_t end_ns;
	const char *why;
	uint64_t launches; /* whose work is missing */
	bool has_gap; /* a step ended after end_ns */
	uint64_t steps_ns; /* time of the steps for which device work is known */
	uint64_t first_uncovered;
};
/* Before the pass. The result's `why` belongs to the recording. */
struct coverage coverage__of(const struct recording *r);
/* Is the device work of something that ended at end_ns known? */
bool coverage__knows(const struct coverage *c, uint64_t end_ns);
/* For each step. */
void coverage__add_step(struct coverage *c, const struct step *step);

/* After the pass: device work is unknown for some of the steps, or without steps for some of the
 * window. */
bool coverage__is_partial(const struct analysis *a);
/* The time of the steps, or without steps of the window, for which device work is known. */
uint64_t coverage__known_ns(const struct analysis *a);
/* Adds no note if all is known. Else a table of device times gets "device times end at step 6:
 * ...", and the foot gets "device times until step 6 of [0,9): ...". 0 or -ENOMEM. */
int coverage__note_table(const struct analysis *a, struct table *t);
int coverage__note_foot(const struct analysis *a, struct table *t);

#endif
