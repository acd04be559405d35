/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Steps counted by variables of the target while no probe saw them; see
 * capture/arming/probeless.h. */
#ifndef PROFTRACE_COUNTER_BPF_H
#define PROFTRACE_COUNTER_BPF_H

#include "maps.bpf.h"
#include "user_memory.bpf.h"

/* Where the C library keeps a thread's variables of each module: tcbhead_t and dtv_t of glibc. */
#define PT_TCB_DTV 8
#define PT_DTV_BYTES 16

static __always_inline bool read_counters(__u64 value[2])
{
	const struct pt_counters *c = &ctl.layout.counters;
	__u64 vector = read_u64(thread_pointer() + PT_TCB_DTV);
	__u64 own = read_u64(vector + c->module * PT_DTV_BYTES) + c->offset;

	return !bpf_probe_read_user(&value[0], sizeof(value[0]), (void *)own) &&
	       !bpf_probe_read_user(&value[1], sizeof(value[1]), (void *)c->common);
}

/* A window that should have opened during these steps opens later. */
static __always_inline void probeless_passed(__u64 steps)
{
	__u64 late = steps > ctl.steps_left_probeless ? steps - ctl.steps_left_probeless : 0;

	if (!ctl.hold)
		ctl.shifted += late;
	ctl.probeless_steps = 0;
	ctl.counted_steps += steps - 1;
}

/* The variables could not be read, so steps are assumed to be as before. */
static __always_inline __u64 step_unread(void)
{
	ctl.counter[0] += ctl.counter_step[0];
	ctl.counter[1] += ctl.counter_step[1];
	ctl.counter_alike = 0;
	ctl.counter_odd += ctl.probeless;
	return 1;
}

/* How many steps end at this boundary. There are several if no probes were attached meanwhile. A
 * global function: the verifier follows it once. */
__weak __noinline __u64 steps_ended(void)
{
	__u64 value[2], own, common, steps;

	if (!ctl.layout.counters.module || !ctl.layout.counters.common)
		return 1;
	if (!read_counters(value) || value[1] < ctl.counter[1])
		return step_unread();
	own = value[0] - ctl.counter[0];
	common = value[1] - ctl.counter[1];
	ctl.counter[0] = value[0];
	ctl.counter[1] = value[1];
	if (!ctl.probeless || !ctl.counter_step[1]) {
		if (own == ctl.counter_step[0] && common == ctl.counter_step[1])
			ctl.counter_alike++;
		else
			ctl.counter_alike = 0;
		ctl.counter_step[0] = own;
		ctl.counter_step[1] = common;
		return 1;
	}
	ctl.probeless = 0;
	steps = common / ctl.counter_step[1];
	if (common % ctl.counter_step[1] || own != steps * ctl.counter_step[0])
		ctl.counter_odd++;
	if (!steps)
		steps = 1;
	probeless_passed(steps);
	return steps;
}

#endif
