/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page faults of a thread by the kernel's own counters. They need no probe, but show neither the length nor the cause
 * of a fault.
 */
#ifndef PROFTRACE_FAULT_COUNT_H
#define PROFTRACE_FAULT_COUNT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fault_count {
	uint64_t at_ns; /* time of the reading, CLOCK_MONOTONIC; 0: it failed */
	uint64_t minor, major;
};

/* Faults since the thread began. */
struct fault_count fault_count__read(pid_t pid, pid_t tid);
/* Returns {"minor", "major", "over_ns", "fault_ns"} for the time between two readings. fault_ns is the measured time of
 * a fault that fills a page without a file. NULL: unknown. */
json_t *fault_count__json(const struct fault_count *before, const struct fault_count *after);

#endif
