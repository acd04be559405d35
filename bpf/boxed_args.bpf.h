/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Arguments that a boxed call of PyTorch has on its stack. */
#ifndef PROFTRACE_BOXED_ARGS_BPF_H
#define PROFTRACE_BOXED_ARGS_BPF_H

#include "args.bpf.h"

#define PT_IVALUE_BYTES	 16 /* the payload, followed by its tag */
#define PT_IVALUE_NONE	 0
#define PT_IVALUE_TENSOR 1
#define PT_IVALUE_DOUBLE 3
#define PT_IVALUE_INT	 5
#define PT_MAX_BOXED	 16 /* arguments of a boxed call that are read */
#define PT_IVALUE_LIST_AFTER_BOOL 4 /* distance of these tags, because Tuple, String and Blob are
				       between them */

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

/* Adds the values of a list in a boxed call, if all have the kind of the first. */
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

/* Adds an argument of a boxed call. */
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
 * Reads the arguments of a boxed call. They are the last elements of the stack, a
 * std::vector<IValue>, as many as the schema in the OperatorDef has.
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
