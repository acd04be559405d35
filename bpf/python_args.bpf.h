/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Arguments that Python passes: singly, in tuples and in dicts. */
#ifndef PROFTRACE_PYTHON_ARGS_BPF_H
#define PROFTRACE_PYTHON_ARGS_BPF_H

#include "args.bpf.h"
#include "python_object.bpf.h"

/* TensorImpl * of a Python object. 0: it is no tensor: neither its type nor a base of that is the
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

/* Adds a list or tuple of integers. */
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

/* Adds an argument of any type that Python passes. */
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

/* Adds the arguments in a Python tuple to the cnt before. */
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

/* Notes that there are arguments in a dict (0: there is no dict). */
static __always_inline __u32 note_keywords(struct pt_thread *t, __u32 cnt, __u64 dict)
{
	if (!dict || !read_u64(dict + PT_PY_SIZE) ||
	    !value_row(t, cnt, 0, PT_VALUE_KEYWORDS, 0))
		return cnt;
	return cnt + 1;
}

/* Arguments of a wrapper that is called with (self, tuple, dict) or (self, other). self comes first
 * if it is a tensor. */
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

#endif
