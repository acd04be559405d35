/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts about the recording that each exported file contains, so that the file stands alone. */
#ifndef PROFTRACE_FACTS_H
#define PROFTRACE_FACTS_H

#include "recording/recording.h"

/* Events that are missing in the file although they were recorded or wanted, as far as known. */
struct recording_loss {
	uint64_t lost_cnt;   /* lost in capture, and in damaged chunks */
	uint64_t bad_chunks; /* damaged parts of the file */
	bool truncated;	     /* the file was cut off */
	bool target_gone;    /* the process ended before the window did */
};
struct recording_loss recording_loss__of(const struct recording *r);

/* "process 4242 (python) on node7"; free it. NULL: no memory. */
char *facts__title(const struct recording *r);
/* "incomplete: 2 events were lost, ..." or "" for a complete one; free it. NULL: no memory. */
char *facts__loss(const struct recording *r);
/* Operators without a probe, and their earlier time: of a step, or of the window. */
struct unprobed_sum {
	size_t cnt;
	double ms;
	bool by_time;
};
struct unprobed_sum facts__unprobed_sum(const struct recording *r);
/* "not recorded: 7 operators without a probe, about 0.120 ms of a step: ...", or "" if all had one;
 * free it. NULL: out of memory. */
char *facts__unprobed(const struct recording *r);
/* The summary's devices whose clock was off, borrowed. NULL: none. */
json_t *facts__device_clocks(const struct recording *r);
/* Text after the device's name: ", clock corrected by ..." or "". */
void facts__clock(const struct recording *r, int64_t device, char *text, size_t size);
/* CLOCK_REALTIME less CLOCK_MONOTONIC of the recorded machine in ns; 0: unknown. */
int64_t facts__wall_offset_ns(const struct recording *r);

#endif
