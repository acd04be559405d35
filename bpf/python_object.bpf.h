/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Objects of CPython 3.8 to 3.15: the offsets of their contents, and their texts and integers. */
#ifndef PROFTRACE_PYTHON_OBJECT_BPF_H
#define PROFTRACE_PYTHON_OBJECT_BPF_H

#include "maps.bpf.h"
#include "user_memory.bpf.h"

#define PT_PY_TYPE	  8   /* of any object */
#define PT_PY_SIZE	  16  /* list, tuple and dict: number of items; integer: sign */
#define PT_PY_VALUE	  24  /* list: address of its items; integer: digits */
#define PT_PY_FLOAT	  16
#define PT_PY_TYPE_FLAGS  168 /* type */
#define PT_PY_TYPE_BASE	  256
#define PT_PY_IS_LONG	  (1ull << 24)
#define PT_PY_IS_LIST	  (1ull << 25)
#define PT_PY_IS_TUPLE	  (1ull << 26)
#define PT_PY_DIGIT_BITS  30
#define PT_PY_STR_STATE 32 /* u32: interned 2 bits, kind 3, compact 1, ascii 1 */
#define PT_PY_STR_ASCII (1u << 6)
#define PT_PY_STR_UTF8	8 /* after the head of compact ASCII, in other strings: char *, if it was
			     requested */

/* The UTF-8 text of a Python str object, whose state was read. 0: it has none. */
static __always_inline __u64 python_utf8(__u64 str, __u32 state)
{
	const __u64 text = str + ctl.layout.python_str;

	return state & PT_PY_STR_ASCII ? text : read_u64(text + PT_PY_STR_UTF8);
}

/* The same; 0 also if unknown. */
static __always_inline __u64 python_text(__u64 str)
{
	__u32 state = 0;

	if (!ctl.layout.python_str ||
	    bpf_probe_read_user(&state, sizeof(state), (void *)(str + PT_PY_STR_STATE)))
		return 0;
	return python_utf8(str, state);
}

/* A Python integer of at most two digits. False: it has more. */
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

#endif
