// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/*
 * Operators, backward nodes and ranges. Programs are named by how a span of theirs begins and ends;
 * which function gets which program is the framework table's business.
 */
#include "args.bpf.h"
#include "ranges.bpf.h"

/* ---- call_*: a function whose end is seen by a return probe, or by a site in its body ---- */

/* The function that opens each step is followed in every state. */
static __always_inline bool call_wanted(__u32 row)
{
	return wanted() || row == ctl.step_row;
}

/* The thread, ready for one more frame at this stack pointer; NULL: the call is not wanted. */
static __always_inline struct pt_thread *span_begin_at(__u64 sp, __u32 row)
{
	struct pt_thread *t;

	if (!call_wanted(row) || !(t = thread_get()))
		return NULL;
	frames_close_dead(t, sp);
	stat_hit(row);
	return t;
}

static __always_inline struct pt_thread *span_begin(struct pt_regs *ctx, __u32 row)
{
	return span_begin_at(ctx->sp, row);
}

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
	struct pt_frame *f = t ? frame_push(t, ctx->sp, row, PT_FRAME_STATIC) : NULL;

	if (f)
		f->object = ctx->di;
	return 0;
}

/* The same behind a prologue that has aligned the stack anew; r10 points behind the return
 * address. */
SEC("uprobe")
int call_entry_aligned(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	__u64 sp = ctx->r10 - 8;
	struct pt_thread *t = call_begin_at(sp, row);

	if (t)
		frame_push(t, sp, row, PT_FRAME_STATIC);
	return 0;
}

static __always_inline int call_entry_reading(struct pt_regs *ctx, bool python)
{
	__u32 row = probe_row(ctx), cnt = 0;
	struct pt_thread *t = call_begin(ctx, row);
	struct pt_frame *f;

	if (!t)
		return 0;
	if (ctl.window_open)
		cnt = python ? read_python_args(ctx, t, row) : read_schema_args(ctx, t, row);
	f = frame_push(t, ctx->sp, row, PT_FRAME_STATIC);
	if (!f)
		return 0;
	f->object = ctx->di;
	if (cnt)
		args_send(t, f, cnt);
	return 0;
}

/* The same, and describes the tensors that the C++ signature passes. */
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

/* ---- phases: their begins and ends drive the step logic whatever the window ---- */

/* Index of the thread's open forward region, or PT_MAX_FRAMES. */
static __always_inline __u32 forward_find(struct pt_thread *t)
{
	__u32 i = t->frame_cnt;

	for (int n = 0; n < PT_MAX_FRAMES; n++) {
		const struct pt_frame *f = frame_at(t, --i);

		if (!f)
			break;
		if (f->sp == PT_SP_OBJECT && f->kind == PT_FRAME_STATIC &&
		    f->name_class == PT_CLASS_FORWARD)
			return i;
	}
	return PT_MAX_FRAMES;
}

static __always_inline void forward_end(struct pt_thread *t, __u64 now)
{
	__u32 i = forward_find(t);

	if (i < PT_MAX_FRAMES)
		frames_close_to(t, i, now, PT_END_OBJECT);
}

/* A function whose first argument says whether what follows is recorded for a backward pass: a
 * forward region, until it is called with 0 or the backward pass begins. */
SEC("uprobe")
int forward_switch(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx), on = (__u32)ctx->di;
	__u64 now = bpf_ktime_get_ns();
	struct pt_thread *t = thread_get();
	struct pt_frame *f;

	if (!t)
		return 0;
	frames_close_dead(t, ctx->sp);
	stat_hit(row);
	if (!on) {
		forward_end(t, now);
		return 0;
	}
	if (forward_find(t) < PT_MAX_FRAMES)
		return 0;
	/* The first forward pass may turn it off and on for each parameter that it initializes. */
	if (ctl.class_seen[PT_CLASS_BACKWARD])
		step_event(t, PT_CLASS_FORWARD, 0, now);
	f = frame_push(t, PT_SP_OBJECT, row, PT_FRAME_STATIC);
	if (f) {
		f->name_class = PT_CLASS_FORWARD;
		f->object = row; /* no range's */
	}
	return 0;
}

/* A span of a step class (cfg.code). */
SEC("uprobe")
int phase_entry(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	__u64 now = bpf_ktime_get_ns();
	struct pt_thread *t = thread_get();
	struct pt_frame *f;

	if (!cfg || !t)
		return 0;
	frames_close_dead(t, ctx->sp);
	stat_hit(row);
	if (cfg->code == PT_CLASS_BACKWARD)
		forward_end(t, now);
	step_event(t, cfg->code, 0, now);
	f = frame_push(t, ctx->sp, row, PT_FRAME_STATIC);
	if (f)
		f->name_class = cfg->code;
	return 0;
}

/* Return probe: the return address is popped already, so the frame lies 8 bytes lower. */
SEC("uprobe")
int call_return(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct pt_thread *t = thread_lookup();
	__u32 i;

	if (!t || !t->frame_cnt)
		return 0;
	i = frames_find(t, ctx->sp - 8, 0);
	if (i < PT_MAX_FRAMES)
		frames_close_to(t, i, now, PT_END_RETURN);
	return 0;
}

/*
 * Return probe of a function that has no span itself: what it called has returned, too. The
 * outermost of it ended about now, what was inside that one at a time unknown.
 */
SEC("uprobe")
int callee_end(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns(), limit = ctx->sp - 8;
	struct pt_thread *t = thread_lookup();

	for (int n = 0; t && n < PT_MAX_FRAMES; n++) {
		const struct pt_frame *f = frame_at(t, t->frame_cnt - 1);
		const struct pt_frame *below = frame_at(t, t->frame_cnt - 2);

		if (!f || f->sp >= limit)
			return 0;
		frame_close_top(t, now,
				below && below->sp < limit ? PT_END_INFERRED : PT_END_RETURN);
	}
	return 0;
}

/* Sequence number of the node that will differentiate a tensor; all ones: none will. */
static __always_inline __u64 tensor_node_seq(__u64 impl)
{
	__u64 meta = impl ? read_u64(impl + ctl.layout.tensor_autograd) : 0;
	__u64 node = meta ? read_u64(meta + ctl.layout.autograd_node) : 0;

	return node ? read_u64(node + ctl.layout.node_seq) : ~0ull;
}

/* The same for a function that returns a Python object: a tensor leads to the node behind it, by
 * which backward nodes find their operator. */
SEC("uprobe")
int op_return(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct pt_thread *t = thread_lookup();
	struct pt_frame *f;
	__u32 i;

	if (!t || !t->frame_cnt)
		return 0;
	i = frames_find(t, ctx->sp - 8, 0);
	if (i >= PT_MAX_FRAMES)
		return 0;
	f = frame_at(t, i);
	if (f && ctl.window_open && ctl.layout.autograd_node && ctl.layout.python_tensor_type)
		f->seq = tensor_node_seq(python_tensor(ctx->ax));
	frames_close_to(t, i, now, PT_END_RETURN);
	return 0;
}

/* The frame of the function that has come to its site; NULL: none. Whatever lies lower has
 * returned. */
static __always_inline struct pt_frame *site_frame(struct pt_thread *t, __u64 sp, __u32 row,
						   __u64 now)
{
	struct pt_frame *f;

	if (!t || !t->frame_cnt)
		return NULL;
	frames_close_dead_at(t, sp, now);
	f = frame_at(t, t->frame_cnt - 1);
	return f && f->probe == row ? f : NULL;
}

/* A site in the body that every normal return passes. */
SEC("uprobe")
int call_site(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct pt_thread *t = thread_lookup();

	if (site_frame(t, ctx->sp, probe_row(ctx), now))
		frame_close_top(t, now, PT_END_SITE);
	return 0;
}

/* The same of a function whose result is a tensor, or several, that the entry saw where to find. */
SEC("uprobe")
int call_site_result(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns(), result;
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct pt_thread *t = thread_lookup();
	struct pt_frame *f = site_frame(t, ctx->sp, row, now);

	if (!cfg || !f)
		return 0;
	if (ctl.window_open && ctl.layout.autograd_node) {
		result = read_u64(f->object + cfg->code);
		if (cfg->flags == PT_RESULT_TENSORS)
			result = read_u64(result);
		f->seq = tensor_node_seq(result);
	}
	frame_close_top(t, now, PT_END_SITE);
	return 0;
}

/* The thread's innermost frame if the stack is as it was at its entry, else NULL. */
static __always_inline const struct pt_frame *frame_left(struct pt_regs *ctx, struct pt_thread *t,
							 __u64 now)
{
	const struct pt_frame *f;

	if (!t || !t->frame_cnt)
		return NULL;
	frames_close_dead_at(t, ctx->sp - 8, now);
	f = frame_at(t, t->frame_cnt - 1);
	return f && f->sp == ctx->sp ? f : NULL;
}

/* A return, or a jump that leaves the function. */
SEC("uprobe")
int call_leave(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 row = probe_row(ctx);
	struct pt_thread *t = thread_lookup();
	const struct pt_frame *f = frame_left(ctx, t, now);

	if (f && f->probe == row)
		frame_close_top(t, now, PT_END_SITE);
	return 0;
}

/* An object is told that it ends, in the function where its begin was a call (call_entry): most are
 * others. */
SEC("uprobe")
int object_leave(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct pt_thread *t = thread_lookup();
	const struct pt_frame *f = frame_left(ctx, t, now);

	if (f && f->kind == PT_FRAME_STATIC && f->object == ctx->di)
		frame_close_top(t, now, PT_END_SITE);
	return 0;
}

/* An exception was caught: what it passed has ended. */
SEC("uprobe")
int call_unwound(struct pt_regs *ctx)
{
	struct pt_thread *t = thread_lookup();

	if (t && t->frame_cnt)
		frames_close_dead(t, ctx->sp);
	return 0;
}

/* ---- spans whose name is read from the target ---- */

/* Many operators share a row: the one that opens each step has a name rule. */
static __always_inline void named_step(struct pt_thread *t, __u32 row, const char *name)
{
	if (row == ctl.step_row)
		step_event(t, name_classify(name), 0, bpf_ktime_get_ns());
}

/* The innermost frame is a call with a name, by another probe: this one is counted as its. */
static __always_inline bool in_named_call(struct pt_thread *t, __u32 row)
{
	struct pt_frame *f = frame_at(t, t->frame_cnt - 1);

	if (!f || f->kind != PT_FRAME_NAMED || f->sp == PT_SP_OBJECT || f->probe == row)
		return false;
	if (f->nested < 255)
		f->nested++;
	return true;
}

/* Behind the call instruction that a function came from. An exception does not pass here. */
SEC("uprobe")
int call_landing(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 row = probe_row(ctx), i;
	struct pt_thread *t = thread_lookup();

	if (!t || !t->frame_cnt)
		return 0;
	i = frames_find(t, ctx->sp - 8, row);
	if (i < PT_MAX_FRAMES)
		frames_close_to(t, i, now, PT_END_SITE);
	return 0;
}

/*
 * A call whose name the target holds (cfg.name_path). Its end is a return probe's or a landing's;
 * without one it is inferred from the thread's next event. A call without a name is none; with
 * PT_NAMED_OUTERMOST neither is one right inside one of another probe.
 */
SEC("uprobe")
int named_entry(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx), len;
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct pt_thread *t;
	__u64 at;
	char *name;

	if (!cfg || !(t = span_begin(ctx, row)))
		return 0;
	if (cfg->flags & PT_NAMED_OUTERMOST && in_named_call(t, row))
		return 0;
	name = name_buffer(t);
	if (!name)
		return 0;
	at = cfg->flags & PT_NAMED_BY_CLASS ? class_name_address(ctx, cfg) : name_address(ctx, cfg);
	len = at ? read_string(at, cfg->name_source, name) : 0;
	if (!len)
		return 0;
	note_return(ctx, cfg, row);
	named_step(t, row, name);
	named_push(t, ctx->sp + cfg->rsp_shift, row, len);
	return 0;
}

/* A phase with a name that the target holds: a name rule says which, else cfg.code. */
SEC("uprobe")
int named_phase_entry(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx), name_class, len;
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	__u64 now = bpf_ktime_get_ns();
	struct pt_thread *t = thread_get();
	struct pt_frame *f;
	char *name;

	if (!cfg || !t)
		return 0;
	frames_close_dead(t, ctx->sp);
	stat_hit(row);
	name = name_buffer(t);
	if (!name)
		return 0;
	len = read_string(name_address(ctx, cfg), cfg->name_source, name);
	name_class = name_classify(name);
	if (!name_class)
		name_class = cfg->code;
	step_event(t, name_class, 0, now);
	f = named_push(t, ctx->sp, row, len);
	if (f)
		f->name_class = name_class;
	return 0;
}

/* A call with a name, which ends where object_exit is given the same object. cfg.key_reg leads to a
 * structure that points to the object at cfg.code. */
SEC("uprobe")
int object_entry(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx), len;
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct pt_frame *f;
	struct pt_thread *t;
	char *name;

	if (!cfg || !(t = span_begin(ctx, row)))
		return 0;
	name = name_buffer(t);
	if (!name)
		return 0;
	len = read_string(name_address(ctx, cfg), cfg->name_source, name);
	if (!len)
		return 0;
	f = named_push(t, ctx->sp, row, len);
	if (f)
		f->object = read_u64(arg_word(ctx, cfg->key_reg) + cfg->code);
	return 0;
}

/* What began with the object in cfg.key_reg has ended, and what it called. On another thread than
 * it began it is not looked for. */
SEC("uprobe")
int object_exit(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns(), object;
	__u32 row = probe_row(ctx), i;
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct pt_thread *t = thread_lookup();

	if (!cfg || !t || !t->frame_cnt)
		return 0;
	object = arg_word(ctx, cfg->key_reg);
	i = t->frame_cnt;
	for (int n = 0; n < PT_MAX_FRAMES; n++) {
		const struct pt_frame *f = frame_at(t, --i);

		if (!f)
			return 0;
		if (f->kind == PT_FRAME_NAMED && f->sp != PT_SP_OBJECT && f->object == object)
			break;
	}
	if (i < PT_MAX_FRAMES)
		frames_close_to(t, i, now, PT_END_OBJECT);
	return 0;
}

/* A range that begins at a probe; cfg.name_path leads to its name, cfg.code is the class of those
 * that no rule knows. Runs in every state, since ranges carry the steps. */
static __always_inline struct pt_frame *range_open(struct pt_regs *ctx, __u32 row,
						   const struct pt_probe_cfg *cfg)
{
	__u64 now = bpf_ktime_get_ns();
	struct pt_thread *t = thread_get();
	__u32 len;
	char *name;

	if (!t)
		return NULL;
	frames_close_dead(t, ctx->sp);
	stat_hit(row);
	name = name_buffer(t);
	if (!name)
		return NULL;
	len = read_name(ctx, cfg, name);
	return range_begin(t, row, cfg, name, len, now);
}

/* A range object: begins here, ends in range_exit, strictly nested per thread. */
SEC("uprobe")
int range_enter(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);

	if (cfg)
		range_open(ctx, row, cfg);
	return 0;
}

/* Closes the innermost open range of the thread. */
SEC("uprobe")
int range_exit(struct pt_regs *ctx)
{
	struct pt_thread *t = thread_lookup();

	if (t && t->frame_cnt)
		range_end(t, 0, ctx->sp);
	return 0;
}

#define PT_OBJECT_OWN 1 /* no address */

static __always_inline __u64 range_object(struct pt_regs *ctx, const struct pt_probe_cfg *cfg)
{
	return cfg->key_reg == PT_KEY_OWN ? PT_OBJECT_OWN : arg_word(ctx, cfg->key_reg);
}

/* A range that says itself which one ends: begins here, ends in range_stop with the same object in
 * cfg.key_reg, on the same thread, in any order. */
SEC("uprobe")
int range_start(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct pt_frame *f = cfg ? range_open(ctx, row, cfg) : NULL;

	if (f)
		f->object = range_object(ctx, cfg);
	return 0;
}

SEC("uprobe")
int range_stop(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct pt_thread *t = thread_lookup();

	if (cfg && t && t->frame_cnt)
		range_end(t, range_object(ctx, cfg), ctx->sp);
	return 0;
}

/*
 * A boxed operator call: the name is in the OperatorDef. cfg.name_reg holds an OperatorHandle
 * (whose first word is the OperatorDef *), or with cfg.flags 1 the OperatorDef * itself;
 * cfg.key_reg the stack of arguments.
 */
SEC("uprobe")
int boxed_entry(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx), len, cnt = 0;
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	const struct pt_frame *f;
	struct pt_thread *t;
	char *name;
	__u64 def;

	if (!cfg || !(t = span_begin(ctx, row)))
		return 0;
	name = name_buffer(t);
	if (!name)
		return 0;
	def = arg_word(ctx, cfg->name_reg);
	if (!cfg->flags)
		def = read_u64(def);
	len = read_string(def, cfg->name_source, name);
	named_step(t, row, name);
	if (ctl.want_args && ctl.window_open)
		cnt = read_boxed_args(t, def, arg_word(ctx, cfg->key_reg));
	f = named_push(t, ctx->sp, row, len);
	if (f && cnt)
		args_send(t, f, cnt);
	return 0;
}

/* ---- backward nodes: entry only, since errors pass through; the end is inferred ---- */

#define PT_NODE_HEAD 4 /* words of a Node that hold its vtable and its sequence number */

/* A node that another runs as a part of it (CopySlices): it is none of the graph. */
static __always_inline bool in_node(struct pt_thread *t)
{
	const struct pt_frame *f = frame_at(t, t->frame_cnt - 1);
	const struct pt_probe_cfg *cfg;
	__u32 row;

	if (!f || f->kind != PT_FRAME_NODE)
		return false;
	row = f->probe;
	cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	return cfg && cfg->flags & PT_NODE_OF_TYPE;
}

/* cfg.key_reg holds the Node *. */
SEC("uprobe")
int node_entry(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	__u64 node, type_obj = 0, head[PT_NODE_HEAD] = {};
	struct pt_thread *t;
	struct pt_frame *f;

	if (!cfg || !(t = span_begin(ctx, row)))
		return 0;
	if (cfg->flags & PT_NODE_OF_TYPE && in_node(t))
		return 0;
	node = arg_word(ctx, cfg->key_reg);
	/* The vtable and the sequence number lie together: one read for both. */
	bpf_probe_read_user(head, sizeof(head), (void *)node);
	if (head[0] == ctl.layout.pynode_vtable && head[0])
		type_obj = read_u64(read_u64(node + ctl.layout.node_pyobj) + 8);
	f = frame_push(t, ctx->sp, row, PT_FRAME_NODE);
	if (!f)
		return 0;
	f->object = head[0];
	if (ctl.layout.node_seq)
		f->seq = head[(ctl.layout.node_seq / sizeof(head[0])) & (PT_NODE_HEAD - 1)];
	f->type_obj = type_obj;
	return 0;
}

/* ---- --step-probe: any function that runs once per step ---- */

SEC("uprobe")
int step_probe(struct pt_regs *ctx)
{
	stat_hit(probe_row(ctx));
	step_event(thread_lookup(), PT_CLASS_STEP_PROBE, 0, bpf_ktime_get_ns());
	return 0;
}
