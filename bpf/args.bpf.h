/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Arguments of operators, as tensors and values for the record of a call. */
#ifndef PROFTRACE_ARGS_BPF_H
#define PROFTRACE_ARGS_BPF_H

#include "open_spans.bpf.h"
#include "registers.bpf.h"

static __always_inline void read_dims(struct pt_tensor *t, __u64 sizes)
{
	__u64 ndim = read_u64(sizes), data = sizes + 8;

	/* SizesAndStrides keeps up to 5 dimensions inline. For more it has a pointer. */
	if (ndim > 5)
		data = read_u64(data);
	if (ndim > 254)
		ndim = 254;
	t->ndim = ndim;
	bpf_probe_read_user(t->dims, sizeof(t->dims[0]) * 5, (void *)data);
	if (ndim > 5)
		bpf_probe_read_user(&t->dims[5], sizeof(t->dims[0]) * (PT_MAX_DIMS - 5),
				    (void *)(data + sizeof(t->dims[0]) * 5));
}

static __always_inline void read_tensor(struct pt_tensor *t, __u64 impl, __u8 arg)
{
	__u16 dtype = 0;

	t->arg = arg;
	t->ndim = 255;
	t->dtype = 0;
	t->device_type = 0;
	t->value = PT_VALUE_NONE;
	if (!impl)
		return;
	read_dims(t, impl + ctl.layout.tensor_sizes);
	bpf_probe_read_user(&dtype, sizeof(dtype), (void *)(impl + ctl.layout.tensor_dtype));
	t->dtype = dtype;
	bpf_probe_read_user(&t->device_type, 1, (void *)(impl + ctl.layout.tensor_device));
}

/* The TensorImpl * that argument `slot` of kind `kind` leads to. 0: there is none. */
static __always_inline __u64 arg_tensor(struct pt_regs *ctx, __u8 slot, __u8 kind)
{
	__u64 p = arg_word(ctx, slot), flag_at = ctl.layout.opt_tensor_flag;
	__u8 has = 0;

	if (!p)
		return 0;
	if (kind == PT_ARG_TENSOR)
		return read_u64(p);
	bpf_probe_read_user(&has, 1, (void *)(p + flag_at));
	return has ? read_u64(p + (flag_at ? 0 : 8)) : 0;
}

/* Sends the first cnt tensors of the thread's scratch as those of span f. */
static __always_inline void args_send(struct pt_thread *t, const struct pt_open_span *f, __u32 cnt)
{
	struct pt_rec_args *r = (void *)t->scratch;
	__u64 size;

	if (cnt > PT_MAX_TENSORS)
		cnt = PT_MAX_TENSORS;
	size = __builtin_offsetof(struct pt_rec_args, tensors) +
	       (__u64)cnt * sizeof(struct pt_tensor);
	rec_init(&r->h, PT_REC_ARGS, size, f->probe);
	r->ts_ns = f->ts_ns;
	r->tensor_cnt = cnt;
	r->pad = 0;
	if (ring_output(&ring, r, size, BPF_RB_NO_WAKEUP))
		count_lost(&ctl.lost_ring);
}

/* Adds a tensor to the cnt in the thread's scratch. Returns the new number. */
static __always_inline __u32 args_add(struct pt_thread *t, __u32 cnt, __u64 impl, __u8 arg)
{
	struct pt_rec_args *r = (void *)t->scratch;

	barrier_var(cnt);
	if (cnt >= PT_MAX_TENSORS)
		return cnt;
	read_tensor(&r->tensors[cnt], impl, arg);
	return cnt + 1;
}

/* ---- arguments that are no tensors ---- */

/* A row for n values; n 0: for an argument that is not described. NULL: there is no room. */
static __always_inline struct pt_tensor *value_row(struct pt_thread *t, __u32 cnt, __u32 arg,
						   __u32 kind, __u32 n)
{
	struct pt_rec_args *r = (void *)t->scratch;
	struct pt_tensor *row;

	barrier_var(cnt);
	if (cnt >= PT_MAX_TENSORS)
		return NULL;
	row = &r->tensors[cnt];
	row->arg = arg;
	row->dtype = 0;
	row->device_type = 0;
	row->ndim = n;
	row->value = kind;
	return row;
}

static __always_inline __u32 args_add_value(struct pt_thread *t, __u32 cnt, __u32 arg, __u32 kind,
					    __u64 value)
{
	struct pt_tensor *row = value_row(t, cnt, arg, kind, 1);

	if (!row)
		return cnt;
	row->dims[0] = value;
	return cnt + 1;
}

static __always_inline __u32 args_add_other(struct pt_thread *t, __u32 cnt, __u32 arg)
{
	return value_row(t, cnt, arg, PT_VALUE_OTHER, 0) ? cnt + 1 : cnt;
}

/* Adds n words of an array. */
static __always_inline __u32 args_add_words(struct pt_thread *t, __u32 cnt, __u32 arg, __u32 kind,
					    __u64 data, __u64 n)
{
	struct pt_tensor *row;

	if (n > PT_MAX_DIMS)
		return args_add_other(t, cnt, arg);
	row = value_row(t, cnt, arg, kind, n);
	if (!row)
		return cnt;
	barrier_var(n);
	if (n && n <= PT_MAX_DIMS &&
	    bpf_probe_read_user(row->dims, n * sizeof(row->dims[0]), (void *)data))
		return cnt;
	return cnt + 1;
}

static __always_inline __u32 args_add_bytes(struct pt_thread *t, __u32 cnt, __u32 arg, __u64 word,
					    __u32 n)
{
	struct pt_tensor *row = n > PT_MAX_DIMS ? NULL
						: value_row(t, cnt, arg, PT_VALUE_BOOLS, n);

	if (!row)
		return cnt;
	for (int i = 0; i < PT_MAX_DIMS; i++)
		row->dims[i] = word >> 8 * i & 0xff;
	return cnt + 1;
}

#define PT_SCALAR_DOUBLE 0
#define PT_SCALAR_INT	 1

/* Adds a c10::Scalar, which is a tag followed by the value. */
static __always_inline __u32 args_add_scalar(struct pt_thread *t, __u32 cnt, __u32 arg, __u64 at)
{
	__u32 tag = (__u32)read_u64(at), kind;
	__u64 value;

	if (!ctl.layout.scalar_value)
		return cnt;
	value = read_u64(at + ctl.layout.scalar_value);
	if (tag == PT_SCALAR_DOUBLE)
		kind = PT_VALUE_FLOAT;
	else if (tag == PT_SCALAR_INT)
		kind = PT_VALUE_INT;
	else if (tag == ctl.layout.scalar_bool)
		kind = PT_VALUE_BOOL;
	else
		return args_add_other(t, cnt, arg);
	return args_add_value(t, cnt, arg, kind, kind == PT_VALUE_BOOL ? value & 0xff : value);
}

#define PT_SCALAR_SIZE 32

/* Adds a number of a C++ call. `word` is in its slot, `next` in the next slot. */
static __always_inline __u32 args_add_number(struct pt_thread *t, __u32 cnt, __u32 arg, __u32 kind,
					     __u64 word, __u64 next)
{
	const bool flag_first = !ctl.layout.opt_tensor_flag;

	switch (kind) {
	case PT_ARG_INT:
		return args_add_value(t, cnt, arg, PT_VALUE_INT, word);
	case PT_ARG_BYTE:
		return args_add_value(t, cnt, arg, PT_VALUE_INT, (__s64)(__s8)word);
	case PT_ARG_BOOL:
		return args_add_value(t, cnt, arg, PT_VALUE_BOOL, word & 0xff);
	case PT_ARG_OPT_INT:
		if (!((flag_first ? word : next) & 0xff))
			return cnt;
		return args_add_value(t, cnt, arg, PT_VALUE_INT, flag_first ? next : word);
	case PT_ARG_OPT_BYTE:
	case PT_ARG_OPT_BOOL:
		if (!((flag_first ? word : word >> 8) & 0xff))
			return cnt;
		word = flag_first ? word >> 8 : word;
		if (kind == PT_ARG_OPT_BOOL)
			return args_add_value(t, cnt, arg, PT_VALUE_BOOL, word & 0xff);
		return args_add_value(t, cnt, arg, PT_VALUE_INT, (__s64)(__s8)word);
	case PT_ARG_INT_AT:
		return args_add_value(t, cnt, arg, PT_VALUE_INT, read_u64(word));
	case PT_ARG_OPT_INT_AT:
		if (!(read_u64(word + (flag_first ? 0 : 8)) & 0xff))
			return cnt;
		return args_add_value(t, cnt, arg, PT_VALUE_INT,
				      read_u64(word + (flag_first ? 8 : 0)));
	case PT_ARG_SCALAR:
		return args_add_scalar(t, cnt, arg, word);
	case PT_ARG_OPT_SCALAR:
		if (!(read_u64(word + (flag_first ? 0 : PT_SCALAR_SIZE)) & 0xff))
			return cnt;
		return args_add_scalar(t, cnt, arg, word + (flag_first ? 16 : 0));
	default:
		return cnt;
	}
}

/* Adds an argument of a C++ call that is no tensor. A global function is verified once, not at each
 * call. arg_kind: the argument's position, and from bit PT_ARG_KIND_AT on its kind. */
#define PT_ARG_KIND_AT 8
__weak __noinline int args_add_plain(struct pt_thread *t, __u32 cnt, __u32 arg_kind, __u64 word,
				     __u64 next)
{
	__u32 arg = arg_kind & 0xff, kind = arg_kind >> PT_ARG_KIND_AT;

	if (!t)
		return cnt;
	switch (kind & PT_ARG_KIND_MASK) {
	case PT_ARG_INTS:
	case PT_ARG_OPT_INTS:
		return args_add_words(t, cnt, arg, PT_VALUE_INTS, word, next);
	case PT_ARG_FLOATS:
	case PT_ARG_OPT_FLOATS:
		return args_add_words(t, cnt, arg, PT_VALUE_FLOATS, word, next);
	case PT_ARG_BOOLS:
		return args_add_bytes(t, cnt, arg, word, kind >> PT_ARG_CNT_SHIFT);
	default:
		return args_add_number(t, cnt, arg, kind & PT_ARG_KIND_MASK, word, next);
	}
}

/* ---- what C++ passes ---- */

#define PT_LIST_MAX	 30 /* longer lists are not described, as in Kineto */
#define PT_LIST_REF_TAG 16 /* of an IListRef: the kind of list; 0: an ArrayRef, at its begin */

/* Adds the tensors of a list. A global function is verified once, not at each call. */
__weak __noinline int args_add_list(struct pt_thread *t, __u32 cnt, __u64 data, __u64 len, __u32 arg)
{
	if (!t || len > PT_LIST_MAX)
		return cnt;
	for (__u32 i = 0; i < PT_LIST_MAX && i < len; i++)
		cnt = args_add(t, cnt, read_u64(data + 8 * (__u64)i), arg | PT_ARG_LISTED);
	return cnt;
}

/* Is there a list? The argument may be an optional<ArrayRef>. */
static __always_inline bool has_list(struct pt_regs *ctx, __u8 slot, __u64 data, __u64 len)
{
	if (!ctl.layout.opt_tensor_flag)
		return data || !len;
	return arg_word(ctx, slot + 2) & 0xff;
}

static __always_inline __u32 args_add_of_kind(struct pt_regs *ctx, struct pt_thread *t, __u32 cnt,
					      const struct pt_probe_cfg *cfg, __u32 i)
{
	const __u8 slot = cfg->arg_slot[i], kind = cfg->arg_kind[i], arg = cfg->arg_index[i];
	__u64 word, next = 0;
	__u8 tag = 1;

	if (kind == PT_ARG_TENSOR || kind == PT_ARG_OPT_TENSOR)
		return args_add(t, cnt, arg_tensor(ctx, slot, kind), arg);
	word = arg_word(ctx, slot);
	if (kind == PT_ARG_TENSORS_REF) {
		bpf_probe_read_user(&tag, sizeof(tag), (void *)(word + PT_LIST_REF_TAG));
		return tag ? cnt
			   : args_add_list(t, cnt, read_u64(word), read_u64(word + 8), arg);
	}
	if (kind == PT_ARG_OPT_INT || (kind & PT_ARG_KIND_MASK) >= PT_ARG_INTS ||
	    kind == PT_ARG_TENSORS)
		next = arg_word(ctx, slot + 1);
	if (kind == PT_ARG_TENSORS)
		return args_add_list(t, cnt, word, next, arg);
	if ((kind == PT_ARG_OPT_INTS || kind == PT_ARG_OPT_FLOATS) &&
	    !has_list(ctx, slot, word, next))
		return cnt;
	return args_add_plain(t, cnt, arg | (__u32)kind << PT_ARG_KIND_AT, word, next);
}

/* Reads the arguments from where the operator's C++ signature puts them. */
static __always_inline __u32 read_schema_args(struct pt_regs *ctx, struct pt_thread *t, __u32 row)
{
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	__u32 cnt = 0;

	for (__u32 i = 0; cfg && i < PT_MAX_ARGS && i < cfg->arg_cnt; i++)
		cnt = args_add_of_kind(ctx, t, cnt, cfg, i);
	return cnt;
}

#endif
