/* SPDX-License-Identifier: BSD-2-Clause */
/* What the monitor may take of its host: while it takes more, or the host has too little, no window opens. */
#ifndef PROFTRACE_MONITOR_GOVERNOR_H
#define PROFTRACE_MONITOR_GOVERNOR_H

#include <stddef.h>
#include <stdint.h>
#include "monitor/messages.h"

#define GOVERNOR_SAMPLES 72

struct governor_limits {
	double cpu;	       /* processors, over GOVERNOR_NS */
	uint64_t memory_bytes; /* anonymous memory and BPF maps */
	double pressure;       /* share of time in which some task of the host waited for a processor */
};

/* Use up to at_ns. */
struct governor_sample {
	uint64_t at_ns; /* CLOCK_MONOTONIC */
	double cpu_s;
	uint64_t memory_bytes;
	double pressure; /* NAN: the kernel does not tell */
};

struct governor {
	struct governor_limits limits;
	struct governor_sample samples[GOVERNOR_SAMPLES]; /* a ring, those of GOVERNOR_NS */
	size_t cnt, next;
};

/* Two samples that are less than 9 s apart count as one. */
void governor__add(struct governor *g, const struct governor_sample *sample);
/* Why no window may open now; HOLD_NONE: one may. */
enum hold governor__hold(const struct governor *g);

/* Reads the pressure on the processors of the host, of the latest minute, from /proc/pressure/cpu. */
double pressure__read(void);
/* The same of its text; NAN: it is not there. */
double pressure__parse(const char *text);

#endif
