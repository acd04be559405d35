/* SPDX-License-Identifier: BSD-2-Clause */
/* --timer-only: when the step rule is known, prunes the probes that the rule does not need. */
#ifndef PROFTRACE_TIMER_ONLY_H
#define PROFTRACE_TIMER_ONLY_H

#include "capture/session.h"

/* Does the probe show where steps begin, or the wait for data? The wait counts only if the rule is not a step probe. */
bool timer_only__needs(const struct probe_plan *plan, const struct step_rule *rule,
		       const struct planned_probe *probe);
/* With --timer-only and a step rule, detaches the other probes of the step group. */
int timer_only__set(struct session *s);

#endif
