// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/timer_only.h"
#include "capture/arming/arm_groups.h"
#include "capture/steps/step_probes.h"
#include "common/counted.h"
#include "common/err.h"
#include "common/util.h"

static bool shows_wanted(const struct probe_plan *plan, const struct step_rule *rule,
			 const struct planned_probe *probe)
{
	const uint32_t wanted[] = {rule->boundary, rule->needs, PT_CLASS_DATALOADER};
	/* With a step probe, chosen by the user or by a period, only the boundary is shown. */
	const bool alone = rule->boundary == PT_CLASS_STEP_PROBE;

	return step_probe__shows(plan, probe, wanted, alone ? 1 : ARRAY_SIZE(wanted));
}

/* Begins and ends stay or go together. Otherwise open ranges would pile up. */
static bool ranges_needed(const struct probe_plan *plan, const struct step_rule *rule)
{
	for (size_t i = 0; i < plan->cnt; i++)
		if (plan->probes[i].group == GROUP_STEP &&
		    step_probe__runs(&plan->probes[i], "range_") &&
		    shows_wanted(plan, rule, &plan->probes[i]))
			return true;
	return false;
}

bool timer_only__needs(const struct probe_plan *plan, const struct step_rule *rule,
		       const struct planned_probe *probe)
{
	if (step_probe__tells_none(probe))
		return false;
	if (step_probe__runs(probe, "range_"))
		return ranges_needed(plan, rule);
	if (step_probe__is_phase(probe))
		return shows_wanted(plan, rule, probe);
	return true;
}

int timer_only__set(struct session *s)
{
	uint64_t kept = 0, gone = 0;
	int err;

	if (!s->opts->timer_only || !s->rule.boundary)
		return 0;
	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];

		if (probe->group != GROUP_STEP)
			continue;
		if (timer_only__needs(&s->plan, &s->rule, probe)) {
			kept++;
			continue;
		}
		s->pruned.rows[probe->row] = true;
		gone++;
	}
	log__debug("--timer-only: %s kept, %llu taken out",
		   counted(kept, "probe is", "probes are").s, (unsigned long long)gone);
	if (!gone)
		return 0;
	err = arm__reattach(s, GROUP_STEP);
	probes__forget_spans(&s->probes);
	return err;
}
