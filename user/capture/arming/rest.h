/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between windows that are far apart steps are counted by as few probes as can be: those of the
 * classes that make a step, and of ranges their begins alone. Where operators of the optimizer make
 * them, one for each parameter, a backward pass that ends stands for those behind it, once there was
 * one in each of some steps in a row.
 */
#ifndef PROFTRACE_REST_H
#define PROFTRACE_REST_H

#include "capture/session.h"

/* The group of a probe of GROUP_STEP: by whether steps of the rule can be counted without it. */
enum probe_group rest__group(const struct probe_plan *plan, const struct step_rule *rule,
			     const struct planned_probe *probe);
/* Puts each into its group, where windows may be far: once steps are known. */
int rest__settle(struct session *s);

/* The programs count by begins. The ends' probes follow a step later: of a range that has begun
 * before, the end tells. */
void rest__begin(struct session *s);
void rest__go_on(struct session *s);
/* Probes of ranges are back: of those that began before, the end is not known. */
void rest__forget_ranges(struct session *s);
/* While the probes are there: whether what was counted by backward passes can be true. */
void rest__check(struct session *s);
/* Warns that steps were not as they were counted. */
void rest__doubt(struct session *s, const char *why);
/* Puts what a recording says of it where its step rule is explained, if there is something. */
void rest__tell(struct session *s);
/* The probes are there again; ranges that began meanwhile are not known. */
void rest__end(struct session *s);

#endif
