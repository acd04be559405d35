// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/*
 * An optimizer's step that is a function written in Python. Each call takes a reference to the
 * function's code object and gives it back, however the call ends. So a data breakpoint on the
 * reference count sees both, and the count says which it is. The kernel skips the program while a
 * system call on BPF's maps runs on the same processor. A write that leaves the count unchanged
 * shows such a skip.
 *
 * CPython 3.10 to 3.13.
 *
 * Some steps have a function around them that calls into a library before and after. Probes there
 * see both, at a tenth of the cost, and none is skipped.
 */
#include "optimizer_step.bpf.h"

static __always_inline __u32 count_references(void)
{
	__u32 refs = 0;

	bpf_probe_read_user(&refs, sizeof(refs), (void *)ctl.optimizer_step.refs_at);
	return refs;
}

/* Other threads may also access the code object. */
static __always_inline bool calls_it(void)
{
	__u32 tid = ctl.optimizer_step.tid ? ctl.optimizer_step.tid : ctl.step_tid;

	return !tid || tid == current_tid();
}

/* Its end may not be seen, so its begin also counts as its end. */
static __always_inline void emit_step(struct pt_thread *t, __u32 name_class, __u64 now)
{
	ctl.optimizer_under_way = 0;
	ctl.optimizer_passes = 0;
	step_update();
	step_event(t, name_class, 0, now);
	step_event(t, name_class, 1, now);
}

/* The first end since the probe was attached, without a begin. No other probe may have shown the
 * call, because its operators have lost their probes. */
static __always_inline void emit_under_way(struct pt_thread *t, __u32 name_class, __u64 now)
{
	if (ctl.optimizer_under_way)
		emit_step(t, name_class, now);
}

SEC("perf_event")
int optimizer_step(struct pt_regs *ctx)
{
	__u32 row = ctl.optimizer_step.row, refs = count_references(), before, i;
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	__u64 now = bpf_ktime_get_ns();
	struct pt_thread *t = cfg && calls_it() ? thread_get() : NULL;
	struct pt_open_span *f;

	before = ctl.optimizer_refs;
	ctl.optimizer_refs = refs;
	if (!t || !before)
		return 0;
	i = region_find(t, REGION_OPTIMIZER_STEP);
	f = open_span_at(t, i);
	if (f && refs < f->object) {
		spans_close_to(t, i, now, PT_END_OBJECT);
		return 0;
	}
	if (!f && refs < before)
		emit_under_way(t, cfg->code, now);
	if (refs < before || (f && refs > f->object)) /* another thread accesses the code object */
		return 0;
	stat_hit(row);
	emit_step(t, cfg->code, now);
	if (!f && refs == before) /* the end of a step whose begin was skipped */
		return 0;
	optimizer_step_lost(t, now);
	f = region_begin(t, REGION_OPTIMIZER_STEP, PT_CLASS_NONE, row);
	if (f)
		f->object = refs;
	return 0;
}

/* The function called first in the step. Others call it, too, so the thread's running code
 * decides. */
SEC("uprobe")
int optimizer_mark(struct pt_regs *ctx)
{
	const struct pt_python_stacks *p = &ctl.layout.stacks;
	__u32 row = probe_row(ctx);
	struct pt_thread *t = calls_it() ? thread_lookup() : NULL;
	__u64 state, frame, code;
	struct pt_open_span *f;

	if (ctl.window_open)
		__sync_fetch_and_add(&ctl.enclosing_hits, 1);
	stat_hit(row);
	state = t ? python_thread(t) : 0;
	frame = state ? python_frame(state) : 0;
	code = frame ? read_u64(frame + 8 * p->code_word) & p->object_mask : 0;
	if (!t || !code || code != ctl.optimizer_step.refs_at)
		return 0;
	spans_close_dead(t, ctx->sp);
	ctl.optimizer_passes = 0;
	f = span_push(t, PT_SP_OBJECT, row, PT_KIND_STATIC);
	if (f)
		span_close_top(t, f->ts_ns, PT_END_OBJECT);
	return 0;
}

/* frames between the library's function and the step's enclosing function */
#define ENCLOSING_WALK 8
/* in bytes: CPython's instruction pointers within one call differ by at most this */
#define CALL_VARIES 4

enum enclosing { ENCLOSING_BEFORE, ENCLOSING_AFTER, ENCLOSING_MASK = 7 };

/* The frame around the optimizer's step. Its lowest bits (enum enclosing) say whether that step is
 * over. 0: the frame is not among the innermost, or it calls the step, whose inner calls do not
 * count. A global function is verified once. Uses the thread's scratch. */
__weak __noinline __u64 optimizer_step_enclosing(struct pt_thread *t)
{
	const struct pt_python_stacks *p = &ctl.layout.stacks;
	__u64 *words, state, frame, here;
	__s64 away;

	if (!t)
		return 0;
	words = ((struct stack_scratch *)t->scratch)->words;
	state = python_thread(t);
	frame = state ? python_frame(state) : 0;
	for (int n = 0; n < ENCLOSING_WALK && frame; n++) {
		here = frame;
		if (bpf_probe_read_user(words, p->frame_bytes & (PT_FRAME_WORDS * 8 - 1),
					(void *)frame))
			return 0;
		frame = words[p->previous_word & (PT_FRAME_WORDS - 1)];
		if ((words[p->function_word & (PT_FRAME_WORDS - 1)] & p->object_mask) !=
		    ctl.optimizer_step.enclosing)
			continue;
		away = (words[p->instr_word & (PT_FRAME_WORDS - 1)] & p->instr_mask) -
		       ctl.optimizer_step.enclosing_calls;
		if (away > CALL_VARIES)
			return here | ENCLOSING_AFTER;
		return away < -CALL_VARIES ? here | ENCLOSING_BEFORE : 0;
	}
	return 0;
}

/* A step that another step calls is not counted. */
static __always_inline void enclosing_begins(struct pt_thread *t, __u32 row, __u32 name_class,
					     __u64 frame, __u64 now)
{
	struct pt_open_span *f = open_span_at(t, region_find(t, REGION_OPTIMIZER_STEP));

	if (f && f->object != frame)
		return;
	emit_step(t, name_class, now);
	optimizer_step_lost(t, now);
	f = region_begin(t, REGION_OPTIMIZER_STEP, PT_CLASS_NONE, row);
	if (f)
		f->object = frame;
}

static __always_inline void enclosing_ends(struct pt_thread *t, __u32 name_class, __u64 frame,
					   __u64 now)
{
	__u32 i = region_find(t, REGION_OPTIMIZER_STEP);
	const struct pt_open_span *f = open_span_at(t, i);

	if (!f)
		emit_under_way(t, name_class, now);
	else if (f->object == frame)
		spans_close_to(t, i, now, PT_END_OBJECT);
}

/* A library function that the step's enclosing function calls before and after the step. Others
 * call it, too. */
SEC("uprobe")
int optimizer_enclosing(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	__u64 now = bpf_ktime_get_ns(), found;
	struct pt_thread *t;

	if (ctl.window_open)
		__sync_fetch_and_add(&ctl.enclosing_hits, 1);
	stat_hit(row);
	t = cfg && ctl.optimizer_step.enclosing && calls_it() ? thread_get() : NULL;
	found = t ? optimizer_step_enclosing(t) : 0;
	if (!t || !found)
		return 0;
	spans_close_dead(t, ctx->sp);
	if ((found & ENCLOSING_MASK) == ENCLOSING_AFTER)
		enclosing_ends(t, cfg->code, found & ~(__u64)ENCLOSING_MASK, now);
	else
		enclosing_begins(t, row, cfg->code, found & ~(__u64)ENCLOSING_MASK, now);
	return 0;
}
