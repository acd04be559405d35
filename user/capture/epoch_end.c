// SPDX-License-Identifier: BSD-2-Clause
#include "capture/epoch_end.h"
#include "common/err.h"
#include "target/python_code.h"
#include <errno.h>

int epoch_end__plan(struct target *t, struct probe_plan *plan)
{
	struct pt_python_stacks frames;
	struct python_code *code = NULL;
	int err = 0;

	if (!plan->layout.python_thread.threads_at)
		err = python_code__open(t, &code, &plan->layout.python_thread, &frames);
	python_code__free(code);
	return err == -ENOMEM ? err : 0;
}

bool epoch_end__matters(const struct probe_plan *plan, const struct step_rule *rule)
{
	return plan->layout.python_thread.stop_iteration && rule->boundary == PT_CLASS_DATALOADER &&
	       !rule->needs && !rule->at_end;
}
