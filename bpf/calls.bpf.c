// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/*
 * Programs for functions. Their names say how a span begins and ends. The framework's table assigns
 * programs to functions.
 */
#include "python_args.bpf.h"
#include "spans.bpf.h"
#include "stack.bpf.h"

static __always_inline struct pt_thread *call_begin_at(__u64 sp, __u32 row)
{
	struct pt_thread *t = span_begin_at(sp, row);

	if (t && row == ctl.step_row)
		step_event(t, PT_CLASS_STEP_PROBE, 0, bpf_ktime_get_ns());
	return t;
}

static __always_inline struct pt_thread *call_begin(struct pt_regs *ctx, __u32 row)
{
	return call_begin_at(ctx->sp, row);
}

SEC("uprobe")
int call_entry(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	struct pt_thread *t = call_begin(ctx, row);
	struct pt_open_span *f = t ? static_push(t, ctx->sp, row) : NULL;

	if (f)
		f->object = ctx->di;
	return 0;
}

/* The same after a prologue that has aligned the stack. r10 points just above the return
 * address. */
SEC("uprobe")
int call_entry_aligned(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	__u64 sp = ctx->r10 - 8;
	struct pt_thread *t = call_begin_at(sp, row);

	if (t)
		static_push(t, sp, row);
	return 0;
}

static __always_inline int call_entry_reading(struct pt_regs *ctx, bool python)
{
	__u32 row = probe_row(ctx), cnt = 0;
	struct pt_thread *t = call_begin(ctx, row);
	struct pt_open_span *f;
	__u64 stack;

	if (!t)
		return 0;
	stack = stack_take(t, row);
	if (ctl.window_open)
		cnt = python ? read_python_args(ctx, t, row) : read_schema_args(ctx, t, row);
	f = span_push(t, ctx->sp, row, PT_KIND_STATIC);
	if (!f)
		return 0;
	f->object = ctx->di;
	f->stack = stack;
	if (cnt)
		args_send(t, f, cnt);
	return 0;
}

/* The same, and describes the tensors in the C++ arguments. */
SEC("uprobe")
int call_entry_args(struct pt_regs *ctx)
{
	return call_entry_reading(ctx, false);
}

/* The same for a Python method wrapper (cfg.flags: its second argument is a tuple). */
SEC("uprobe")
int call_entry_pyargs(struct pt_regs *ctx)
{
	return call_entry_reading(ctx, true);
}

/* Return probe. The return address is already popped, so the open span's stack pointer is 8
 * lower. */
SEC("uprobe")
int call_return(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct pt_thread *t = thread_lookup();
	__u32 i;

	if (!t || !t->open_cnt)
		return 0;
	i = open_span_find(t, ctx->sp - 8, 0);
	if (i < PT_MAX_OPEN_SPANS)
		spans_close_to(t, i, now, PT_END_RETURN);
	return 0;
}

/*
 * Entry of a function that has no span, but whose return ends the spans of functions it calls
 * (callee_end). Measured steps show which functions it calls, so both probes can be removed with
 * the last of those. If one such function calls another, calls inside belong to the inner one.
 */
SEC("uprobe")
int caller_entry(struct pt_regs *ctx)
{
	struct pt_thread *t = measuring() ? thread_get() : NULL;
	__u32 row;

	if (!t)
		return 0;
	row = probe_row(ctx);
	spans_close_dead(t, ctx->sp);
	stat_hit(row);
	t->caller = row;
	t->caller_sp = ctx->sp;
	return 0;
}

static __always_inline void stat_end(__u32 row)
{
	struct pt_probe_stat *s = measuring() ? stat_of(row) : NULL;

	if (s)
		s->ends++;
}

/* Ends the open spans below the stack pointer. The outermost of them ended about now. When the
 * inner ones ended is unknown. */
static __always_inline void callees_close(struct pt_thread *t, __u64 limit, __u64 now)
{
	for (int n = 0; n < PT_MAX_OPEN_SPANS; n++) {
		const struct pt_open_span *f = open_span_at(t, t->open_cnt - 1);
		const struct pt_open_span *below = open_span_at(t, t->open_cnt - 2);
		bool is_inside = below && below->sp < limit;

		if (!f || f->sp >= limit)
			return;
		if (!is_inside)
			stat_end(f->probe);
		span_close_top(t, now, is_inside ? PT_END_INFERRED : PT_END_RETURN);
	}
}

/* Return probe of a function without a span: ends the spans of calls inside it. */
SEC("uprobe")
int callee_end(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct pt_thread *t = thread_lookup();

	if (ctl.window_open)
		__sync_fetch_and_add(&ctl.callee_ends, 1);
	if (!t)
		return 0;
	callees_close(t, ctx->sp - 8, now);
	t->caller_sp = 0;
	return 0;
}

/* Sequence number of the node that differentiates a tensor. All ones: there is no such node. */
static __always_inline __u64 tensor_node_seq(__u64 impl)
{
	__u64 meta = impl ? read_u64(impl + ctl.layout.tensor_autograd) : 0;
	__u64 node = meta ? read_u64(meta + ctl.layout.autograd_node) : 0;

	return node ? read_u64(node + ctl.layout.node_seq) : ~0ull;
}

/* The same for a function that returns a Python object. A tensor leads to its node, by which
 * backward nodes find their operator. */
SEC("uprobe")
int op_return(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct pt_thread *t = thread_lookup();
	struct pt_open_span *f;
	__u32 i;

	if (!t || !t->open_cnt)
		return 0;
	i = open_span_find(t, ctx->sp - 8, 0);
	if (i >= PT_MAX_OPEN_SPANS)
		return 0;
	f = open_span_at(t, i);
	if (f && ctl.window_open && ctl.layout.autograd_node && ctl.layout.python_tensor_type)
		f->seq = tensor_node_seq(python_tensor(ctx->ax));
	spans_close_to(t, i, now, PT_END_RETURN);
	return 0;
}

/* The open span of the function that has reached its site. NULL: none. All spans below have
 * returned. */
static __always_inline struct pt_open_span *site_span(struct pt_thread *t, __u64 sp, __u32 row,
						      __u64 now)
{
	struct pt_open_span *f;

	if (!t || !t->open_cnt)
		return NULL;
	spans_close_dead_at(t, sp, now);
	f = open_span_at(t, t->open_cnt - 1);
	return f && f->probe == row ? f : NULL;
}

/* A site in the function that every normal return passes. */
SEC("uprobe")
int call_site(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct pt_thread *t = thread_lookup();

	if (site_span(t, ctx->sp, probe_row(ctx), now))
		span_close_top(t, now, PT_END_SITE);
	return 0;
}

/* libstdc++'s layout of these containers. */
static __always_inline bool batch_is_empty(__u64 batch, __u32 holder)
{
	if (holder == PT_BATCH_IN_VECTOR)
		return read_u64(batch) == read_u64(batch + 8);	   /* begin and end */
	return holder == PT_BATCH_IN_MAP && !read_u64(batch + 24); /* the count */
}

/* The same for a call of the data loader. The entry saw where the batch goes. At an epoch's end
 * there is no batch. */
SEC("uprobe")
int batch_site(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct pt_thread *t = thread_lookup();
	struct pt_open_span *f = site_span(t, ctx->sp, row, now);

	if (!cfg || !f)
		return 0;
	if (ctl.loader_next_alone && t->tid == ctl.step_tid &&
	    batch_is_empty(f->object, cfg->flags))
		ctl.epoch_ended = 1;
	span_close_top(t, now, PT_END_SITE);
	return 0;
}

/* The same for a function that returns one or more tensors. The entry saw where they go. */
SEC("uprobe")
int call_site_result(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns(), result;
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct pt_thread *t = thread_lookup();
	struct pt_open_span *f = site_span(t, ctx->sp, row, now);

	if (!cfg || !f)
		return 0;
	if (ctl.window_open && ctl.layout.autograd_node) {
		result = read_u64(f->object + cfg->code);
		if (cfg->flags == PT_RESULT_TENSORS)
			result = read_u64(result);
		f->seq = tensor_node_seq(result);
	}
	span_close_top(t, now, PT_END_SITE);
	return 0;
}

/* The thread's innermost open span, if the stack pointer is as at its entry. Else NULL. */
static __always_inline const struct pt_open_span *open_span_left(struct pt_regs *ctx,
								 struct pt_thread *t, __u64 now)
{
	const struct pt_open_span *f;

	if (!t || !t->open_cnt)
		return NULL;
	spans_close_dead_at(t, ctx->sp - 8, now);
	f = open_span_at(t, t->open_cnt - 1);
	return f && f->sp == ctx->sp ? f : NULL;
}

/* The function leaves by a return, or by a jump. */
SEC("uprobe")
int call_leave(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 row = probe_row(ctx);
	struct pt_thread *t = thread_lookup();
	const struct pt_open_span *f = open_span_left(ctx, t, now);

	if (f && f->probe == row)
		span_close_top(t, now, PT_END_SITE);
	return 0;
}

/* An object ends, in the same function that its begin called (call_entry, object_entry). Most
 * objects that end here are others. */
SEC("uprobe")
int object_leave(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct pt_thread *t = thread_lookup();
	const struct pt_open_span *f = open_span_left(ctx, t, now);

	if (f && (f->kind == PT_KIND_STATIC || f->kind == PT_KIND_NAMED) && f->object == ctx->di)
		span_close_top(t, now, PT_END_SITE);
	return 0;
}

/* An exception was caught. All calls that it passed have ended. */
SEC("uprobe")
int call_unwound(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct pt_thread *t = thread_lookup();

	if (cfg && t && t->open_cnt)
		spans_close_dead(t, ctx->sp + cfg->rsp_shift);
	return 0;
}

/* After the call instruction that called a function. An exception does not pass here. */
SEC("uprobe")
int call_return_site(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 row = probe_row(ctx), i;
	struct pt_thread *t = thread_lookup();

	if (!t || !t->open_cnt)
		return 0;
	i = open_span_find(t, ctx->sp - 8, row);
	if (i < PT_MAX_OPEN_SPANS)
		spans_close_to(t, i, now, PT_END_SITE);
	return 0;
}
