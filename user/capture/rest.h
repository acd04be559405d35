/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between windows that are far apart steps are counted by as few probes as can be: those of the
 * classes that make a step, and of ranges their begins alone.
 */
#ifndef PROFTRACE_REST_H
#define PROFTRACE_REST_H

#include "capture/session.h"

/* Can steps of the rule not be counted without the probe? */
bool rest__needs(const struct probe_plan *plan, const struct step_rule *rule,
		 const struct planned_probe *probe);
/* Puts the others into a group of their own, where windows may be far: once steps are known. */
int rest__settle(struct session *s);

/* The programs count by begins. The ends' probes follow a step later: of a range that has begun
 * before, the end tells. */
void rest__begin(struct session *s);
void rest__go_on(struct session *s);
/* Probes of ranges are back: of those that began before, the end is not known. */
void rest__forget_ranges(struct session *s);
/* The probes are there again; ranges that began meanwhile are not known. */
void rest__end(struct session *s);

#endif
