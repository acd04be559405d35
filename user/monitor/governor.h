/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits for the monitor's use of its host. While the monitor uses more, or the host has too
 * little, no window opens. */
#ifndef PROFTRACE_MONITOR_GOVERNOR_H
#define PROFTRACE_MONITOR_GOVERNOR_H

#include <stddef.h>
#include <stdint.h>
#include "monitor/messages.h"

#define GOVERNOR_SAMPLES 72

struct governor_limits {
	double cpu;	       /* processors, averaged over GOVERNOR_NS */
	uint64_t memory_bytes; /* anonymous memory and BPF maps */
	double pressure;       /* share of time in which some task on the host waited for a
				  processor */
};

/* Usage at a time. */
struct governor_sample {
	uint64_t at_ns; /* CLOCK_MONOTONIC */
	double cpu_s;
	uint64_t memory_bytes;
	double pressure; /* NAN: the kernel does not provide it */
};

struct governor {
	struct governor_limits limits;
	struct governor_sample samples[GOVERNOR_SAMPLES]; /* a ring of the samples of GOVERNOR_NS */
	size_t cnt, next;
};

/* A sample less than 9 s after the one before replaces it. */
void governor__add(struct governor *g, const struct governor_sample *sample);
/* Why no window may open now. HOLD_NONE: one may. */
enum hold governor__hold(const struct governor *g);

/* Reads the pressure on the host's processors over the latest minute from /proc/pressure/cpu. */
double pressure__read(void);
/* The same from its text. NAN: it is missing. */
double pressure__parse(const char *text);

#endif
