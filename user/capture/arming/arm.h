/* SPDX-License-Identifier: BSD-2-Clause */
/* Attaches the expensive probes before a window and detaches them after it. Steps outside of windows cost nearly
 * nothing. */
#ifndef PROFTRACE_ARM_H
#define PROFTRACE_ARM_H

#include "capture/session.h"

/* Attaches the probes that show steps, and the scheduler's tracepoints. */
int arm__attach(struct session *s);
/* Attaches the other probes, those of operators, and arms the programs (RESIDENCY_MEASURE). arm__detach_operators()
 * detaches these probes again (RESIDENCY_LEARN). */
int arm__attach_operators(struct session *s);
void arm__detach_operators(struct session *s);
/* Takes the edge of residency.h that is due if the window begins at a time. Call often. left_ns 0: all probes are
 * attached at the return. */
int arm__poll_time(struct session *s, uint64_t left_ns);

/* Detaches the probes that steps do not need. */
int arm__take_out(struct session *s);

#endif
