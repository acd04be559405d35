/* SPDX-License-Identifier: BSD-2-Clause */
/* Times of day and dates, as people write them. */
#ifndef PROFTRACE_CLOCK_TIME_H
#define PROFTRACE_CLOCK_TIME_H

#include <stdint.h>
#include <time.h>

/*
 * Converts text to nanoseconds since 1970: "14:30" and "14:30:05" (the next time that the local
 * clock shows it), "2026-01-31T14:30:05" (local time, or UTC with a Z at the end), "@1767225600"
 * (seconds since 1970). 0, or -EINVAL with err__set if text is no time or lies before now.
 */
int clock_time__parse(const char *text, time_t now, uint64_t *ns);

#endif
