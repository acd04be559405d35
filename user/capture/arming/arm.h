/* SPDX-License-Identifier: BSD-2-Clause */
/* The heavy probes come before a window and go after it, so that closed steps cost nothing. */
#ifndef PROFTRACE_ARM_H
#define PROFTRACE_ARM_H

#include "capture/session.h"

/* Raises or restores our priority around what changes the target's text. */
void arm__hurry(bool on);
/* Attaches what tells of steps, and the scheduler's tracepoints. */
int arm__attach(struct session *s);
/* Attaches the rest, the operators' probes, and marks the programs as armed; takes them out again. */
int arm__attach_operators(struct session *s);
void arm__detach_operators(struct session *s);
/* Attaches one group to the target, and not to what is followed beside it. */
int arm__attach_alone(struct session *s, enum probe_group group);
/* Attaches one group anew after rows were pruned; takes a group out. */
int arm__reattach(struct session *s, enum probe_group group);
void arm__detach(struct session *s, enum probe_group group);
/* The same of those of steps: a step may end meanwhile and not be seen. */
int arm__reattach_steps(struct session *s);
/* Takes an edge of residency.h, if one is due, where probes are wanted by time, whatever the steps are. Call
 * often. */
int arm__poll_time(struct session *s, uint64_t left_ns);

/* Detaches what steps do not need. */
int arm__take_out(struct session *s);
/* Attaches again what only a window needs. */
int arm__rearm(struct session *s);

/* Lets windows open, or not: they wait for probes, and for the library in the target. */
void arm__set_open(struct session *s);
/* Nothing more is to be attached: windows wait for the library alone. */
void arm__may_open(struct session *s);

/* How long before a window its probes are attached. It grows with attach_ns, the time that this
 * took before: on a busy machine, or one by one, it takes long, and next time perhaps longer. */
uint64_t arm__lead_ns(const struct session *s);
uint64_t arm__lead_after(uint64_t attach_ns);

/* How long until probes are wanted, as fast as steps are now; UINT64_MAX: never. */
uint64_t arm__until_window_ns(const struct session *s);

/* Steps from the current one until probes are wanted (ready or record), 0 if they are now. */
uint64_t arm__steps_left(const struct pt_ctl *ctl);

#endif
