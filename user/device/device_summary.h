/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of a window's summary about device times, and about functions that our library saw. */
#ifndef PROFTRACE_DEVICE_SUMMARY_H
#define PROFTRACE_DEVICE_SUMMARY_H

#include "device/device_events.h"
#include "device/device_losses.h"

/* Counts of one window. Times are CLOCK_MONOTONIC ns. */
struct device_counts {
	uint64_t ended_ns;  /* when the library ended in the window; 0: it did not */
	uint64_t latest_ns; /* end of the window's latest activity that came; 0: none */
	uint64_t calls, activities, questions;
	uint64_t unanswered; /* launches of the window whose work did not come */
	uint64_t hooked;	     /* calls of functions */
	uint64_t nameless;   /* of these, calls whose full name found no room */
};

struct device_summary {
	const struct device_counts *counts;
	const struct shim_facts *facts;
	const struct device_events *events;
	const char *refusal; /* why there are no device times; NULL: there are */
	uint64_t open_ns;
};

/* The summary's "device". *lost: the number of records that the window lost. Adds the causes to the
 * array notes. NULL: out of memory. */
json_t *device_summary__json(const struct device_summary *s, struct device_losses *losses,
			     json_t *notes, uint64_t *lost);
/* The number of lost records of a library that only sees functions. */
uint64_t device_summary__lost_functions(const struct device_counts *counts,
					struct device_losses *losses, json_t *notes);

#endif
