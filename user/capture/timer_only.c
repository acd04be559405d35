// SPDX-License-Identifier: BSD-2-Clause
#include "capture/timer_only.h"
#include "capture/arm.h"
#include "common/counted.h"
#include "common/err.h"
#include <string.h>

static bool runs(const struct planned_probe *p, const char *program)
{
	return p->program && !strncmp(p->program, program, strlen(program));
}

/* The class that the probe's every hit is of; PT_CLASS_NONE: its names tell. */
static uint32_t class_of(const struct planned_probe *p)
{
	if (runs(p, "forward_switch"))
		return PT_CLASS_FORWARD;
	return runs(p, "phase_entry") || runs(p, "named_phase_entry") ? p->cfg.code : PT_CLASS_NONE;
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

/* Ranges tell of a class by their names, where no probe of its own does. */
static bool ranges_tell(const struct probe_plan *plan, uint32_t name_class)
{
	return name_class && has_name_of(plan, name_class) && !has_probe_of(plan, name_class);
}

bool timer_only__needs(const struct probe_plan *plan, const struct step_rule *rule,
		       const struct planned_probe *probe)
{
	const uint32_t name_class = class_of(probe);

	if (name_class)
		return name_class == rule->boundary || name_class == rule->needs ||
		       name_class == PT_CLASS_DATALOADER;
	if (runs(probe, "async_"))
		return false;
	if (runs(probe, "range_"))
		return ranges_tell(plan, rule->boundary) || ranges_tell(plan, rule->needs) ||
		       ranges_tell(plan, PT_CLASS_DATALOADER);
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
