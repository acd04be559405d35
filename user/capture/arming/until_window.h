/* SPDX-License-Identifier: BSD-2-Clause */
/* How far away the next window is, in steps and in time. */
#ifndef PROFTRACE_UNTIL_WINDOW_H
#define PROFTRACE_UNTIL_WINDOW_H

#include <stdint.h>

struct pt_ctl;
struct session;

/* How long before a window its probes are attached. It grows with attach_ns, the time that this
 * took before: on a busy machine, or one by one, it takes long, and next time perhaps longer. */
uint64_t arm__lead_ns(const struct session *s);
uint64_t arm__lead_after(uint64_t attach_ns);

/* How long a step is now. */
uint64_t arm__step_ns(const struct session *s);
/* How long until probes are wanted, as fast as steps are now; UINT64_MAX: never. */
uint64_t arm__until_window_ns(const struct session *s);

/* For how long a session needs no turn until then; READ_NS where probes are in, so that records come. */
uint64_t arm__quiet_ns(const struct session *s);

/* Steps from the current one until probes are wanted (ready or record), 0 if they are now. */
uint64_t arm__steps_left(const struct pt_ctl *ctl);

#endif
