/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of a window's summary about the devices' clocks. */
#ifndef PROFTRACE_CLOCK_SUMMARY_H
#define PROFTRACE_CLOCK_SUMMARY_H

#include <jansson.h>
#include "device/clock_pairs.h"

/* If a clock is off, adds "clocks" to the summary's "device", and a sentence for each to the
 * notes. */
void clock_summary__add(struct clock_pairs *p, uint64_t close_ns, json_t *device, json_t *notes);

#endif
