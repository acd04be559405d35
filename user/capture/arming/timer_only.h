/* SPDX-License-Identifier: BSD-2-Clause */
/* --timer-only: once it is known what a step is, the probes go that it is not known by. */
#ifndef PROFTRACE_TIMER_ONLY_H
#define PROFTRACE_TIMER_ONLY_H

#include "capture/session.h"

/* Whether the probe shows where steps of the rule begin, or the wait for their data; that only where a
 * loader or an optimizer makes the steps. */
bool timer_only__needs(const struct probe_plan *plan, const struct step_rule *rule,
		       const struct planned_probe *probe);
/* Takes the others of the step group out, where the option was given and there are steps. */
int timer_only__set(struct session *s);

#endif
