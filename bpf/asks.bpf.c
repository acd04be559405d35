// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/*
 * Asks for the next item of a generator written in Python, from where it goes on to where it hands
 * the item on; data breakpoints tell of both. Until then an ask is no frame but a note: one that
 * finds no item, as at an epoch's end, leaves nothing open. How many steps there are does not
 * depend on asks, whose breakpoints come and go; where they open is told by them.
 */
#include "frames.bpf.h"
#include "python_thread.bpf.h"

/* The thread's note of this generator's ask, NULL: none. */
static __always_inline struct pt_ask *ask_find(struct pt_thread *t, __u64 frame)
{
	for (int i = 0; i < PT_MAX_ASKS; i++)
		if (t->asks[i].frame == frame)
			return &t->asks[i];
	return NULL;
}

/* Where it goes, in place of the oldest: others may be of generators that are gone. */
static __always_inline struct pt_ask *ask_slot(struct pt_thread *t, __u64 frame)
{
	struct pt_ask *slot = ask_find(t, frame);

	if (slot)
		return slot;
	slot = &t->asks[0];
	for (int i = 1; i < PT_MAX_ASKS; i++)
		if (t->asks[i].ts_ns < slot->ts_ns)
			slot = &t->asks[i];
	return slot;
}

SEC("perf_event")
int python_ask_begin(struct pt_regs *ctx)
{
	__u64 frame = python_executing(ctl.layout.python.begin_code);
	struct pt_thread *t = frame ? thread_get() : NULL;
	__u64 now = bpf_ktime_get_ns();
	struct pt_ask *ask;

	if (!t)
		return 0;
	stat_hit(ctl.layout.python.row);
	step_ask(t, now);
	ask = ask_slot(t, frame);
	ask->frame = frame;
	ask->ts_ns = now;
	return 0;
}

SEC("perf_event")
int python_ask_end(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns(), begin;
	__u64 frame = python_executing(ctl.layout.python.begin_code);
	struct pt_thread *t = frame ? thread_lookup() : NULL;
	struct pt_ask *ask = t ? ask_find(t, frame) : NULL;
	struct pt_frame *f;

	if (!ask)
		return 0;
	begin = ask->ts_ns;
	*ask = (struct pt_ask){};
	frames_close_dead_at(t, ctx->sp, now);
	f = frame_push(t, ctx->sp, ctl.layout.python.row, PT_FRAME_STATIC);
	if (!f)
		return 0;
	f->ts_ns = begin;
	frame_close_top(t, now, PT_END_SITE);
	return 0;
}
