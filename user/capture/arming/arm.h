/* SPDX-License-Identifier: BSD-2-Clause */
/* The heavy probes come before a window and go after it, so that closed steps cost nothing. */
#ifndef PROFTRACE_ARM_H
#define PROFTRACE_ARM_H

#include "capture/session.h"

/* Attaches what tells of steps, and the scheduler's tracepoints. */
int arm__attach(struct session *s);
/* Attaches the rest, the operators' probes, and marks the programs as armed (RESIDENCY_MEASURE); takes them out
 * again (RESIDENCY_LEARN). */
int arm__attach_operators(struct session *s);
void arm__detach_operators(struct session *s);
/* Takes an edge of residency.h, if one is due, where probes are wanted by time, whatever the steps are. Call
 * often; left_ns 0: all probes are in then. */
int arm__poll_time(struct session *s, uint64_t left_ns);

/* Detaches what steps do not need. */
int arm__take_out(struct session *s);

#endif
