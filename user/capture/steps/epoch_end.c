// SPDX-License-Identifier: BSD-2-Clause
#include "capture/steps/epoch_end.h"
#include "target/python/python_layout.h"

void epoch_end__plan(struct target *t, struct probe_plan *plan)
{
	struct python_layout layout;

	if (!plan->layout.python_thread.threads_at && !python_layout__of(t, &layout))
		plan->layout.python_thread = layout.thread;
}

bool epoch_end__matters(const struct probe_plan *plan, const struct step_rule *rule)
{
	return plan->layout.python_thread.stop_iteration && rule->boundary == PT_CLASS_DATALOADER &&
	       !rule->needs && !rule->at_end;
}
