/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Steps told by a variable of the target's, where no probe saw them; see capture/far.h. */
#ifndef PROFTRACE_COUNTER_BPF_H
#define PROFTRACE_COUNTER_BPF_H

#include "maps.bpf.h"
#include "user_memory.bpf.h"

/* Where the C library keeps a thread's variables of each module: glibc's tcbhead_t and dtv_t. */
#define PT_TCB_DTV 8
#define PT_DTV_BYTES 16

static __always_inline __u64 own_counter(void)
{
	const struct pt_counters *c = &ctl.layout.counters;
	__u64 vector = read_u64(thread_pointer() + PT_TCB_DTV);

	return read_u64(read_u64(vector + c->module * PT_DTV_BYTES) + c->offset);
}

static __always_inline __u64 counter_grown(int which, __u64 value)
{
	__u64 grown = value - ctl.counter[which];

	ctl.counter[which] = value;
	return grown;
}

/* A window that should have opened meanwhile opens later. */
static __always_inline void far_passed(__u64 steps)
{
	__u64 late = steps > ctl.far_left ? steps - ctl.far_left : 0;

	ctl.shifted += late;
	ctl.far_left -= steps - late;
	ctl.far_steps = 0;
	ctl.counted_steps += steps - 1;
}

/* How many steps end at this boundary: several if there were no probes meanwhile. A global function:
 * the verifier follows it once. */
__weak __noinline __u64 steps_ended(void)
{
	__u64 own, common, steps;

	if (!ctl.layout.counters.module || !ctl.layout.counters.common)
		return 1;
	own = counter_grown(0, own_counter());
	common = counter_grown(1, read_u64(ctl.layout.counters.common));
	if (!ctl.far || !ctl.counter_step[1]) {
		if (own == ctl.counter_step[0] && common == ctl.counter_step[1])
			ctl.counter_alike++;
		else
			ctl.counter_alike = 0;
		ctl.counter_step[0] = own;
		ctl.counter_step[1] = common;
		return 1;
	}
	steps = common / ctl.counter_step[1];
	if (common % ctl.counter_step[1] || own != steps * ctl.counter_step[0])
		ctl.counter_odd++;
	if (!steps)
		steps = 1;
	far_passed(steps);
	return steps;
}

#endif
