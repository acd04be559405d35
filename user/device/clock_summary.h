/* SPDX-License-Identifier: BSD-2-Clause */
/* What a window's summary says of the devices' clocks. */
#ifndef PROFTRACE_CLOCK_SUMMARY_H
#define PROFTRACE_CLOCK_SUMMARY_H

#include <jansson.h>
#include "device/clock_pairs.h"

/* Adds "clocks" to the summary's "device", if a clock is off, and a sentence of each to the notes.
 */
void clock_summary__add(struct clock_pairs *p, uint64_t close_ns, json_t *device, json_t *notes);

#endif
