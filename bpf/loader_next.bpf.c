// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/*
 * The loader next of a Python generator: from its resume to its yield, both seen by data
 * breakpoints. The span is made at the yield, so none stays open at an epoch's end. The number of
 * steps does not depend on these breakpoints, which are attached and detached.
 */
#include "open_spans.bpf.h"
#include "python_thread.bpf.h"

/* The thread's entry for this generator. NULL: there is none. */
static __always_inline struct pt_loader_next *loader_next_find(struct pt_thread *t, __u64 frame)
{
	for (int i = 0; i < PT_MAX_LOADER_NEXTS; i++)
		if (t->loader_nexts[i].frame == frame)
			return &t->loader_nexts[i];
	return NULL;
}

/* A slot for it. Replaces the oldest, because generators of others may be gone. */
static __always_inline struct pt_loader_next *loader_next_slot(struct pt_thread *t, __u64 frame)
{
	struct pt_loader_next *slot = loader_next_find(t, frame);

	if (slot)
		return slot;
	slot = &t->loader_nexts[0];
	for (int i = 1; i < PT_MAX_LOADER_NEXTS; i++)
		if (t->loader_nexts[i].ts_ns < slot->ts_ns)
			slot = &t->loader_nexts[i];
	return slot;
}

SEC("perf_event")
int loader_next_begin(struct pt_regs *ctx)
{
	__u64 frame = python_executing(ctl.layout.python.begin_code);
	struct pt_thread *t = frame ? thread_get() : NULL;
	__u64 now = bpf_ktime_get_ns();
	struct pt_loader_next *next;

	if (!t)
		return 0;
	stat_hit(ctl.layout.python.row);
	step_loader_next(t, now);
	next = loader_next_slot(t, frame);
	next->frame = frame;
	next->ts_ns = now;
	return 0;
}

SEC("perf_event")
int loader_next_end(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns(), begin;
	__u64 frame = python_executing(ctl.layout.python.begin_code);
	struct pt_thread *t = frame ? thread_lookup() : NULL;
	struct pt_loader_next *next = t ? loader_next_find(t, frame) : NULL;
	struct pt_open_span *f;

	if (!next)
		return 0;
	begin = next->ts_ns;
	*next = (struct pt_loader_next){};
	spans_close_dead_at(t, ctx->sp, now);
	f = span_push(t, ctx->sp, ctl.layout.python.row, PT_KIND_STATIC);
	if (!f)
		return 0;
	f->ts_ns = begin;
	span_close_top(t, now, PT_END_SITE);
	return 0;
}
