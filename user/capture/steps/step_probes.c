// SPDX-License-Identifier: BSD-2-Clause
#include "capture/steps/step_probes.h"
#include <string.h>

bool step_probe__runs(const struct planned_probe *probe, const char *program)
{
	return probe->program && !strncmp(probe->program, program, strlen(program));
}

/* The class of all hits of the probe. PT_CLASS_NONE: it has no class, or its names decide. */
static uint32_t class_of(const struct planned_probe *p)
{
	if (step_probe__runs(p, "forward_switch"))
		return PT_CLASS_FORWARD;
	return step_probe__runs(p, "phase_entry") ? p->cfg.code : PT_CLASS_NONE;
}

static bool has_probe_of(const struct probe_plan *plan, uint32_t name_class)
{
	for (size_t i = 0; i < plan->cnt; i++)
		if (plan->probes[i].group <= GROUP_PHASE &&
		    class_of(&plan->probes[i]) == name_class)
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

/* A probe with names shows a class in two cases. Some names are of the class and no other probe
 * shows it, or the class is that of names that match no rule (cfg.code). */
static bool names_show(const struct probe_plan *plan, const struct planned_probe *probe,
		       uint32_t name_class)
{
	return name_class && (probe->cfg.code == name_class ||
			      (has_name_of(plan, name_class) && !has_probe_of(plan, name_class)));
}

bool step_probe__tells_none(const struct planned_probe *probe)
{
	return step_probe__runs(probe, "async_") || step_probe__runs(probe, "phase_ahead");
}

bool step_probe__is_phase(const struct planned_probe *probe)
{
	return class_of(probe) || step_probe__runs(probe, "named_phase_entry");
}

bool step_probe__shows(const struct probe_plan *plan, const struct planned_probe *probe,
		       const uint32_t *classes, size_t cnt)
{
	const uint32_t own = class_of(probe);

	for (size_t i = 0; i < cnt; i++)
		if (own ? own == classes[i] : names_show(plan, probe, classes[i]))
			return true;
	return false;
}
