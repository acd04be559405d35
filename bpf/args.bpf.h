/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Reading what a function was given: registers, strings of both C++ ABIs, tensors. */
#ifndef PROFTRACE_ARGS_BPF_H
#define PROFTRACE_ARGS_BPF_H

#include "frames.bpf.h"
#include "user_memory.bpf.h"

#define PT_REGS_SAVED 7 /* rdi rsi rdx rcx r8 r9, then the stack pointer */

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

#define PT_PY_STR_STATE 32 /* u32: interned 2 bits, kind 3, compact 1, ascii 1 */
#define PT_PY_STR_ASCII (1u << 6)
#define PT_PY_STR_UTF8	8 /* of others, behind the head of compact ASCII: char *, if it was asked for */

/* The UTF-8 of a Python str object whose state was read, 0: it has none. */
static __always_inline __u64 python_utf8(__u64 str, __u32 state)
{
	const __u64 text = str + ctl.layout.python_str;

	return state & PT_PY_STR_ASCII ? text : read_u64(text + PT_PY_STR_UTF8);
}

/* The same, 0 also: not known. */
static __always_inline __u64 python_text(__u64 str)
{
	__u32 state = 0;

	if (!ctl.layout.python_str ||
	    bpf_probe_read_user(&state, sizeof(state), (void *)(str + PT_PY_STR_STATE)))
		return 0;
	return python_utf8(str, state);
}

#define PT_PAGE	      4096
#define PT_TEXT_SHORT 64 /* bytes, NUL included */

struct name_text {
	char text[PT_NAME_MAX];
};

static __always_inline bool has_nul(__u64 word)
{
	return (word - 0x0101010101010101ull) & ~word & 0x8080808080808080ull;
}

/* A short string whose length is known into dst; false: it is another one, or may go on in a page that is
 * not there. What comes behind it is read, too: a constant length, and into the program's own stack, which is
 * in the caches where dst seldom is. A global function: the verifier follows it once. */
__weak __noinline int read_short(struct name_text *dst, __u64 data, __u64 len)
{
	__u64 words[PT_TEXT_SHORT / 8];

	if (!dst || len >= PT_TEXT_SHORT || data % PT_PAGE > PT_PAGE - PT_TEXT_SHORT ||
	    bpf_probe_read_user(words, sizeof(words), (void *)data))
		return false;
	for (__u32 i = 0; i < PT_TEXT_SHORT / 8; i++) {
		__u64 word = words[i], left = len - 8 * i;

		((__u64 *)dst->text)[i] = word;
		if (left < 8)
			return !has_nul(word | ~0ull << 8 * left);
		if (has_nul(word))
			return false;
	}
	return false;
}

/* A string at addr into dst (PT_NAME_MAX bytes); returns its length, cut to what fits. */
static __always_inline __u32 read_string(__u64 addr, __u8 source, char *dst)
{
	__u64 data = addr, len = PT_NAME_MAX - 1, head[2] = {};
	long n;

	if (source == PT_NAME_CXX11) {
		bpf_probe_read_user(head, sizeof(head), (void *)addr);
		data = head[0];
		len = head[1];
		if (read_short((struct name_text *)dst, data, len))
			return len;
	} else if (source == PT_NAME_COW) {
		data = read_u64(addr);
		len = read_u64(data -
			       24); /* _Rep: length, capacity, refcount lie before the text */
		if (read_short((struct name_text *)dst, data, len))
			return len;
	} else if (source == PT_NAME_PYTHON) {
		data = python_text(addr);
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
	t->value = PT_VALUE_NONE;
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

/* ---- arguments that are no tensors ---- */

/* A row for n values, or with n 0 for what is not described; NULL: there is no room. */
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

/* n words of an array. */
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

/* c10::Scalar: a tag, then the value. */
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

/* A number of a C++ call: `word` is what its slot has, `next` what the next one has. */
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

/* An argument of a C++ call that is no tensor. A global function: it is verified once and not at
 * each place. arg_kind: the argument's position, and from PT_ARG_KIND_AT on its kind. */
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

/* ---- what Python passes ---- */

/* CPython 3.8 to 3.15. */
#define PT_PY_TYPE	  8   /* object */
#define PT_PY_SIZE	  16  /* list, tuple; of a dict how many items; of an integer its sign */
#define PT_PY_VALUE	  24  /* list: address of its items; integer: digits */
#define PT_PY_FLOAT	  16
#define PT_PY_TYPE_FLAGS  168 /* type */
#define PT_PY_TYPE_BASE	  256
#define PT_PY_IS_LONG	  (1ull << 24)
#define PT_PY_IS_LIST	  (1ull << 25)
#define PT_PY_IS_TUPLE	  (1ull << 26)
#define PT_PY_DIGIT_BITS  30

/* TensorImpl * of a Python object, 0 if it is no tensor: its type or one of the type's bases is the
 * framework's tensor base. */
static __always_inline __u64 python_tensor(__u64 obj)
{
	__u64 type = obj ? read_u64(obj + PT_PY_TYPE) : 0;

	for (int depth = 0; depth < 4 && type; depth++) {
		if (type == ctl.layout.python_tensor_type)
			return read_u64(obj + ctl.layout.python_tensor);
		type = read_u64(type + PT_PY_TYPE_BASE);
	}
	return 0;
}

/* A Python integer of two digits at most; false: it has more. */
static __always_inline bool python_integer(__u64 obj, __s64 *value)
{
	__u64 head = read_u64(obj + PT_PY_SIZE), digits = read_u64(obj + PT_PY_VALUE), cnt;
	bool negative;

	if (ctl.layout.python_long_tag) {
		cnt = head >> 3;
		negative = (head & 3) == 2;
	} else {
		negative = (__s64)head < 0;
		cnt = negative ? -head : head;
	}
	if (cnt > 2)
		return false;
	*value = cnt ? digits & ((1ull << PT_PY_DIGIT_BITS) - 1) : 0;
	if (cnt == 2)
		*value |= (__s64)(digits >> 32 << PT_PY_DIGIT_BITS);
	if (negative)
		*value = -*value;
	return true;
}

/* A list or tuple of integers. */
static __always_inline __u32 args_add_integers(struct pt_thread *t, __u32 cnt, __u32 arg,
					       __u64 items, __u64 n)
{
	struct pt_tensor *row = n > PT_MAX_DIMS ? NULL : value_row(t, cnt, arg, PT_VALUE_INTS, n);

	if (!row)
		return args_add_other(t, cnt, arg);
	for (__u32 i = 0; i < PT_MAX_DIMS && i < n; i++) {
		__u64 obj = read_u64(items + 8 * (__u64)i), type = read_u64(obj + PT_PY_TYPE);
		__s64 value = 0;

		if (type == ctl.layout.python_bool_type ||
		    !(read_u64(type + PT_PY_TYPE_FLAGS) & PT_PY_IS_LONG) ||
		    !python_integer(obj, &value))
			return args_add_other(t, cnt, arg);
		row->dims[i] = value;
	}
	return cnt + 1;
}

static __always_inline __u32 args_add_integer(struct pt_thread *t, __u32 cnt, __u32 arg, __u64 obj,
					      bool truth)
{
	__s64 value = 0;

	if (!python_integer(obj, &value))
		return args_add_other(t, cnt, arg);
	return args_add_value(t, cnt, arg, truth ? PT_VALUE_BOOL : PT_VALUE_INT, value);
}

/* An argument that Python passes, of any type. */
__weak __noinline int args_add_python(struct pt_thread *t, __u32 cnt, __u64 obj, __u32 arg)
{
	__u64 type = obj ? read_u64(obj + PT_PY_TYPE) : 0, flags, impl;

	if (!t || !type)
		return cnt;
	if (type == ctl.layout.python_tensor_type)
		return args_add(t, cnt, read_u64(obj + ctl.layout.python_tensor), arg);
	flags = ctl.layout.python_bool_type ? read_u64(type + PT_PY_TYPE_FLAGS) : 0;
	if (flags & PT_PY_IS_LONG)
		return args_add_integer(t, cnt, arg, obj, type == ctl.layout.python_bool_type);
	if (flags & PT_PY_IS_TUPLE)
		return args_add_integers(t, cnt, arg, obj + ctl.layout.python_tuple,
					 read_u64(obj + PT_PY_SIZE));
	if (flags & PT_PY_IS_LIST)
		return args_add_integers(t, cnt, arg, read_u64(obj + PT_PY_VALUE),
					 read_u64(obj + PT_PY_SIZE));
	if (flags && type == ctl.layout.python_float_type)
		return args_add_value(t, cnt, arg, PT_VALUE_FLOAT, read_u64(obj + PT_PY_FLOAT));
	impl = python_tensor(obj);
	return impl ? args_add(t, cnt, impl, arg) : args_add_other(t, cnt, arg);
}

/* The arguments in a Python tuple, after the cnt that are there. */
static __always_inline __u32 read_python_tuple(struct pt_thread *t, __u32 cnt, __u64 tuple)
{
	const __u64 items = ctl.layout.python_tensor_type ? ctl.layout.python_tuple : 0;
	__u64 item_cnt = tuple && items ? read_u64(tuple + PT_PY_SIZE) : 0;
	__u32 position = cnt;

	for (__u32 i = 0; i < PT_MAX_ARGS - 1 && i < item_cnt; i++)
		cnt = args_add_python(t, cnt, read_u64(tuple + items + 8 * (__u64)i),
				      position + i);
	return cnt;
}

/* Says of arguments in a dict (0: there is none) that there are some. */
static __always_inline __u32 note_keywords(struct pt_thread *t, __u32 cnt, __u64 dict)
{
	if (!dict || !read_u64(dict + PT_PY_SIZE) ||
	    !value_row(t, cnt, 0, PT_VALUE_KEYWORDS, 0))
		return cnt;
	return cnt + 1;
}

/* Arguments of a wrapper called with (self, tuple, dict) or (self, other): self comes first if it is
 * a tensor. */
static __always_inline __u32 read_python_args(struct pt_regs *ctx, struct pt_thread *t, __u32 row)
{
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	__u64 self = python_tensor(ctx->di);
	__u32 cnt = 0;

	if (!cfg || !ctl.layout.python_tensor_type)
		return 0;
	if (self)
		cnt = args_add(t, cnt, self, 0);
	if (!cfg->flags)
		return args_add_python(t, cnt, ctx->si, cnt);
	cnt = read_python_tuple(t, cnt, ctx->si);
	return note_keywords(t, cnt, ctx->dx);
}

/* ---- what C++ passes ---- */

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

/* Is there a list, in an optional one? */
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

/* Arguments where the C++ signature of the operator puts them. */
static __always_inline __u32 read_schema_args(struct pt_regs *ctx, struct pt_thread *t, __u32 row)
{
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	__u32 cnt = 0;

	for (__u32 i = 0; cfg && i < PT_MAX_ARGS && i < cfg->arg_cnt; i++)
		cnt = args_add_of_kind(ctx, t, cnt, cfg, i);
	return cnt;
}

/* ---- what a boxed call has on its stack ---- */

#define PT_IVALUE_BYTES	 16 /* payload, then its tag */
#define PT_IVALUE_NONE	 0
#define PT_IVALUE_TENSOR 1
#define PT_IVALUE_DOUBLE 3
#define PT_IVALUE_INT	 5
#define PT_MAX_BOXED	 16 /* arguments of a boxed call that are looked at */
#define PT_IVALUE_LIST_AFTER_BOOL 4 /* between their tags: Tuple, String, Blob */

/* enum pt_value_kind */
static __always_inline __u32 ivalue_kind(__u32 tag)
{
	if (tag == PT_IVALUE_DOUBLE)
		return PT_VALUE_FLOAT;
	if (tag == PT_IVALUE_INT)
		return PT_VALUE_INT;
	if (ctl.layout.ivalue_bool && tag == ctl.layout.ivalue_bool)
		return PT_VALUE_BOOL;
	return PT_VALUE_OTHER;
}

/* A list of a boxed call: its values, if they are of the first one's kind. */
static __always_inline __u32 args_add_ivalues(struct pt_thread *t, __u32 cnt, __u32 arg, __u64 list)
{
	__u64 at = read_u64(list + ctl.layout.list_values), ivalue[2] = {};
	__u64 n = (read_u64(list + ctl.layout.list_values + 8) - at) / PT_IVALUE_BYTES;
	struct pt_tensor *row = n > PT_MAX_DIMS ? NULL : value_row(t, cnt, arg, PT_VALUE_INTS, n);
	__u32 kind;

	if (!row)
		return args_add_other(t, cnt, arg);
	for (__u32 i = 0; i < PT_MAX_DIMS && i < n; i++, at += PT_IVALUE_BYTES) {
		bpf_probe_read_user(ivalue, sizeof(ivalue), (void *)at);
		kind = ivalue_kind((__u32)ivalue[1]);
		if (kind == PT_VALUE_OTHER)
			return args_add_other(t, cnt, arg);
		row->value = kind + PT_VALUE_INTS - PT_VALUE_INT;
		row->dims[i] = kind == PT_VALUE_BOOL ? ivalue[0] & 0xff : ivalue[0];
	}
	return cnt + 1;
}

/* An argument of a boxed call. */
__weak __noinline int args_add_ivalue(struct pt_thread *t, __u32 cnt, __u64 payload, __u32 tag,
				      __u32 arg)
{
	__u32 kind = ivalue_kind(tag);

	if (!t)
		return cnt;
	if (tag == PT_IVALUE_TENSOR)
		return args_add(t, cnt, payload, arg);
	if (ctl.layout.ivalue_bool && tag == ctl.layout.ivalue_bool + PT_IVALUE_LIST_AFTER_BOOL)
		return args_add_ivalues(t, cnt, arg, payload);
	if (tag == PT_IVALUE_NONE || kind == PT_VALUE_OTHER)
		return args_add_other(t, cnt, arg);
	return args_add_value(t, cnt, arg, kind, kind == PT_VALUE_BOOL ? payload & 0xff : payload);
}

/*
 * Arguments of a boxed call: the last ones on the stack, a std::vector<IValue>, as many as the
 * schema in the OperatorDef has.
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
		cnt = args_add_ivalue(t, cnt, ivalue[0], (__u32)ivalue[1], i);
	}
	return cnt;
}

#endif
