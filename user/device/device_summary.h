/* SPDX-License-Identifier: BSD-2-Clause */
/* What a window's summary says of its device times, and of the functions that our library saw. */
#ifndef PROFTRACE_DEVICE_SUMMARY_H
#define PROFTRACE_DEVICE_SUMMARY_H

#include "device/device_events.h"
#include "device/device_losses.h"

/* What came of a window, as it is counted. Times are CLOCK_MONOTONIC ns. */
struct device_counts {
	uint64_t ended_ns;  /* the library ended in the window; 0: not so */
	uint64_t latest_ns; /* end of the latest activity of the window that came; 0: none */
	uint64_t calls, activities, questions;
	uint64_t unanswered; /* launches of the window whose work did not come */
	uint64_t hooked;	     /* calls of functions */
	uint64_t nameless;   /* of these, whose full name found no room */
};

struct device_summary {
	const struct device_counts *counts;
	const struct shim_facts *facts;
	const struct device_events *events;
	const char *refusal; /* why there is no device time; NULL: there is */
	uint64_t open_ns;
};

/* "device" of the summary, and the number of records that the window lost; why they were is
 * added to the notes, an array. NULL: no memory. */
json_t *device_summary__json(const struct device_summary *s, struct device_losses *losses,
			     json_t *notes, uint64_t *lost);
/* The latter of a library that sees functions alone. */
uint64_t device_summary__lost_functions(const struct device_counts *counts,
					struct device_losses *losses, json_t *notes);

#endif
