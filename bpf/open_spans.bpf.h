/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Makes spans. A begin waits as an open span of its thread. The end writes one record.
 *
 * The stack grows down. So an open span has returned if its entry stack pointer is at or below the current one. Then an
 * exception ended it, or its end has no probe. The thread's next event closes the span and marks it as inferred.
 */
#ifndef PROFTRACE_OPEN_SPANS_BPF_H
#define PROFTRACE_OPEN_SPANS_BPF_H

#include "sched_places.bpf.h"
#include "span_stats.bpf.h"

static __always_inline bool wanted(void)
{
	return ctl.window_open || ctl.learn;
}

/* Clips a span to the open window, or to the window that just closed. Returns false if the span lies outside. */
static __always_inline bool window_clip(__u64 *start, __u64 *end, __u32 *flags)
{
	__u64 open = ctl.window_open_ns, close = ctl.window_close_ns;

	if (!open || *end <= open)
		return false;
	if (!ctl.window_open) {
		if (close <= open || *start >= close)
			return false;
		if (*end > close) {
			*end = close;
			*flags |= PT_SPAN_CUT_END;
		}
	}
	if (*start < open) {
		*start = open;
		*flags |= PT_SPAN_CUT_BEGIN;
	}
	return true;
}

/* The step thread sends its spans in batches, at the latest at the next boundary. Other threads send at once, since
 * their next event may be long after. */
static __always_inline void emit_span(struct pt_thread *t, const struct pt_open_span *f, __u64 start,
				      __u64 end, __u32 flags, __u32 how)
{
	__u32 i = t->batch.cnt;
	struct pt_span *span;

	barrier_var(i);
	if (t->batch.window != ctl.window_cnt) {
		/* The loader has read the rest of an earlier window itself. */
		t->batch.window = ctl.window_cnt;
		i = 0;
	}
	if (i >= PT_BATCH)
		return;
	span = &t->batch.spans[i];
	span->ts_ns = start;
	span->end_ns = end;
	span->probe = f->probe;
	span->kind = f->kind;
	span->end = how;
	span->flags = flags;
	if (f->kind == PT_KIND_CALL)
		span->flags |= f->slot | (__u16)(f->nested << PT_SPAN_NESTED_SHIFT);
	/* For other kinds these members have another meaning (a union). */
	span->seq = f->seq;
	span->type_obj = f->type_obj;
	if (f->kind != PT_KIND_STATIC)
		span->vtable = f->vtable;
	t->batch.cnt = i + 1;
	if (i + 1 == PT_BATCH || t->tid != ctl.step_tid)
		batch_flush(t);
}

static __always_inline void emit_named(struct pt_thread *t, const struct pt_open_span *f, __u64 start,
				       __u64 end, __u32 flags, __u32 how)
{
	__u32 slot = f->slot & (PT_MAX_NAMED - 1);
	__u32 len = t->name_len[slot] & (PT_NAME_MAX - 1);
	struct pt_rec_named *r;

	batch_flush(t); /* the spans inside this one come first */
	r = ring_reserve(&ring, sizeof(*r));
	if (!r) {
		count_lost(&ctl.lost_ring);
		return;
	}
	rec_init(&r->h, PT_REC_NAMED_SPAN, sizeof(*r), f->probe);
	r->h.end = how;
	r->ts_ns = start;
	r->end_ns = end;
	r->stack = f->named_stack;
	r->flags = flags;
	r->name_class = f->name_class;
	r->name_len = len;
	r->nested = f->nested + t->spanless;
	t->spanless = 0;
	r->link = f->link;
	r->name = t->names[slot];
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* Is there an open span of the class in this group that began after since_ns? */
__weak __noinline int class_in_group(struct pt_thread *t, __u32 i, __u32 name_class, __u64 since_ns)
{
	for (__u32 n = 0; t && n < PT_SPAN_GROUP && i + n < t->open_cnt; n++) {
		const struct pt_open_span *f = open_span_at(t, i + n);

		if (!f)
			break;
		if (f->name_class == name_class && f->ts_ns > since_ns && !span_has_ended(f))
			return true;
	}
	return false;
}

/* Does an open span of this class enclose the span that ends now? An optimizer may call the step of another one. A span
 * from before the latest boundary does not count: its end was not seen. */
__weak __noinline int class_is_open(struct pt_thread *t, __u32 name_class)
{
	__u64 latest = ctl.step_ns[ctl.step_seq % PT_STEP_RING];

	if (!t || !ctl.step_seq || name_class != ctl.boundary_class)
		return false;
#pragma nounroll
	for (__u32 i = 0; i < PT_MAX_OPEN_SPANS && i < t->open_cnt; i += PT_SPAN_GROUP) {
		if (class_in_group(t, i, name_class, latest)) {
			ctl.nests = 1;
			return true;
		}
	}
	return false;
}

/* Writes the record of span i if it lies in the window. The span is not open any more. */
__weak __noinline int span_emit(struct pt_thread *t, __u32 i, __u64 end, __u32 flags, __u32 how)
{
	const struct pt_open_span *f = t ? open_span_at(t, i) : NULL;
	__u64 start;

	if (!f)
		return 0;
	start = f->ts_ns;
	if (!window_clip(&start, &end, &flags))
		return 0;
	if (f->kind == PT_KIND_NAMED)
		emit_named(t, f, start, end, flags, how);
	else
		emit_span(t, f, start, end, flags, how);
	return 0;
}

/* The data loader alone makes the steps: a loader next that a C++ exception ended found no batch. */
static __always_inline void loader_next_closes(struct pt_thread *t, const struct pt_open_span *f, __u32 how)
{
	if (!ctl.loader_next_alone || f->name_class != PT_CLASS_DATALOADER || f->sp == PT_SP_OBJECT ||
	    t->tid != ctl.step_tid)
		return;
	if (how != PT_END_INFERRED)
		ctl.loader_next_ended = 1;
	else if (ctl.loader_next_ended)
		ctl.epoch_ended = 1;
}

/*
 * When a device's thread fell asleep, if it slept at the end of the backward pass. Then its part of the pass ended
 * before another device's part, and its last node ended at that time. 0: the thread was awake.
 */
__weak __noinline __u64 asleep_at_pass_end(__u32 tid, __u64 begin_ns, __u64 now)
{
	const struct pt_sched_thread *s = thread_find(tid);
	__u64 pass_end_ns;

	if (!s || s->slept_ns <= begin_ns)
		return 0;
	pass_end_ns = node_end(begin_ns, now);
	return s->slept_ns < pass_end_ns && pass_end_ns < s->woken_ns ? s->slept_ns : 0;
}

/* The end of a node that closes now, if its backward pass shows it; 0: unknown. */
__weak __noinline __u64 node_pass_end(struct pt_thread *t, __u64 begin_ns, __u64 now, __u32 how)
{
	if (!t)
		return 0;
	if (in_own_pass(t))
		return now;
	return how == PT_END_INFERRED ? asleep_at_pass_end(t->tid, begin_ns, now) : 0;
}

/* Closes the innermost open span, and writes its record if it lies in the window. A global function: the verifier
 * checks it once, and not at each caller. */
__weak __noinline int span_close_top(struct pt_thread *t, __u64 now, __u32 how)
{
	__u32 i, flags = 0, name_class;
	struct pt_open_span *f;
	__u64 end = now, pass_end_ns;

	if (!t)
		return 0;
	i = t->open_cnt - 1;
	f = open_span_at(t, i);
	if (!f)
		return 0;
	t->open_cnt = i;
	name_class = f->name_class;
	loader_next_closes(t, f, how);
	if (f->kind == PT_KIND_NAMED && t->named_cnt)
		t->named_cnt--;
	if (how == PT_END_INFERRED && span_is_stale(f))
		return 0;
	if (span_has_ended(f)) {
		end = f->ended_ns;
		how = PT_END_OBJECT;
		if (f->slot & PT_RANGE_OVERLAPS)
			flags = PT_SPAN_OVERLAPS;
		if (f->slot & PT_RANGE_NOT_ENDED) {
			flags |= PT_SPAN_NOT_ENDED;
			how = PT_END_INFERRED;
		}
		name_class = 0; /* reported when it ended */
	}
	if (name_class == PT_CLASS_BACKWARD)
		note_pass(f->ts_ns, end);
	pass_end_ns = f->kind == PT_KIND_NODE ? node_pass_end(t, f->ts_ns, now, how) : 0;
	if (pass_end_ns) {
		end = pass_end_ns;
		flags = PT_SPAN_IN_PASS;
	}
	count_span(t, i, end, end == now ? flags | ENDS_NOW : flags, how);
	span_emit(t, i, end, flags, how);
	if (name_class && !class_is_open(t, name_class))
		step_event(t, name_class, 1, now);
	return 0;
}

/* Has the innermost open span returned? */
static __always_inline bool top_is_dead(struct pt_thread *t, __u64 sp)
{
	const struct pt_open_span *f = open_span_at(t, t->open_cnt - 1);

	return f && (f->sp <= sp || span_has_ended(f));
}

/* Closes the innermost open span, and enclosing spans that have returned. Returns true if there may be more. */
__weak __noinline int dead_group_close(struct pt_thread *t, __u64 sp, __u64 now)
{
	for (int n = 0; t && n < PT_SPAN_GROUP; n++) {
		span_close_top(t, now, PT_END_INFERRED);
		if (!top_is_dead(t, sp))
			return false;
	}
	return true;
}

/* Closes open spans that have returned unseen: their stack pointer is at or below the current one. now: 0 if the time
 * was not read yet. */
__weak __noinline int spans_close_dead_at(struct pt_thread *t, __u64 sp, __u64 now)
{
	if (!t || !top_is_dead(t, sp))
		return 0;
	if (!now)
		now = bpf_ktime_get_ns();
#pragma nounroll
	for (int n = 0; n < PT_MAX_OPEN_SPANS; n += PT_SPAN_GROUP)
		if (!dead_group_close(t, sp, now))
			break;
	return 0;
}

static __always_inline void spans_close_dead(struct pt_thread *t, __u64 sp)
{
	spans_close_dead_at(t, sp, 0);
}

/* Searches the group below open span i. */
__weak __noinline int open_span_in_group(struct pt_thread *t, __u32 i, __u64 sp, __u32 row)
{
	for (__u32 n = 0; t && n < PT_SPAN_GROUP && i > 0; n++) {
		const struct pt_open_span *f = open_span_at(t, --i);

		if (!f)
			break;
		if (f->sp == sp && (!row || f->probe == row))
			return i;
	}
	return PT_MAX_OPEN_SPANS;
}

/* Index of the innermost open span with this stack pointer (and row, unless 0). PT_MAX_OPEN_SPANS: none. */
__weak __noinline int open_span_find(struct pt_thread *t, __u64 sp, __u32 row)
{
	__u32 cnt = t ? t->open_cnt : 0, found;

#pragma nounroll
	for (__u32 n = 0; n < PT_MAX_OPEN_SPANS && n < cnt; n += PT_SPAN_GROUP) {
		found = open_span_in_group(t, cnt - n, sp, row);
		if (found < PT_MAX_OPEN_SPANS)
			return found;
	}
	return PT_MAX_OPEN_SPANS;
}

/* Closes at most one group of open spans. Returns true if there may be more above open span i. */
__weak __noinline int above_group_close(struct pt_thread *t, __u32 i, __u64 now)
{
	for (int n = 0; t && n < PT_SPAN_GROUP; n++) {
		if (t->open_cnt <= i + 1)
			return false;
		span_close_top(t, now, PT_END_INFERRED);
	}
	return true;
}

/* Closes the open spans above open span i, as inferred. */
__weak __noinline int spans_close_above(struct pt_thread *t, __u32 i, __u64 now)
{
	if (!t || t->open_cnt <= i + 1)
		return 0;
#pragma nounroll
	for (int n = 0; n < PT_MAX_OPEN_SPANS; n += PT_SPAN_GROUP)
		if (!above_group_close(t, i, now))
			break;
	return 0;
}

/* Ends open span i at its own end, and closes all spans above it as inferred. */
static __always_inline void spans_close_to(struct pt_thread *t, __u32 i, __u64 now, __u32 how)
{
	spans_close_above(t, i, now);
	span_close_top(t, now, how);
}

/*
 * Adds an open span. NULL: the thread has too many. The span begins now, so call this last: our own work must not count
 * as the target's. The caller fills the members of the kind.
 */
static __always_inline struct pt_open_span *span_push(struct pt_thread *t, __u64 sp, __u32 row,
						   __u8 kind)
{
	__u32 i = t->open_cnt;
	struct pt_open_span *f = open_span_at(t, i);

	if (!f) {
		count_lost(&ctl.lost_depth);
		return NULL;
	}
	f->sp = sp;
	f->probe = row;
	f->kind = kind;
	f->seq = ~0ull;
	f->type_obj = 0;
	f->name_class = 0;
	f->cpu_wait_ns = cpu_wait_ns();
	f->ts_ns = bpf_ktime_get_ns();
	t->open_cnt = i + 1;
	return f;
}

#endif
