// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/arm_groups.h"
#include "bpf/skeleton.h"
#include "capture/arming/probe_kind.h"
#include "common/err.h"
#include "common/util.h"
#include <sys/resource.h>

/* The kernel changes the target's text under the target's mmap lock. If a busy machine preempts us
 * there, the target waits. A higher priority avoids that. Without privilege the priority stays as
 * it was. */
void arm__hurry(bool on)
{
	static int usual;

	if (on)
		usual = getpriority(PRIO_PROCESS, 0);
	setpriority(PRIO_PROCESS, 0, on ? -20 : usual);
}

/* Calls that ended during the attach were not seen to end. */
static void forget_calls(struct session *s)
{
	s->probes.ctl->changed_ns = clock__monotonic_ns();
	decoder__forget_calls(s->records.decoder, s->probes.ctl->changed_ns);
}

int arm__attach_groups(struct session *s, const bool chosen[GROUP_CNT])
{
	uint64_t begin = clock__monotonic_ns(), took;
	int err = 0;

	arm__hurry(true);
	for (int g = 0; g < GROUP_CNT && !err; g++)
		if (chosen[g])
			err = probe_kind__of(g)->attach(s, g);
	arm__hurry(false);
	forget_calls(s);
	took = clock__monotonic_ns() - begin;
	if (took > s->attaching.longest_ns)
		s->attaching.longest_ns = took;
	log__debug("attached in %.1f ms", (double)took / 1e6);
	if (!err && !s->sched && !s->opts->timer_only)
		err = sched_source__start(s->probes.skel, &s->sched);
	return err;
}

int arm__attach_alone(struct session *s, enum probe_group group)
{
	int err;

	arm__hurry(true);
	err = probes__attach(&s->probes, group, s->target->pid);
	arm__hurry(false);
	forget_calls(s);
	return err;
}

int arm__reattach(struct session *s, enum probe_group group)
{
	int err;

	arm__hurry(true);
	err = probe_kind__of(group)->attach(s, group);
	arm__hurry(false);
	forget_calls(s);
	return err;
}

void arm__detach(struct session *s, enum probe_group group)
{
	arm__hurry(true);
	probe_kind__of(group)->detach(s, group);
	arm__hurry(false);
}

void arm__forget_ranges(struct session *s)
{
	s->probes.ctl->rearmed_ns = clock__monotonic_ns();
	decoder__forget_ranges(s->records.decoder, s->probes.ctl->rearmed_ns);
}

int arm__reattach_steps(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;
	int err;

	/* What was seen of the step in which the probes were detached belongs to that step. */
	ctl->need_seen = ctl->epoch_ended = 0;
	err = arm__reattach(s, GROUP_STEP);
	arm__forget_ranges(s);
	return err;
}
