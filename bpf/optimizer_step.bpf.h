/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Facts about an optimizer's step from probes of phases; see optimizer_step.bpf.c. */
#ifndef PROFTRACE_OPTIMIZER_STEP_BPF_H
#define PROFTRACE_OPTIMIZER_STEP_BPF_H

#include "regions.bpf.h"
#include "stack.bpf.h"

/* A global function: the verifier follows it once. Uses the thread's scratch. */
__weak __noinline int optimizer_step_stack(struct pt_thread *t)
{
	struct stack_scratch *s;

	if (!t)
		return 0;
	s = (void *)t->scratch;
	if (stack_walk(t, s, true))
		stack_output(&s->r, 0, 0);
	return 0;
}

/* An operator of an optimizer begins. */
static __always_inline void optimizer_step_holds(struct pt_thread *t)
{
	if (ctl.optimizer_stack) {
		ctl.optimizer_stack = 0;
		optimizer_step_stack(t);
	}
	if (measuring() && region_find(t, REGION_OPTIMIZER_STEP) >= PT_MAX_OPEN_SPANS)
		__sync_fetch_and_add(&ctl.optimizer_outside, 1);
}

/* Another phase or call begins, so the end of this step was missed. Something may keep its frame,
 * such as an exception, and with it a reference to the code. How long the step took is unknown. */
static __always_inline void optimizer_step_lost(struct pt_thread *t, __u64 now)
{
	__u32 i = region_find(t, REGION_OPTIMIZER_STEP);

	if (i >= PT_MAX_OPEN_SPANS)
		return;
	spans_close_above(t, i, now);
	t->open_cnt = i;
	if (ctl.window_open)
		__sync_fetch_and_add(&ctl.optimizer_endless, 1);
}

#endif
