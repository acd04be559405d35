/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Reading what a function was given: registers, strings of both C++ ABIs, tensors. */
#ifndef PROFTRACE_ARGS_BPF_H
#define PROFTRACE_ARGS_BPF_H

#include "frames.bpf.h"

#define PT_REGS_SAVED 7 /* rdi rsi rdx rcx r8 r9, then the stack pointer */

static __always_inline __u64 read_u64(__u64 addr)
{
	__u64 v = 0;

	bpf_probe_read_user(&v, sizeof(v), (void *)addr);
	return v;
}

/* Argument word by slot: 0..5 integer registers, 6.. words on the stack (System V x86-64). */
static __always_inline __u64 arg_word(struct pt_regs *ctx, __u32 slot)
{
	switch (slot) {
	case 0:
		return ctx->di;
	case 1:
		return ctx->si;
	case 2:
		return ctx->dx;
	case 3:
		return ctx->cx;
	case 4:
		return ctx->r8;
	case 5:
		return ctx->r9;
	default:
		return read_u64(ctx->sp + 8 + 8 * (__u64)(slot - 6));
	}
}

/* A place that the call returns to and that is not known yet. */
static __always_inline void note_return(struct pt_regs *ctx, const struct pt_probe_cfg *cfg,
					__u32 row)
{
	__u64 place;

	if (!cfg->note_returns || bpf_get_current_pid_tgid() >> 32 != ctl.target_pid)
		return;
	place = read_u64(ctx->sp + cfg->rsp_shift);
	if (place && !bpf_map_lookup_elem(&returns, &place) &&
	    !bpf_map_update_elem(&returns, &place, &row, BPF_NOEXIST))
		__sync_fetch_and_add(&ctl.return_cnt, 1);
}

/* A std::string at addr into dst (PT_NAME_MAX bytes); returns its length, cut to what fits. */
static __always_inline __u32 read_string(__u64 addr, __u8 source, char *dst)
{
	__u64 data = addr, len = PT_NAME_MAX - 1;
	long n;

	if (source == PT_NAME_CXX11) {
		data = read_u64(addr);
		len = read_u64(addr + 8);
	} else if (source == PT_NAME_COW) {
		data = read_u64(addr);
		len = read_u64(data -
			       24); /* _Rep: length, capacity, refcount lie before the text */
	}
	n = bpf_probe_read_user_str(dst, PT_NAME_MAX, (void *)data);
	if (n <= 0)
		return 0;
	n--;
	return (__u64)n < len ? (__u32)n : (__u32)len;
}

/* Where the string of cfg.name_path is. */
static __always_inline __u64 name_address(struct pt_regs *ctx, const struct pt_probe_cfg *cfg)
{
	__u64 at = arg_word(ctx, cfg->name_reg);

	if (cfg->name_derefs > 0)
		at = read_u64(at + cfg->name_path[0]);
	if (cfg->name_derefs > 1)
		at = read_u64(at + cfg->name_path[1]);
	return at + cfg->name_path[cfg->name_derefs < 2 ? cfg->name_derefs : 2];
}

/* A domain and two colons into dst, which has room for PT_NAME_MAX; how many bytes. */
static __always_inline __u32 read_domain(__u64 addr, char *dst)
{
	long n = addr ? bpf_probe_read_user_str(dst, PT_DOMAIN_MAX, (void *)addr) : 0;
	__u32 len = n > 1 ? n - 1 : 0;

	if (!len || len > PT_DOMAIN_MAX)
		return 0;
	barrier_var(len);
	if (len > PT_DOMAIN_MAX)
		return 0;
	dst[len] = ':';
	dst[len + 1] = ':';
	return len + 2;
}

/* The name that a configuration leads to, with its domain if it has one; its length, 0: not read. */
static __always_inline __u32 read_name(struct pt_regs *ctx, const struct pt_probe_cfg *cfg, char *dst)
{
	__u64 name = name_address(ctx, cfg), domain;
	__u32 at;
	long n;

	if (!cfg->domain)
		return read_string(name, cfg->name_source, dst);
	domain = arg_word(ctx, cfg->domain - 1);
	if (cfg->name_source == PT_NAME_COW) {
		domain = read_u64(domain);
		name = read_u64(name);
	}
	at = read_domain(domain, dst);
	barrier_var(at);
	if (at > PT_DOMAIN_MAX + 2)
		return 0;
	n = bpf_probe_read_user_str(dst + at, PT_NAME_MAX - PT_DOMAIN_MAX - 2, (void *)name);
	return n > 1 ? at + (__u32)n - 1 : 0;
}

/* Where the string is that the object in cfg.name_reg has for a name; 0: not known of its class. */
static __always_inline __u64 class_name_address(struct pt_regs *ctx, const struct pt_probe_cfg *cfg)
{
	__u64 object = arg_word(ctx, cfg->name_reg), vtable = read_u64(object);

	for (int i = 0; i < PT_MAX_CLASSES; i++) {
		const struct pt_class_name *c = &ctl.layout.class_names[i];

		if (!c->vtable)
			break;
		if (c->vtable == vtable)
			return object + c->offset;
	}
	return 0;
}

static __always_inline void read_dims(struct pt_tensor *t, __u64 sizes)
{
	__u64 ndim = read_u64(sizes), data = sizes + 8;

	/* SizesAndStrides keeps up to 5 dimensions inline, else a pointer to them. */
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
	t->pad = 0;
	if (!impl)
		return;
	read_dims(t, impl + ctl.layout.tensor_sizes);
	bpf_probe_read_user(&dtype, sizeof(dtype), (void *)(impl + ctl.layout.tensor_dtype));
	t->dtype = dtype;
	bpf_probe_read_user(&t->device_type, 1, (void *)(impl + ctl.layout.tensor_device));
}

/* TensorImpl * behind argument `slot` of kind `kind`, 0 if there is none. */
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

/* Sends the cnt tensors that were read into the thread's scratch: those of frame f. */
static __always_inline void args_send(struct pt_thread *t, const struct pt_frame *f, __u32 cnt)
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
	if (bpf_ringbuf_output(&ring, r, size, BPF_RB_NO_WAKEUP))
		count_lost(&ctl.lost_ring);
}

/* TensorImpl * of a Python object, 0 if it is no tensor: its type or one of the type's bases is the
 * framework's tensor base. CPython 3.8 .. 3.13: ob_type at 8, tp_base at 256. */
static __always_inline __u64 python_tensor(__u64 obj)
{
	__u64 type = obj ? read_u64(obj + 8) : 0;

	for (int depth = 0; depth < 4 && type; depth++) {
		if (type == ctl.layout.python_tensor_type)
			return read_u64(obj + ctl.layout.python_tensor);
		type = read_u64(type + 256);
	}
	return 0;
}

/* A tensor into the thread's scratch behind the cnt that are there; how many there are then. */
static __always_inline __u32 args_add(struct pt_thread *t, __u32 cnt, __u64 impl, __u8 arg)
{
	struct pt_rec_args *r = (void *)t->scratch;

	barrier_var(cnt);
	if (cnt >= PT_MAX_TENSORS)
		return cnt;
	read_tensor(&r->tensors[cnt], impl, arg);
	return cnt + 1;
}

/* The tensors of a Python tuple, after the cnt that are there. CPython: size at 16, items from 24. */
static __always_inline __u32 read_python_tuple(struct pt_thread *t, __u32 cnt, __u64 tuple)
{
	__u64 item_cnt = tuple && ctl.layout.python_tensor_type ? read_u64(tuple + 16) : 0;
	__u32 position = cnt;

	for (__u32 i = 0; i < PT_MAX_TENSOR_ARGS - 1 && i < item_cnt; i++) {
		__u64 impl = python_tensor(read_u64(tuple + 24 + 8 * (__u64)i));

		if (impl)
			cnt = args_add(t, cnt, impl, position + i);
	}
	return cnt;
}

/* Arguments of a wrapper called with (self, tuple) or (self, other): self comes first if it is a
 * tensor. */
static __always_inline __u32 read_python_args(struct pt_regs *ctx, struct pt_thread *t, __u32 row)
{
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	__u64 self = python_tensor(ctx->di), other;
	__u32 cnt = 0;

	if (!cfg || !ctl.layout.python_tensor_type)
		return 0;
	if (self)
		cnt = args_add(t, cnt, self, 0);
	if (cfg->flags)
		return read_python_tuple(t, cnt, ctx->si);
	other = python_tensor(ctx->si);
	return other ? args_add(t, cnt, other, cnt) : cnt;
}

#define PT_LIST_MAX	 30 /* longer lists are not described: neither does Kineto */
#define PT_LIST_REF_TAG 16 /* of an IListRef: which kind of list; 0: an ArrayRef, at its begin */

/* The tensors of a list. A global function: it is verified once and not at each place. */
__weak __noinline int args_add_list(struct pt_thread *t, __u32 cnt, __u64 data, __u64 len, __u32 arg)
{
	if (!t || len > PT_LIST_MAX)
		return cnt;
	for (__u32 i = 0; i < PT_LIST_MAX && i < len; i++)
		cnt = args_add(t, cnt, read_u64(data + 8 * (__u64)i), arg | PT_ARG_LISTED);
	return cnt;
}

static __always_inline __u32 args_add_of_kind(struct pt_regs *ctx, struct pt_thread *t, __u32 cnt,
					      const struct pt_probe_cfg *cfg, __u32 i)
{
	const __u8 slot = cfg->arg_slot[i], kind = cfg->arg_kind[i], arg = cfg->arg_index[i];
	__u64 list;
	__u8 tag = 1;

	if (kind == PT_ARG_TENSORS)
		return args_add_list(t, cnt, arg_word(ctx, slot), arg_word(ctx, slot + 1), arg);
	if (kind != PT_ARG_TENSORS_REF)
		return args_add(t, cnt, arg_tensor(ctx, slot, kind), arg);
	list = arg_word(ctx, slot);
	bpf_probe_read_user(&tag, sizeof(tag), (void *)(list + PT_LIST_REF_TAG));
	return tag ? cnt : args_add_list(t, cnt, read_u64(list), read_u64(list + 8), arg);
}

/* Arguments where the C++ signature of the operator puts them. */
static __always_inline __u32 read_schema_args(struct pt_regs *ctx, struct pt_thread *t, __u32 row)
{
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	__u32 cnt = 0;

	for (__u32 i = 0; cfg && i < PT_MAX_TENSOR_ARGS && i < cfg->tensor_cnt; i++)
		cnt = args_add_of_kind(ctx, t, cnt, cfg, i);
	return cnt;
}

#define PT_IVALUE_BYTES	 16 /* payload, then its tag */
#define PT_IVALUE_TENSOR 1
#define PT_MAX_BOXED	 16 /* arguments of a boxed call that are looked at */

/*
 * Arguments of a boxed call: the last ones on the stack, a std::vector<IValue>, as many as the
 * schema in the OperatorDef has. The last one is told even if it is no tensor: so many there are.
 */
static __always_inline __u32 read_boxed_args(struct pt_thread *t, __u64 def, __u64 stack)
{
	__u64 schema = def + ctl.layout.schema_args, size = ctl.layout.argument_size;
	__u64 ivalue[2] = {}, n, at;
	__u32 cnt = 0;

	if (!size)
		return 0;
	n = (read_u64(schema + 8) - read_u64(schema)) / size;
	at = read_u64(stack + 8) - n * PT_IVALUE_BYTES;
	if (at < read_u64(stack))
		return 0;
	for (__u32 i = 0; i < PT_MAX_BOXED && i < n; i++, at += PT_IVALUE_BYTES) {
		if (bpf_probe_read_user(ivalue, sizeof(ivalue), (void *)at))
			break;
		if ((__u32)ivalue[1] == PT_IVALUE_TENSOR || i + 1 == n)
			cnt = args_add(t, cnt, (__u32)ivalue[1] == PT_IVALUE_TENSOR ? ivalue[0] : 0, i);
	}
	return cnt;
}

#endif
