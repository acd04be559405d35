/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of probes come and go: in the target, and in what is followed beside it. */
#ifndef PROFTRACE_ARM_GROUPS_H
#define PROFTRACE_ARM_GROUPS_H

#include "capture/session.h"

/* Raises or restores our priority around what changes the target's text. */
void arm__hurry(bool on);
/* Attaches some, and the scheduler's tracepoints, and notes how long that took. */
int arm__attach_groups(struct session *s, const bool chosen[GROUP_CNT]);
/* Attaches one group to the target, and not to what is followed beside it. */
int arm__attach_alone(struct session *s, enum probe_group group);
/* Attaches one group anew after rows were pruned; takes a group out. */
int arm__reattach(struct session *s, enum probe_group group);
void arm__detach(struct session *s, enum probe_group group);
/* The same of those of steps: a step may end meanwhile and not be seen. */
int arm__reattach_steps(struct session *s);
/* Probes of ranges are back: of those that began before, the end is not known. */
void arm__forget_ranges(struct session *s);

#endif
