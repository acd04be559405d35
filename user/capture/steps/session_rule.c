// SPDX-License-Identifier: BSD-2-Clause
#include "capture/steps/session_rule.h"
#include "capture/steps/epoch_end.h"
#include "capture/user_probes/user_usdt.h"
#include "common/err.h"
#include "common/util.h"

#define MS 1000000ull

/* A period is shorter than a second, since one second of calls shows it. */
#define PERIOD_PATIENCE_NS (5000 * MS)

bool session_rule__is_period(const struct session *s)
{
	return s->rule.boundary == PT_CLASS_STEP_PROBE && !s->opts->step_probe;
}

void session_rule__apply(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;

	/* With these boundaries a step's loader next comes before the boundary. */
	ctl->loader_next_ahead = s->rule.boundary == PT_CLASS_FORWARD || session_rule__is_period(s);
	ctl->loader_next_opened = 0;
	ctl->step_row = s->rule.row;
	ctl->boundary_needs = s->rule.needs;
	ctl->boundary_at_end = s->rule.at_end;
	ctl->loader_next_alone = epoch_end__matters(&s->plan, &s->rule);
	ctl->boundary_class = s->rule.boundary;
}

void session__step_by_iterations(struct session *s)
{
	if (s->opts->no_steps || s->opts->timer_only || !user_usdt__has_iterations(&s->plan))
		return;
	s->rule = step_rule__iterations();
	session_rule__apply(s);
}

bool session__period_is_traced(const struct session *s)
{
	return session_rule__is_period(s) && s->probes.ctl->traced != s->learning.traced;
}

bool session__period_is_doubtful(const struct session *s)
{
	for (int c = 1; c < PT_CLASS_CNT && session_rule__is_period(s); c++)
		if (c != PT_CLASS_STEP_PROBE && s->probes.ctl->class_seen[c])
			return true;
	return false;
}

/* Operators that an import calls have a period, too, if the import takes longer than we wait. So a
 * period is only a guess until its steps were measured. Another sign of steps, or missing steps,
 * refute the guess. */
static bool period_refuted(const struct session *s, uint64_t waiting_since_ns)
{
	const uint64_t patience_ns = s->opts->step_unit == STEP_UNIT_REQUEST
					     ? s->opts->step_timeout_ns
					     : PERIOD_PATIENCE_NS;

	return session_rule__is_period(s) &&
	       (session__period_is_doubtful(s) || session__period_is_traced(s) ||
		clock__monotonic_ns() - waiting_since_ns > patience_ns);
}

/* A rule may hold for the first steps only. Example: a rule without an optimizer, since the job
 * accumulates gradients over some steps before the first update. */
bool session_rule__is_refuted(const struct session *s, uint64_t waiting_since_ns)
{
	return step_rule__is_refuted(&s->rule, s->probes.ctl->class_seen) ||
	       period_refuted(s, waiting_since_ns);
}

void session_rule__forget(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;

	log__debug("%s: no longer seen, or not the job's steps", s->rule.source);
	while (s->plan.name_rule_cnt &&
	       ctl->name_rules[s->plan.name_rule_cnt - 1].name_class == PT_CLASS_STEP_PROBE)
		ctl->name_rules[--s->plan.name_rule_cnt] = (struct pt_name_rule){0};
	s->rule = (struct step_rule){0};
	session_rule__apply(s);
	ctl->class_seen[PT_CLASS_STEP_PROBE] = 0;
	ctl->step_tid = 0;
	ctl->measure_from = ctl->measure_to = 0;
	probes__forget_stats(&s->probes);
}
