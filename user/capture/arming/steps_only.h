/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Residency steps_only: between windows that are far apart, as few probes as possible count the steps. These are the
 * probes of the classes that make a step; of ranges only the begins. An optimizer may show only as operators, one for
 * each parameter. Then the end of a backward pass stands for these operators, once some steps in a row had one pass
 * each.
 */
#ifndef PROFTRACE_STEPS_ONLY_H
#define PROFTRACE_STEPS_ONLY_H

#include <stdbool.h>
#include <stdint.h>
#include "bpf/ctl.h"
#include "capture/steps/steps.h"
#include "frameworks/framework.h"

struct session;

struct steps_only {
	uint64_t since; /* step_seq when this way of counting began */
	uint32_t odd;	/* passes_odd when it ended */
	bool refuted;	/* backward passes do not show steps */
};

/* The group for a probe of GROUP_STEP. GROUP_STEP: steps cannot be counted without it. GROUP_UPDATE: backward passes
 * may stand for it. GROUP_PHASE: all others. */
enum probe_group steps_only__group(const struct probe_plan *plan, const struct step_rule *rule,
			     const struct planned_probe *probe);
/* Puts each probe into its group, if windows may be far away. Call when the step rule is known. */
int steps_only__set_groups(struct session *s);

/* The programs count by begins from now on. The probes of ends are detached a step later, since a range that began
 * before counts by its end. */
void steps_only__begin(struct session *s);
void steps_only__go_on(struct session *s);
/* Do backward passes stand for the updates after them, so that updates need no probes? */
bool steps_only__passes_suffice(const struct session *s);
/* With probes attached: decides whether the count by backward passes can be true. */
void steps_only__poll(struct session *s);
/* Warns that the step numbers may be wrong. */
void steps_only__doubt(struct session *s, const char *why);
/* Writes the sentence for the recording's explanation of the step rule, if there is one. */
void steps_only__describe(struct session *s);
/* The probes are attached again. Ranges that began meanwhile are unknown. */
void steps_only__end(struct session *s);

#endif
