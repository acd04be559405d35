/* SPDX-License-Identifier: BSD-2-Clause */
/* How far away the next window is, in steps and in time. */
#ifndef PROFTRACE_UNTIL_WINDOW_H
#define PROFTRACE_UNTIL_WINDOW_H

#include <stdint.h>

struct pt_ctl;
struct session;

/* How long before a window its probes are attached. attach_ns: the time that the longest attach took. It is long on a
 * busy machine, or if probes are attached one by one. The next attach may take longer. */
uint64_t arm__lead_ns(const struct session *s);
uint64_t arm__lead_after(uint64_t attach_ns);

/* The current step length. */
uint64_t arm__step_ns(const struct session *s);
/* Time until probes must be attached, at the current step length; UINT64_MAX: never. */
uint64_t arm__until_window_ns(const struct session *s);

/* How long the session needs no turn. READ_NS if probes are attached and records come. */
uint64_t arm__quiet_ns(const struct session *s);

/* Steps from the current one until probes must be attached (ready or record); 0: now. */
uint64_t arm__steps_left(const struct pt_ctl *ctl);

#endif
