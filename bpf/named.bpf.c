// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/* Spans whose name is read from the target: calls, objects, ranges, boxed operators. */
#include "boxed_args.bpf.h"
#include "names.bpf.h"
#include "python_args.bpf.h"
#include "ranges.bpf.h"
#include "spans.bpf.h"

/* Many operators share a row. The operator that opens each step has a name rule. */
static __always_inline void named_step(struct pt_thread *t, __u32 row, struct pt_name *name)
{
	if (row == ctl.step_row)
		step_event(t, name_classify(name), 0, bpf_ktime_get_ns());
}

/* Is the innermost open span a named call of another probe, and no phase? Then this call counts as
 * part of it. */
static __always_inline bool in_named_call(struct pt_thread *t, __u32 row)
{
	struct pt_open_span *f = open_span_at(t, t->open_cnt - 1);

	if (!f || f->kind != PT_KIND_NAMED || f->sp == PT_SP_OBJECT || f->name_class ||
	    f->probe == row)
		return false;
	if (f->nested < 255)
		f->nested++;
	return true;
}

/* Preserved registers, by the processor's numbers. The barriers keep the compiler from choosing an
 * address in ctx first, which the verifier forbids. */
static __always_inline __u64 kept_register(struct pt_regs *ctx, __u32 reg)
{
	__u64 bx = ctx->bx, bp = ctx->bp, r12 = ctx->r12, r13 = ctx->r13, r14 = ctx->r14,
	      r15 = ctx->r15;

	barrier_var(bx);
	barrier_var(bp);
	barrier_var(r12);
	barrier_var(r13);
	barrier_var(r14);
	barrier_var(r15);
	switch (reg) {
	case 3:
		return bx;
	case 5:
		return bp;
	case 12:
		return r12;
	case 13:
		return r13;
	case 14:
		return r14;
	case 15:
		return r15;
	default:
		return 0;
	}
}

/* The object with a full name that the caller keeps. 0: there is none. */
static __always_inline __u64 full_name_object(struct pt_regs *ctx, const struct pt_probe_cfg *cfg)
{
	__u64 caller = read_u64(ctx->sp + cfg->rsp_shift);
	__u32 reg = 0;

	for (int i = 0; i < PT_MAX_FULL_NAME_SITES && !reg; i++) {
		const struct pt_full_name_site *site = &ctl.layout.full_name.sites[i];

		if (!site->return_address)
			break;
		if (site->return_address == caller)
			reg = site->reg;
	}
	return reg ? read_u64(kept_register(ctx, reg)) : 0;
}

#define FULL_SHORT 104 /* bytes, NUL included; with the data before it, 128 are read */

struct full_text {
	char text[FULL_SHORT];
};

/* Reads a short full name into dst at once. Returns its length; 0: it is a long one. A global
 * function: the verifier follows it once. */
__weak __noinline int read_full_short(struct full_text *dst, __u64 text)
{
	__u64 words[PT_COW_WORDS + FULL_SHORT / 8];

	return dst ? read_cow(dst->text, words, PT_COW_WORDS + FULL_SHORT / 8, text) : 0;
}

/* Reads the full name into the thread's scratch. Returns its length (long names are cut), 0: there
 * is none. A name that does not exist yet is empty. It is a string only if the length stored before
 * it is its length up to NUL. */
static __always_inline __u32 read_full_name(struct pt_regs *ctx, const struct pt_probe_cfg *cfg,
					    struct pt_thread *t)
{
	struct pt_rec_full_name *r = (void *)t->scratch;
	__u64 object, text, len;
	long n;

	if (!ctl.window_open || !(cfg->flags & PT_NAMED_IN_FULL))
		return 0;
	object = full_name_object(ctx, cfg);
	text = object ? read_u64(object + ctl.layout.full_name.text_at) : 0;
	if (!text)
		return 0;
	r->name.key = PT_KEY_NONE;
	n = read_full_short((struct full_text *)r->name.text, text);
	if (n > 0)
		return (__u32)n;
	n = bpf_probe_read_user_str(r->name.text, sizeof(r->name.text), (void *)text);
	len = read_u64(text - 8 * PT_COW_WORDS);
	if (n == PT_NAME_MAX && len >= PT_NAME_MAX)
		long_name(&r->name, 0, text, bounded(len), 0);
	else if (n <= 1 || len != (__u64)n - 1)
		return 0;
	return (__u32)n - 1;
}

static __always_inline void full_name_send(struct pt_thread *t, const struct pt_open_span *f,
					   __u32 len)
{
	struct pt_rec_full_name *r = (void *)t->scratch;

	rec_init(&r->h, PT_REC_FULL_NAME, sizeof(*r), f->probe);
	r->ts_ns = f->ts_ns;
	r->len = len;
	r->pad = 0;
	if (ring_output(&ring, r, sizeof(*r), BPF_RB_NO_WAKEUP))
		count_lost(&ctl.lost_ring);
}

static __always_inline __u32 no_name(struct pt_name *name)
{
	name->text[0] = PT_UNNAMED;
	name->text[1] = 0;
	name->key = PT_KEY_NONE;
	return 1;
}

/*
 * A call whose name is in the target (cfg.name_path). A return probe or a return site shows its
 * end; otherwise the thread's next event does. A call without a name makes no span. With
 * PT_NAMED_OUTERMOST, a call directly inside one of another probe makes none, either.
 */
SEC("uprobe")
int named_entry(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx), len, full_len;
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct pt_open_span *f;
	struct pt_thread *t;
	__u64 at, stack, link;
	struct pt_name *name;

	if (!cfg || !(t = span_begin(ctx, row)))
		return 0;
	if (cfg->flags & PT_NAMED_OUTERMOST && in_named_call(t, row))
		return 0;
	name = name_buffer(t);
	if (!name)
		return 0;
	at = cfg->flags & PT_NAMED_BY_CLASS ? class_name_address(ctx, cfg) : name_address(ctx, cfg);
	len = at ? read_string(at, cfg->name_source, name) : 0;
	if (cfg->flags & PT_NAMED_BY_CALL)
		len = no_name(name);
	if (!len)
		return 0;
	named_step(t, row, name);
	if (!return_is_seen(ctx, cfg, row))
		return 0;
	stack = stack_take(t, row);
	full_len = read_full_name(ctx, cfg, t);
	link = cfg->link ? link_object(ctx, cfg) : 0;
	f = named_push(t, ctx->sp + cfg->rsp_shift, row, len);
	if (f) {
		f->named_stack = stack;
		f->link = link;
	}
	if (f && full_len)
		full_name_send(t, f, full_len);
	return 0;
}

/* A named call that ends when object_exit gets the same object, or object_leave in the same
 * function. cfg.key_reg leads to a structure with a pointer to the object at cfg.code, or with
 * PT_KEY_IS_OBJECT holds the object itself. */
SEC("uprobe")
int object_entry(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx), len;
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct pt_open_span *f;
	struct pt_thread *t;
	struct pt_name *name;
	__u64 key;

	if (!cfg || !(t = span_begin(ctx, row)))
		return 0;
	name = name_buffer(t);
	if (!name)
		return 0;
	len = read_string(name_address(ctx, cfg), cfg->name_source, name);
	if (!len)
		return 0;
	f = named_push(t, ctx->sp, row, len);
	if (!f)
		return 0;
	key = arg_word(ctx, cfg->key_reg);
	f->object = cfg->flags & PT_KEY_IS_OBJECT ? key : read_u64(key + cfg->code);
	return 0;
}

/* The span of the object in cfg.key_reg has ended, with all inside it. It must be on the thread on
 * which it began. */
SEC("uprobe")
int object_exit(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns(), object;
	__u32 row = probe_row(ctx), i;
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct pt_thread *t = thread_lookup();

	if (!cfg || !t || !t->open_cnt)
		return 0;
	object = arg_word(ctx, cfg->key_reg);
	i = t->open_cnt;
	for (int n = 0; n < PT_MAX_OPEN_SPANS; n++) {
		const struct pt_open_span *f = open_span_at(t, --i);

		if (!f)
			return 0;
		if (f->kind == PT_KIND_NAMED && f->sp != PT_SP_OBJECT && f->object == object)
			break;
	}
	if (i < PT_MAX_OPEN_SPANS)
		spans_close_to(t, i, now, PT_END_OBJECT);
	return 0;
}

static __always_inline __u64 range_object(struct pt_regs *ctx, const struct pt_probe_cfg *cfg)
{
	return cfg->key_reg == PT_KEY_OWN ? PT_OBJECT_OWN : arg_word(ctx, cfg->key_reg);
}

/* A range that begins at a probe. cfg.name_path leads to its name. cfg.code is its class if no name
 * rule matches. It is handled in every state, because ranges make steps. object: 0: it has none. */
static __always_inline int range_open(struct pt_regs *ctx, __u32 row,
				      const struct pt_probe_cfg *cfg, __u64 object)
{
	__u64 now = bpf_ktime_get_ns();
	struct pt_thread *t = thread_get();
	struct pt_open_span *f;
	__u32 len;
	struct pt_name *name;

	if (!t)
		return 0;
	spans_close_dead(t, ctx->sp);
	ranges_close(t, object, cfg->code == PT_CLASS_ITERATION);
	stat_hit(row);
	name = range_name_buffer(t);
	len = read_name(ctx, cfg, name);
	f = range_begin(t, row, cfg, name, len, now);
	if (f)
		f->object = object;
	return 0;
}

/* A range object: begins here and ends in range_exit, strictly nested per thread. */
SEC("uprobe")
int range_enter(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);

	if (cfg)
		range_open(ctx, row, cfg, 0);
	return 0;
}

/* Ends the innermost open range of the thread. */
SEC("uprobe")
int range_exit(struct pt_regs *ctx)
{
	struct pt_thread *t = thread_lookup();

	if (t && t->open_cnt)
		range_end(t, 0, ctx->sp);
	return 0;
}

/* A range that begins here and ends in range_stop with the same object in cfg.key_reg, on the same
 * thread, in any order. */
SEC("uprobe")
int range_start(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);

	if (cfg)
		range_open(ctx, row, cfg, range_object(ctx, cfg));
	return 0;
}

SEC("uprobe")
int range_stop(struct pt_regs *ctx)
{
	__u32 row = probe_row(ctx);
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct pt_thread *t = thread_lookup();

	if (cfg && t && t->open_cnt)
		range_end(t, range_object(ctx, cfg), ctx->sp);
	return 0;
}

/* Reads the name of the called operator, with which its OperatorDef begins. Returns its length; 0:
 * not read, or the operator has no span. */
static __always_inline __u32 operator_name(struct pt_thread *t, const struct pt_probe_cfg *cfg,
					   __u64 def, struct pt_name *name)
{
	__u32 len = read_string(def, cfg->name_source, name);

	if (len && name_classify(name) != PT_CLASS_INTERNAL)
		return len;
	t->spanless = ctl.window_open ? t->spanless + 1 : 0;
	return 0;
}

/* Reads the tuple of arguments. The next register points to a pointer to the keyword arguments. */
static __always_inline __u32 read_invoked_args(struct pt_regs *ctx, struct pt_thread *t,
					       const struct pt_probe_cfg *cfg, __u64 tuple)
{
	__u32 cnt = read_python_tuple(t, 0, tuple);

	return note_keywords(t, cnt, read_u64(arg_word(ctx, cfg->key_reg + 1)));
}

/* Entry of an operator that is called by its handle or its name. */
static __always_inline int operator_entry(struct pt_regs *ctx, bool by_name)
{
	__u32 row = probe_row(ctx), len, cnt = 0;
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct pt_open_span *f;
	struct pt_thread *t;
	struct pt_name *name;
	__u64 def, stack;

	if (!cfg || !(t = span_begin(ctx, row)))
		return 0;
	name = name_buffer(t);
	if (!name)
		return 0;
	def = by_name ? name_address(ctx, cfg) : arg_word(ctx, cfg->name_reg);
	if (!cfg->flags)
		def = read_u64(def);
	len = operator_name(t, cfg, def, name);
	if (!len)
		return 0;
	named_step(t, row, name);
	stack = stack_take(t, row);
	if (with_args && ctl.window_open) {
		__u64 args = arg_word(ctx, cfg->key_reg);

		cnt = by_name ? read_invoked_args(ctx, t, cfg, read_u64(args))
			      : read_boxed_args(t, def, args);
	}
	f = named_push(t, ctx->sp, row, len);
	if (f)
		f->named_stack = stack;
	if (f && cnt)
		args_send(t, f, cnt);
	return 0;
}

/*
 * A boxed operator call, whose name is in the OperatorDef. cfg.name_reg holds an OperatorHandle
 * (whose first word is the OperatorDef *), or with cfg.flags 1 the OperatorDef * itself.
 * cfg.key_reg holds the stack of arguments.
 */
SEC("uprobe")
int boxed_entry(struct pt_regs *ctx)
{
	return operator_entry(ctx, false);
}

/*
 * An operator that Python calls by its name (torch.ops). cfg.name_reg holds a vector of pointers to
 * its overloads, each of which begins with the OperatorDef *. For anything but a dispatcher's
 * operator, the value read there is no address. cfg.key_reg points to a pointer to the tuple of
 * arguments.
 */
SEC("uprobe")
int invoked_entry(struct pt_regs *ctx)
{
	return operator_entry(ctx, true);
}
