// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/*
 * An optimizer's step that is a function written in Python. Each call takes a reference to the
 * function's code object and gives it back, however it ends: a data breakpoint on their count tells
 * of both, and the count which it is. The kernel skips the program while a system call on BPF's
 * maps is under way on the same processor; a count that was written and is what it was before tells
 * that.
 *
 * CPython 3.10 to 3.13.
 */
#include "args.bpf.h"
#include "optimizer_step.bpf.h"

static __always_inline __u32 count_references(void)
{
	__u32 refs = 0;

	bpf_probe_read_user(&refs, sizeof(refs), (void *)ctl.optimizer_step.refs_at);
	return refs;
}

/* Other threads may look at the code. */
static __always_inline bool calls_it(void)
{
	__u32 tid = ctl.optimizer_step.tid ? ctl.optimizer_step.tid : ctl.step_tid;

	return !tid || tid == current_tid();
}

/* Its begin counts for its end as well, which may not be seen. */
static __always_inline void tell_step(struct pt_thread *t, __u32 name_class, __u64 now)
{
	ctl.optimizer_step.passes = 0;
	step_event(t, name_class, 0, now);
	step_event(t, name_class, 1, now);
}

SEC("perf_event")
int optimizer_step(struct pt_regs *ctx)
{
	__u32 row = ctl.optimizer_step.row, refs = count_references(), before, i;
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	__u64 now = bpf_ktime_get_ns();
	struct pt_thread *t = cfg && calls_it() ? thread_get() : NULL;
	struct pt_frame *f;

	before = ctl.optimizer_step.refs;
	ctl.optimizer_step.refs = refs;
	if (!t || !before)
		return 0;
	i = region_find(t, REGION_OPTIMIZER_STEP);
	f = frame_at(t, i);
	if (f && refs < f->object) {
		frames_close_to(t, i, now, PT_END_OBJECT);
		return 0;
	}
	if (refs < before || (f && refs > f->object)) /* something looks at the code */
		return 0;
	stat_hit(row);
	tell_step(t, cfg->code, now);
	if (!f && refs == before) /* the begin of this was skipped: it is over */
		return 0;
	optimizer_step_lost(t, now);
	f = region_begin(t, REGION_OPTIMIZER_STEP, PT_CLASS_NONE, row);
	if (f)
		f->object = refs;
	return 0;
}
