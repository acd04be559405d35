/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Begins the span of a function: adds an open span to its thread, if it is wanted now. */
#ifndef PROFTRACE_SPANS_BPF_H
#define PROFTRACE_SPANS_BPF_H

#include "open_spans.bpf.h"

/* The function that opens each step is wanted in every state. */
static __always_inline bool call_wanted(__u32 row)
{
	return wanted() || row == ctl.step_row;
}

/* The thread, ready for another open span at this stack pointer. NULL: the call is not wanted. */
static __always_inline struct pt_thread *span_begin_at(__u64 sp, __u32 row)
{
	struct pt_thread *t;

	if (!call_wanted(row) || !(t = thread_get()))
		return NULL;
	spans_close_dead(t, sp);
	stat_hit(row);
	return t;
}

static __always_inline struct pt_thread *span_begin(struct pt_regs *ctx, __u32 row)
{
	return span_begin_at(ctx->sp, row);
}

#endif
