// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/steps_only.h"
#include "bpf/skeleton.h"
#include "capture/arming/arm_groups.h"
#include "capture/arming/until_window.h"
#include "capture/steps/epoch_end.h"
#include "capture/steps/step_probes.h"
#include "capture/session.h"
#include "common/counted.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/util.h"

enum {
	ALIKE = 64, /* steps in a row that must have had one backward pass each */
};

static bool is_range(const struct planned_probe *probe)
{
	return step_probe__runs(probe, "range_");
}

static bool is_range_end(const struct planned_probe *probe)
{
	return step_probe__runs(probe, "range_exit") || step_probe__runs(probe, "range_stop");
}

/* Does the rule need the probe to count steps? */
static bool needs(const struct probe_plan *plan, const struct step_rule *rule,
		  const struct planned_probe *probe)
{
	const uint32_t wanted[] = {rule->boundary, rule->needs};

	if (step_probe__tells_none(probe) || is_range_end(probe))
		return false;
	if (is_range(probe) || step_probe__is_phase(probe))
		return step_probe__shows(plan, probe, wanted, ARRAY_SIZE(wanted));
	return true;
}

/* Do the optimizer's operators, one for each parameter, make the steps? */
static bool told_by_updates(const struct step_rule *rule)
{
	return rule->boundary == PT_CLASS_OPTIMIZER_OP || rule->needs == PT_CLASS_OPTIMIZER_OP;
}

enum probe_group steps_only__group(const struct probe_plan *plan, const struct step_rule *rule,
				   const struct planned_probe *probe)
{
	const uint32_t update[] = {PT_CLASS_OPTIMIZER_OP}, pass[] = {PT_CLASS_BACKWARD};

	if (told_by_updates(rule) && step_probe__is_phase(probe)) {
		if (step_probe__shows(plan, probe, update, 1))
			return GROUP_UPDATE;
		if (step_probe__shows(plan, probe, pass, 1))
			return GROUP_STEP;
	}
	return needs(plan, rule, probe) ? GROUP_STEP : GROUP_PHASE;
}

static bool may_count_probeless(const struct session *s)
{
	const struct pt_schedule *p = &s->opts->schedule;
	uint64_t near = arm__lead_ns(s) / (s->step_length.ns ? s->step_length.ns : 1);

	return s->opts->paused || s->opts->start_at_ns ||
	       (s->opts->has_schedule && p->skip_first + p->closed > 2 * near);
}

int steps_only__set_groups(struct session *s)
{
	uint64_t cnt = 0;
	int err = 0;

	/* Some rules need ends: an end inside another end's range is no step, and a loader next
	 * that finds no batch is no step. Begins do not show that. */
	if (s->opts->timer_only || !s->rule.boundary || !may_count_probeless(s) ||
	    (s->rule.at_end && s->probes.ctl->nests) || epoch_end__matters(&s->plan, &s->rule))
		return 0;
	for (size_t i = 0; i < s->plan.cnt; i++) {
		struct planned_probe *probe = &s->plan.probes[i];

		if (probe->group != GROUP_STEP)
			continue;
		probe->group = steps_only__group(&s->plan, &s->rule, probe);
		cnt += probe->group != GROUP_STEP;
	}
	if (!cnt)
		return 0;
	log__debug("between windows %s taken out", counted(cnt, "probe is", "probes are").s);
	for (int g = GROUP_STEP; g <= GROUP_PHASE && !err; g++)
		err = arm__reattach(s, g);
	probes__forget_spans(&s->probes);
	return err;
}

void steps_only__doubt(struct session *s, const char *why)
{
	session__progress_end(s);
	log__warn(MESSAGE_STEP_NUMBER_UNCERTAIN, why, (unsigned long long)s->probes.ctl->step);
}

void steps_only__poll(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;

	/* The step in which the probes came back may have been seen only in part. */
	if (!ctl->pass_is_update || ctl->steps_only || ctl->passes_odd <= s->steps_only.odd + 1)
		return;
	ctl->pass_is_update = 0;
	s->steps_only.refuted = true;
	steps_only__doubt(
		s, "not all steps have one backward pass, by which they were counted far from "
		   "the window");
}

void steps_only__begin(struct session *s)
{
	steps_only__poll(s);
	if (!s->probes.attached[GROUP_PHASE] && !s->probes.attached[GROUP_UPDATE])
		return;
	s->probes.ctl->steps_only = 1;
	s->steps_only.since = s->probes.ctl->step_seq;
}

/* If each of ALIKE steps since the begin had one backward pass, each pass was followed by an
 * update. */
static void learn_passes(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;

	if (ctl->pass_is_update || s->steps_only.refuted || s->opts->count_each ||
	    ctl->passes_alike < ALIKE || ctl->step_seq < s->steps_only.since + ALIKE)
		return;
	ctl->pass_is_update = 1;
	s->steps_only.since = ctl->step_seq;
	log__debug("from step %llu on backward passes tell of steps",
		   (unsigned long long)ctl->step);
}

/* Spans that began with more probes have ended. */
static bool earlier_spans_ended(const struct session *s)
{
	return s->probes.ctl->step_seq > s->steps_only.since + 1;
}

void steps_only__go_on(struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;

	if (!ctl->steps_only)
		return;
	if (s->probes.attached[GROUP_UPDATE])
		learn_passes(s);
	if (s->probes.attached[GROUP_PHASE] && earlier_spans_ended(s))
		arm__detach(s, GROUP_PHASE);
}

bool steps_only__passes_suffice(const struct session *s)
{
	return s->probes.ctl->steps_only && s->probes.ctl->pass_is_update && earlier_spans_ended(s);
}

void steps_only__end(struct session *s)
{
	if (!s->probes.ctl->steps_only)
		return;
	arm__forget_ranges(s);
	s->probes.ctl->steps_only = 0;
	s->steps_only.odd = s->probes.ctl->passes_odd;
}

void steps_only__describe(struct session *s)
{
	if (s->steps_only.refuted)
		snprintf(
			s->facts.counted, sizeof(s->facts.counted),
			"; far from windows each backward pass was taken for a step's, and not all "
			"steps have one: step numbers may be wrong");
	else if (s->probes.ctl->pass_is_update)
		snprintf(
			s->facts.counted, sizeof(s->facts.counted),
			"; far from windows each backward pass is taken for a step's, as there was "
			"one in each of %d",
			ALIKE);
}
