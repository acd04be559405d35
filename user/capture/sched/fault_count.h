/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page faults of a thread as the kernel counts them for everyone: without a probe, and without how
 * long each took or what it was for.
 */
#ifndef PROFTRACE_FAULT_COUNT_H
#define PROFTRACE_FAULT_COUNT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fault_count {
	uint64_t at_ns; /* when it was read, CLOCK_MONOTONIC; 0: it could not be */
	uint64_t minor, major;
};

/* Since the thread began. */
struct fault_count fault_count__read(pid_t pid, pid_t tid);
/* {"minor", "major", "over_ns", "fault_ns"}: between the two readings, and what one that fills a
 * page of memory without a file takes here, by trying it. NULL: not known. */
json_t *fault_count__json(const struct fault_count *before, const struct fault_count *after);

#endif
