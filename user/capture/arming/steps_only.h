/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Residency steps_only: between windows that are far apart, steps are counted by as few probes as
 * possible. These are the probes of the classes that make a step, and of ranges only their begins.
 * An optimizer may show as operators, one for each parameter. Then the end of a backward pass
 * stands for the operators after it, once each of some steps in a row had one pass.
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
	uint64_t since; /* step_seq when the programs began to count so */
	uint32_t odd;	/* passes_odd when they ended */
	bool refuted;	/* backward passes do not tell of steps */
};

/* The group of a probe of GROUP_STEP: by whether steps of the rule can be counted without it. */
enum probe_group steps_only__group(const struct probe_plan *plan, const struct step_rule *rule,
			     const struct planned_probe *probe);
/* Puts each probe into its group, if windows may be far away. Call once steps are known. */
int steps_only__set_groups(struct session *s);

/* The programs count by begins. The probes of ends are taken out a step later: a range that began
 * before still counts by its end. */
void steps_only__begin(struct session *s);
void steps_only__go_on(struct session *s);
/* Backward passes stand for the updates behind them, which need no probes any more. */
bool steps_only__passes_suffice(const struct session *s);
/* While the probes are there: whether what was counted by backward passes can be true. */
void steps_only__poll(struct session *s);
/* Warns that steps were not as they were counted. */
void steps_only__doubt(struct session *s, const char *why);
/* Puts what a recording says of it where its step rule is explained, if there is something. */
void steps_only__describe(struct session *s);
/* The probes are there again; ranges that began meanwhile are not known. */
void steps_only__end(struct session *s);

#endif
