// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/node_types.h"

bool node_types__replaces(const struct session *s, const struct planned_probe *probe)
{
	return probe->group == GROUP_OPERATOR && probe->category == CAT_BACKWARD_NODE &&
	       !probe->name && probe_plan__has_group(&s->plan, GROUP_NODE_TYPE);
}

void node_types__show(struct session *s, bool shown)
{
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (s->plan.probes[i].group == GROUP_NODE_TYPE)
			s->pruned.rows[s->plan.probes[i].row] = !shown;
}

static bool some_left_out(const struct session *s)
{
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (s->plan.probes[i].group == GROUP_NODE_TYPE &&
		    s->pruned.rows[s->plan.probes[i].row])
			return true;
	return false;
}

bool node_types__set(struct session *s, bool changed[GROUP_CNT])
{
	if (!probe_plan__has_group(&s->plan, GROUP_NODE_TYPE))
		return false;
	changed[GROUP_NODE_TYPE] = true;
	if (!some_left_out(s)) {
		node_types__show(s, false);
		return false;
	}
	changed[GROUP_OPERATOR] = true;
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (node_types__replaces(s, &s->plan.probes[i]))
			s->pruned.rows[s->plan.probes[i].row] = true;
	return true;
}
