// SPDX-License-Identifier: BSD-2-Clause
/* Sums by call stack: the time of a backward call that waits for another thread. */
#include <criterion/criterion.h>
#include <string.h>
#include "exporters/parts/stacks.h"
#include "model_synth.h"

/* Self time of all stacks that end in this name. */
static uint64_t self_of(struct synth *s, const char *name)
{
	uint64_t ns = 0;
	struct stacks stacks;

	cr_assert_eq(stacks__collect(s->r, true, false, &stacks), 0);
	for (uint32_t i = 1; i < stacks.cnt; i++)
		if (!stacks__track(&stacks, stacks.nodes[i].frame) &&
		    !strcmp(stacks__text(&stacks, stacks.nodes[i].frame), name))
			ns += stacks.nodes[i].self_ns;
	stacks__free(&stacks);
	return ns;
}

static void node(struct synth *s, uint32_t track, uint64_t begin, uint64_t end)
{
	synth__span(s, track, CAT_BACKWARD_NODE, "MulBackward0", begin, end);
}

Test(stacks, a_backward_call_that_waits_for_another_thread_counts_once)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	uint32_t third = synth__thread(&s, 100, 102, "third");
	uint32_t elsewhere = synth__thread(&s, 200, 201, "elsewhere");

	node(&s, s.main, 110, 120); /* on the call's own thread */
	node(&s, s.other, 90, 105);
	node(&s, s.other, 130, 150);
	node(&s, third, 140, 160); /* at the same time as another node */
	node(&s, s.other, 190, 220);
	node(&s, elsewhere, 160, 190);					/* another process */
	synth__span(&s, s.other, CAT_OPERATOR, "pin_memory", 170, 180); /* no node */
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 100, 200);
	synth__step(&s, 0, 0, 300);
	synth__open(&s, "{}");
	/* 100 without its own 10, and without [100,105), [130,160) and [190,200) of other
	 * threads. */
	cr_expect_eq(self_of(&s, "backward"), 100 - 10 - 5 - 30 - 10);
	cr_expect_eq(self_of(&s, "MulBackward0"), 10 + 15 + 20 + 20 + 30 + 30);
	synth__free(&s);
}

Test(stacks, a_backward_call_that_runs_its_nodes_itself_keeps_its_time)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");

	node(&s, s.main, 110, 120);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 100, 200);
	synth__span(&s, s.other, CAT_OPERATOR, "pin_memory", 170, 180);
	synth__step(&s, 0, 0, 300);
	synth__open(&s, "{}");
	cr_expect_eq(self_of(&s, "backward"), 90);
	synth__free(&s);
}
