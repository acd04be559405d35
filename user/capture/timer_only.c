// SPDX-License-Identifier: BSD-2-Clause
#include "capture/timer_only.h"
#include "capture/arm.h"
#include "common/counted.h"
#include "common/err.h"
#include "common/util.h"
#include <string.h>

static bool runs(const struct planned_probe *p, const char *program)
{
	return p->program && !strncmp(p->program, program, strlen(program));
}

/* The class that the probe's every hit is of; PT_CLASS_NONE: it has none, or its names tell. */
static uint32_t class_of(const struct planned_probe *p)
{
	if (runs(p, "forward_switch"))
		return PT_CLASS_FORWARD;
	return runs(p, "phase_entry") ? p->cfg.code : PT_CLASS_NONE;
}

static bool has_probe_of(const struct probe_plan *plan, uint32_t name_class)
{
	for (size_t i = 0; i < plan->cnt; i++)
		if (plan->probes[i].group == GROUP_STEP && class_of(&plan->probes[i]) == name_class)
			return true;
	return false;
}

static bool has_name_of(const struct probe_plan *plan, uint32_t name_class)
{
	for (size_t i = 0; i < plan->name_rule_cnt; i++)
		if (plan->name_rules[i].name_class == name_class)
			return true;
	return false;
}

/* A probe with names shows the class by some of them where no probe of its own does, or by those
 * that no rule knows (cfg.code). */
static bool names_show(const struct probe_plan *plan, const struct planned_probe *probe,
		       uint32_t name_class)
{
	return name_class && (probe->cfg.code == name_class ||
			      (has_name_of(plan, name_class) && !has_probe_of(plan, name_class)));
}

static bool shows_wanted(const struct probe_plan *plan, const struct step_rule *rule,
			 const struct planned_probe *probe)
{
	const uint32_t wanted[] = {rule->boundary, rule->needs, PT_CLASS_DATALOADER};
	const uint32_t own = class_of(probe);

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		if (own ? own == wanted[i] : names_show(plan, probe, wanted[i]))
			return true;
	return false;
}

/* Begins and ends go together, or open ranges pile up. */
static bool ranges_needed(const struct probe_plan *plan, const struct step_rule *rule)
{
	for (size_t i = 0; i < plan->cnt; i++)
		if (plan->probes[i].group == GROUP_STEP && runs(&plan->probes[i], "range_") &&
		    shows_wanted(plan, rule, &plan->probes[i]))
			return true;
	return false;
}

bool timer_only__needs(const struct probe_plan *plan, const struct step_rule *rule,
		       const struct planned_probe *probe)
{
	if (runs(probe, "async_"))
		return false;
	if (runs(probe, "range_"))
		return ranges_needed(plan, rule);
	if (class_of(probe) || runs(probe, "named_phase_entry"))
		return shows_wanted(plan, rule, probe);
	return true;
}

int timer_only__settle(struct session *s)
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
		s->dropped[probe->row] = true;
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
