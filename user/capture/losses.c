// SPDX-License-Identifier: BSD-2-Clause
/* Counts losses between the target and the recording, and stacks that were not read. */
#include "bpf/skeleton.h"
#include "capture/decode/python_stacks.h"
#include "capture/session.h"

struct losses session__losses(const struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;

	return (struct losses){
		.ring = ctl->lost_ring - s->boundary.recovered_cnt,
		.depth = ctl->lost_depth,
		.storage = ctl->lost_storage + ctl->lost_targets,
		.decode = decoder__malformed(s->records.decoder),
		.ends = ctl->lost_ends,
		.sched = s->probes.skel ? sched_source__lost(s->probes.skel) : 0,
	};
}

static struct stack_counts count_stacks(const struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;

	return (struct stack_counts){
		.read = ctl->stack_cnt,
		.ns = ctl->stack_ns,
		.cut = ctl->stacks_cut,
		.unread = ctl->stacks_unread,
		.full = ctl->stacks_full,
		.unknown_functions =
			s->records.stacks ? python_stacks__unread(s->records.stacks) : 0,
	};
}

/* Without --with-stack, or without readable stacks, the summary has no "stacks". */
static void describe_stacks(struct session *s, json_t *summary)
{
	const struct stack_counts now = count_stacks(s), before = s->before.stacks;

	s->before.stacks = now;
	if (!s->records.stacks)
		return;
	json_object_set_new(
		summary, "stacks",
		json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "read",
			  (json_int_t)(now.read - before.read), "ns",
			  (json_int_t)(now.ns - before.ns), "cut",
			  (json_int_t)(now.cut - before.cut), "unread",
			  (json_int_t)(now.unread - before.unread), "full",
			  (json_int_t)(now.full - before.full), "unknown_functions",
			  (json_int_t)(now.unknown_functions - before.unknown_functions)));
}

static void describe_losses(struct session *s, json_t *summary)
{
	const struct losses now = session__losses(s), before = s->before.lost;

	s->before.lost = now;
	json_object_set_new(summary, "loss",
			    json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:b}", "ring",
				      (json_int_t)(now.ring - before.ring), "depth",
				      (json_int_t)(now.depth - before.depth), "storage",
				      (json_int_t)(now.storage - before.storage), "decode",
				      (json_int_t)(now.decode - before.decode), "unended",
				      (json_int_t)(now.ends - before.ends), "scheduler",
				      (json_int_t)(now.sched - before.sched), "target_gone",
				      (int)s->target_gone, "target_execed", (int)s->target_execed));
}

const struct component component_stacks = {
	.name = "stacks of Python",
	.describe = describe_stacks,
};

const struct component component_losses = {
	.name = "losses",
	.describe = describe_losses,
};
