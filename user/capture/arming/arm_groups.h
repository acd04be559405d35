/* SPDX-License-Identifier: BSD-2-Clause */
/* Attaches and detaches groups of probes, in the target and in followed processes. */
#ifndef PROFTRACE_ARM_GROUPS_H
#define PROFTRACE_ARM_GROUPS_H

#include "capture/session.h"

/* Raises our priority while we change the target's text, or restores it. */
void arm__hurry(bool on);
/* Attaches the chosen groups and the scheduler's tracepoints. Remembers the longest time that this took. */
int arm__attach_groups(struct session *s, const bool chosen[GROUP_CNT]);
/* Attaches one group to the target only, not to followed processes. */
int arm__attach_alone(struct session *s, enum probe_group group);
/* Attaches one group anew after rows were pruned. arm__detach() detaches it. */
int arm__reattach(struct session *s, enum probe_group group);
void arm__detach(struct session *s, enum probe_group group);
/* Attaches the group of steps anew. A step that ends meanwhile is missed. */
int arm__reattach_steps(struct session *s);
/* Call when the probes of ranges are attached again. The ends of earlier ranges are unknown. */
void arm__forget_ranges(struct session *s);

#endif
