/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * The stack of Python from which a probed function was called: CPython's frames, read from the
 * target. A thread's frames do not change while it is in a probe, whichever thread has the
 * interpreter's lock. They belong to the state with the thread's own id. Data from frames is only
 * used as addresses for further reads. The loader gets addresses unchanged.
 */
#ifndef PROFTRACE_STACK_BPF_H
#define PROFTRACE_STACK_BPF_H

#include "hash.bpf.h"
#include "python_thread.bpf.h"

#define PT_STACK_GROUP 8 /* frames that one call visits, as of open spans */

/* Of the thread's scratch: the record that goes out, a frame of the target, and what is known of
 * the walk. */
struct stack_scratch {
	struct pt_rec_stack r;
	__u64 words[PT_FRAME_WORDS];
	__u64 hash;
	__u32 functions; /* 1: the frames' function objects go to ctl.optimizer_functions */
	__u32 unread;	 /* 1: a frame could not be read */
};
_Static_assert(sizeof(struct stack_scratch) <= sizeof(((struct pt_thread *)0)->scratch), "");

/* Adds a frame to the record. Returns its caller's frame; 0: the walk is over. A global function:
 * the verifier follows it once, not for each possible frame. */
__weak __noinline __u64 stack_frame(struct pt_thread *t, __u64 frame)
{
	const struct pt_python_stacks *p = &ctl.layout.stacks;
	struct stack_scratch *s;
	__u64 *words, caller;
	__u32 cnt;

	if (!t)
		return 0;
	s = (void *)t->scratch;
	words = s->words;
	if (bpf_probe_read_user(words, p->frame_bytes & (sizeof(s->words) - 1), (void *)frame)) {
		s->unread = 1;
		return 0;
	}
	caller = words[p->previous_word & (PT_FRAME_WORDS - 1)];
	if ((words[p->owner_word & (PT_FRAME_WORDS - 1)] >> (p->owner_shift & 63) & 0xff) >=
	    p->other_owner)
		return caller;
	cnt = s->r.cnt;
	barrier_var(cnt);
	if (cnt >= PT_STACK_FRAMES) {
		s->r.cut = 1;
		return 0;
	}
	s->r.frames[cnt].code = words[p->code_word & (PT_FRAME_WORDS - 1)] & p->object_mask;
	s->r.frames[cnt].instr = words[p->instr_word & (PT_FRAME_WORDS - 1)] & p->instr_mask;
	s->hash = hash_mix(hash_mix(s->hash, s->r.frames[cnt].code), s->r.frames[cnt].instr);
	if (s->functions)
		ctl.optimizer_functions[cnt] =
			words[p->function_word & (PT_FRAME_WORDS - 1)] & p->object_mask;
	s->r.cnt = cnt + 1;
	return caller;
}

/* A group of frames into the record; the one that called them, 0: the walk is over. */
__weak __noinline __u64 stack_frames(struct pt_thread *t, __u64 frame)
{
	for (int n = 0; n < PT_STACK_GROUP && frame; n++)
		frame = stack_frame(t, frame);
	return frame;
}

/* Frames into the record; the key of the stack, 0: none could be read. */
static __always_inline __u64 stack_walk(struct pt_thread *t, struct stack_scratch *s,
					bool functions)
{
	__u64 state = python_thread(t), frame;

	s->r.cnt = 0;
	s->r.cut = 0;
	s->hash = t->pid;
	s->functions = functions;
	s->unread = 0;
	frame = state ? python_frame(state) : 0;
	for (int n = 0; n < PT_STACK_WALK && frame; n += PT_STACK_GROUP)
		frame = stack_frames(t, frame);
	if (s->unread)
		return 0;
	if (frame)
		s->r.cut = 1;
	s->hash = hash_mix(s->hash, s->r.cut);
	return s->r.cnt ? s->hash | 1 : 0; /* 0 means no stack */
}

/* Sends the frames as a record. No span has key 0. */
static __always_inline bool stack_output(struct pt_rec_stack *r, __u64 key, __u64 flags)
{
	__u32 cnt = r->cnt;
	__u64 size;

	barrier_var(cnt);
	if (cnt > PT_STACK_FRAMES)
		return false;
	size = __builtin_offsetof(struct pt_rec_stack, frames) +
	       (__u64)cnt * sizeof(struct pt_code_place);
	rec_init(&r->h, PT_REC_STACK, size, 0);
	r->key = key;
	if (!ring_output(&ring, r, size, flags))
		return true;
	count_lost(&ctl.lost_ring);
	return false;
}

/* Sends a stack before its first span. False: it could not be sent. */
static __always_inline bool stack_send(struct pt_rec_stack *r, __u64 key)
{
	__u32 one = 1;

	if (ctl.stacks_full) { /* the map never gets emptier */
		count_lost(&ctl.stacks_full);
		return false;
	}
	if (!stack_output(r, key, BPF_RB_NO_WAKEUP))
		return false;
	if (r->cut)
		count_lost(&ctl.stacks_cut);
	if (bpf_map_update_elem(&stacks, &key, &one, BPF_ANY))
		count_lost(&ctl.stacks_full); /* this stack was sent */
	return true;
}

/* Is the innermost open span one with a stack, or a backward node? */
static __always_inline bool in_stacked(struct pt_thread *t)
{
	const struct pt_open_span *f = open_span_at(t, t->open_cnt - 1);
	const struct pt_probe_cfg *cfg;
	__u32 row;

	if (!f)
		return false;
	if (f->kind == PT_KIND_NODE)
		return true;
	row = f->probe;
	cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	return cfg && cfg->stack == PT_STACK_OUTERMOST;
}

/* Does a span of this row have a stack? */
static __always_inline bool has_stack(struct pt_thread *t, __u32 row)
{
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);

	return cfg && cfg->stack != PT_STACK_NONE &&
	       (cfg->stack != PT_STACK_OUTERMOST || !in_stacked(t));
}

/* Key of the stack for a span of this row, 0: it has none. A global function: the verifier follows
 * it once per program, not for each caller. Uses the thread's scratch. */
__weak __noinline __u64 stack_read(struct pt_thread *t, __u32 row)
{
	__u64 begin = bpf_ktime_get_ns(), key;
	struct stack_scratch *s;

	if (!t || !has_stack(t, row))
		return 0;
	s = (void *)t->scratch;
	key = stack_walk(t, s, false);
	if (!key)
		count_lost(&ctl.stacks_unread);
	else if (!bpf_map_lookup_elem(&stacks, &key) && !stack_send(&s->r, key))
		key = 0;
	if (key)
		__sync_fetch_and_add(&ctl.stack_cnt, 1);
	__sync_fetch_and_add(&ctl.stack_ns, bpf_ktime_get_ns() - begin);
	return key;
}

/* Key of the stack for a span of this row that begins, 0: it has none. Call it before adding the
 * span and before using the thread's scratch. */
static __always_inline __u64 stack_take(struct pt_thread *t, __u32 row)
{
	return with_stacks && ctl.window_open ? stack_read(t, row) : 0;
}

/* Adds an open span of a function, with a stack if its row has stacks. */
static __always_inline struct pt_open_span *static_push(struct pt_thread *t, __u64 sp, __u32 row)
{
	__u64 stack = stack_take(t, row);
	struct pt_open_span *f = span_push(t, sp, row, PT_KIND_STATIC);

	if (f)
		f->stack = stack;
	return f;
}

#endif
