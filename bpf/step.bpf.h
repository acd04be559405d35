/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Steps and the record window. A step opens at the begin or end of a span of the class that the
 * loader chose. The window opens and closes here too, so its edges are a step's own events.
 */
#ifndef PROFTRACE_STEP_BPF_H
#define PROFTRACE_STEP_BPF_H

#include "counter.bpf.h"
#include "thread.bpf.h"

/* State of step `step` by the schedule, see struct pt_schedule. The __weak functions are global: the verifier checks
 * each once, and not along each path of its callers. */
__weak __noinline int step_state(__u64 step, __u64 now)
{
	__u64 cycle = ctl.schedule.closed + ctl.schedule.ready + ctl.schedule.record;
	__u64 skip = ctl.schedule.skip_first + ctl.shifted;
	__u64 pos;

	if (ctl.hold)
		return ctl.hold == PT_HOLD_RECORD && now >= ctl.open_from_ns ? PT_STATE_RECORD
									     : PT_STATE_CLOSED;
	if (step < skip || !cycle)
		return PT_STATE_CLOSED;
	step -= skip;
	if (ctl.schedule.repeat && step / cycle >= ctl.schedule.repeat)
		return PT_STATE_DONE;
	pos = step % cycle;
	if (pos < ctl.schedule.closed)
		return PT_STATE_CLOSED;
	if (pos < ctl.schedule.closed + ctl.schedule.ready)
		return PT_STATE_READY;
	return PT_STATE_RECORD;
}

static __always_inline bool may_open(void)
{
	return ctl.armed && (!ctl.armed_once || ctl.armed == ctl.closes + 1);
}

/* CPU time of the step thread until now; 0: unknown. */
__weak __noinline __u64 run_until(__u64 now)
{
	if (!ctl.run_is_seen)
		return 0;
	if (!ctl.run_in_ns) /* the thread came onto the processor before its switches were seen */
		ctl.run_in_ns = now;
	return ctl.run.ran_ns + (now > ctl.run_in_ns ? now - ctl.run_in_ns : 0) + 1;
}

__weak __noinline int window_set(__u32 state, __u32 prev, __u64 now)
{
	if (state == PT_STATE_RECORD && prev != PT_STATE_RECORD) {
		ctl.run.opened = ctl.run.at[ctl.step_seq % PT_STEP_RING];
		ctl.window_open_ns = now;
		ctl.window_cnt++;
		ctl.window_open = 1;
	} else if (state != PT_STATE_RECORD && prev == PT_STATE_RECORD) {
		ctl.run.closed = ctl.run.at[ctl.step_seq % PT_STEP_RING];
		ctl.window_close_ns = now;
		ctl.window_open = 0;
		ctl.closes++;
	}
	return 0;
}

__weak __noinline int step_emit(__u32 prev, __u64 now)
{
	struct pt_rec_step *r = ring_reserve(&ring, sizeof(*r));

	if (!r) {
		/* Outside of windows the count of the programs suffices. */
		if (ctl.state != prev || ctl.state == PT_STATE_RECORD)
			count_lost(&ctl.lost_ring);
		return 0;
	}
	rec_init(&r->h, PT_REC_STEP, sizeof(*r), 0);
	r->ts_ns = now;
	r->step = ctl.step;
	r->seq = ctl.step_seq;
	r->state = ctl.state;
	r->prev_state = prev;
	r->window = ctl.window_cnt ? ctl.window_cnt - 1 : 0;
	r->pad = 0;
	bpf_ringbuf_submit(r, ctl.state == prev ? BPF_RB_NO_WAKEUP : BPF_RB_FORCE_WAKEUP);
	return 0;
}

__weak __noinline int count_passes(void)
{
	if (ctl.passes == 1) {
		ctl.passes_alike++;
	} else {
		ctl.passes_alike = 0;
		ctl.passes_odd++;
	}
	ctl.passes = 0;
	return 0;
}

/* A global function: the verifier checks it once. */
__weak __noinline int step_boundary(struct pt_thread *t, __u64 now)
{
	__u32 prev = ctl.state, state;
	__u64 steps = steps_ended();
	__u64 next = ctl.started ? ctl.step + steps : 0;

	ctl.step_took_ns = (now - ctl.step_ns[ctl.step_seq % PT_STEP_RING]) / steps;
	ctl.step_ns[(ctl.step_seq + 1) % PT_STEP_RING] = now;
	ctl.run.at[(ctl.step_seq + 1) % PT_STEP_RING] = run_until(now);
	ctl.step_seq++;
	count_passes();
	/* A call may have begun while its end, or its caller's end, had no probe. Then its return is not seen. A range
	 * that opens above it would keep it open for ever. */
	if (t && ctl.learn)
		t->open_cnt = t->named_cnt = 0;
	if (!ctl.counting || now < ctl.count_from_ns || prev == PT_STATE_DONE)
		return 0;
	state = step_state(next, now);
	if (state == PT_STATE_RECORD && prev != PT_STATE_RECORD && !may_open()) {
		ctl.shifted++;
		state = PT_STATE_READY;
	}
	if (ctl.gap && state == PT_STATE_RECORD && prev == PT_STATE_RECORD)
		state = PT_STATE_CLOSED;
	ctl.gap = 0;
	ctl.started = 1;
	ctl.step = next;
	ctl.state = state;
	window_set(state, prev, now);
	if (t)
		batch_flush(t); /* spans of the ended step come first */
	step_emit(prev, now);
	return 0;
}

/* Statistics are kept only in steps that the loader chose. In a window the loader counts records. */
static __always_inline bool measuring(void)
{
	return ctl.step_seq >= ctl.measure_from && ctl.step_seq < ctl.measure_to;
}

static __always_inline void count_update(struct pt_thread *t, __u32 name_class)
{
	if (name_class == PT_CLASS_OPTIMIZER) {
		if (t->updated)
			__sync_fetch_and_add(&ctl.updates_again, 1);
		t->updated = 1;
	} else if (name_class == PT_CLASS_BACKWARD) {
		t->updated = 0;
	}
}

__weak __noinline int count_begin(struct pt_thread *t, __u32 name_class, __u32 tid)
{
	if (!name_class || name_class >= PT_CLASS_CNT)
		return 0;
	if (t)
		count_update(t, name_class); /* before class_seen, which the loader reads first */
	__sync_fetch_and_add(&ctl.class_seen[name_class], 1);
	ctl.class_tid[name_class] = tid;
	ctl.passes += name_class == PT_CLASS_BACKWARD;
	return 0;
}

/* A span of a class begins or ends. Only the step thread makes boundaries. */
__weak __noinline int step_event(struct pt_thread *t, __u32 name_class, __u32 at_end, __u64 now)
{
	__u32 tid = current_tid();

	if (!name_class || name_class >= PT_CLASS_CNT)
		return 0;
	if (!at_end)
		count_begin(t, name_class, tid);
	if (ctl.steps_only && ctl.pass_is_update && name_class == PT_CLASS_BACKWARD && at_end) {
		name_class = PT_CLASS_OPTIMIZER_OP;
		at_end = 0;
		ctl.need_seen = 1;
	}
	if (at_end && name_class == ctl.boundary_needs)
		ctl.need_seen = 1;
	if (name_class != ctl.boundary_class || at_end != ctl.boundary_at_end)
		return 0;
	if (ctl.boundary_needs && !ctl.need_seen)
		return 0;
	if (!ctl.step_tid) {
		ctl.run_in_ns = 0;
		ctl.step_tid = tid;
	}
	if (ctl.step_tid != tid) {
		ctl.aside_tid = tid;
		if (ctl.window_open || measuring())
			__sync_fetch_and_add(&ctl.aside_beside, 1);
		return 0;
	}
	if (ctl.epoch_ended) {
		ctl.epoch_ended = 0;
		return 0;
	}
	ctl.need_seen = 0;
	if (ctl.loader_next_opened)
		ctl.loader_next_opened = 0;
	else
		step_boundary(t, now);
	return 0;
}

/* The step's batch is requested before its boundary. This loader next opens the step instead of the boundary. So there
 * are as many steps as boundaries, whether loader nexts are seen or not. */
static __always_inline void step_loader_next(struct pt_thread *t, __u64 now)
{
	ctl.loader_next_tid = t->tid;
	if (!ctl.loader_next_ahead || ctl.loader_next_opened || t->tid != ctl.step_tid)
		return;
	if (ctl.boundary_needs && !ctl.need_seen)
		return;
	ctl.loader_next_opened = 1;
	ctl.loader_next_steps++;
	step_boundary(t, now);
}

/* An optimizer's step begins. If a loader next opened this step and no forward pass came yet, the update belongs to the
 * previous step. Such a job requests its batch before its update. So its steps must open at their boundaries. */
static __always_inline void step_update(void)
{
	if (ctl.loader_next_opened)
		ctl.loader_next_ahead = 0;
}

#endif
