/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * The table of probes, indexed by the attach cookie: how a program handles hits, and its counts.
 * Shared by both sides.
 */
#ifndef PROFTRACE_PROBE_CFG_H
#define PROFTRACE_PROBE_CFG_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define PT_MAX_PROBES	  8192 /* rows of the probe table; a cookie is a row's index */
#define PT_DOMAIN_MAX	  46   /* bytes of a domain before a name */
#define PT_MAX_ARGS	  16   /* arguments of a function that are described */
#define PT_MAX_ADDRESSES  262144 /* probes that share events, in all targets */

/* A cookie of this size or more stands for several probes. Its low half names the event. The
 * address of the hit leads to the row. */
#define PT_COOKIE_BY_ADDRESS (1ull << 32)

struct pt_address {
	__u64 ip;
	__u32 event;
	__u32 pad;
};

/* How a probe's program handles a hit: one row per cookie, written before attach. */
enum pt_name_source {
	PT_NAME_STATIC = 0,
	PT_NAME_CXX11 = 1,
	PT_NAME_COW = 2,
	PT_NAME_CSTR = 3,
	PT_NAME_PYTHON = 4, /* a str object */
};

/* cfg.flags of call_site_result: the result, a tensor or a vector of them, is cfg.code bytes after
 * the address in rdi at the entry */
#define PT_RESULT_TENSOR  1
#define PT_RESULT_TENSORS 2

/* cfg.flags of phase_entry and batch_site, for a call of the data loader: the argument in key_reg
 * is a vector or an unordered_map that gets the batch */
#define PT_BATCH_IN_VECTOR 1
#define PT_BATCH_IN_MAP	   2

/* cfg.flags of node_entry: a probe of GROUP_NODE_TYPE */
#define PT_NODE_OF_TYPE 1

/* cfg.flags of named_entry */
#define PT_NAMED_OUTERMOST 1
#define PT_NAMED_BY_CLASS  2 /* cfg.name_reg holds an object, see pt_layout.class_names */
#define PT_NAMED_IN_FULL   4 /* its caller may have a longer name, see struct pt_full_name */
#define PT_NAMED_BY_CALL 8 /* the call gives the name; without one: PT_UNNAMED */
#define PT_UNNAMED	   '?'

/* cfg.flags of object_entry: cfg.key_reg holds the object itself */
#define PT_KEY_IS_OBJECT 1

/* Optional numbers are a value and a flag, or, if the layout has opt_tensor_flag 0, a flag and a
 * value. A floating point number passed by value is in a register that no probe can read. */
enum pt_arg_kind {
	PT_ARG_NONE = 0,
	PT_ARG_TENSOR,
	PT_ARG_OPT_TENSOR,
	PT_ARG_TENSORS,	    /* ArrayRef<Tensor>: the slot has the address, the next slot the
			       count */
	PT_ARG_TENSORS_REF, /* const IListRef<Tensor> & */
	PT_ARG_INT,	    /* 64 bits */
	PT_ARG_BYTE,	    /* an integer of 8 bits with sign */
	PT_ARG_BOOL,
	PT_ARG_OPT_INT, /* takes two slots */
	PT_ARG_OPT_BYTE,
	PT_ARG_OPT_BOOL,
	PT_ARG_INT_AT, /* the address of a 64-bit integer */
	PT_ARG_OPT_INT_AT,
	PT_ARG_SCALAR, /* the address of a number of any type */
	PT_ARG_OPT_SCALAR,
	PT_ARG_INTS, /* ArrayRef, like that of tensors */
	PT_ARG_FLOATS,
	PT_ARG_OPT_INTS, /* with a third slot for the flag, or an ArrayRef at 0 that is not empty */
	PT_ARG_OPT_FLOATS,
	PT_ARG_BOOLS, /* in the slot's bytes; their number in the bits from PT_ARG_CNT_SHIFT on */
};
#define PT_ARG_CNT_SHIFT 5
#define PT_ARG_KIND_MASK ((1 << PT_ARG_CNT_SHIFT) - 1)

/* What a call of a device's interface does. */
enum pt_call_class {
	PT_CALL_OTHER = 0,
	PT_CALL_LAUNCH,
	PT_CALL_COPY,
	PT_CALL_SET,
	PT_CALL_ALLOC, /* its first argument points to where the block's address is put */
	PT_CALL_FREE,
	PT_CALL_SYNC,
};
#define PT_CALL_GIVES_WORK(call_class)                                                             \
	((call_class) == PT_CALL_LAUNCH || (call_class) == PT_CALL_COPY ||                         \
	 (call_class) == PT_CALL_SET)

/* Where a call has its arguments, as slot + 1; 0: it has none. Slots 0..5 are registers, 6..8 words
 * on the stack. */
struct pt_call_cfg {
	__u8 call_class; /* enum pt_call_class */
	__u8 object;	 /* see struct pt_span */
	__u8 bytes;	 /* the bytes are this ... */
	__u8 rows;	 /* ... times `rows`, of a copy or set in two dimensions, ... */
	__u8 scale;	 /* ... times scale: bytes of an element, 0: 1 */
	__u8 stream;
	__u8 copy;	 /* slot of the copy's kind, or ... */
	__u8 copy_kind;	 /* ... without a slot its kind */
	__u8 config;	 /* slot of a launch configuration, which has the stream */
	__u8 extent_cnt; /* `bytes` is a structure with so many factors, from extent_at on */
	__u16 extent_at;
	__u32 pad;
};

/* Where a mark has its data: slots as in struct pt_call_cfg, 0: none. */
struct pt_mark_cfg {
	__u8 op;    /* enum pt_mark_op */
	__u8 value; /* for a counter */
	__u8 base;  /* ADD: object with the value so far, at base_at; the mark becomes a SET */
	__u8 scope; /* INSTANT: a character, or ... */
	__u8 scope_is_text; /* ... the text that begins with it */
	__u8 pad;
	__u16 base_at;
};

#define PT_KEY_OWN 0xff /* key_reg of ranges that nest among themselves, regardless of other
			   ranges */

/* Which spans of a row have the stack of Python that called them. */
enum pt_stack_of {
	PT_STACK_NONE = 0,
	PT_STACK_EACH,	    /* every span that Python calls */
	PT_STACK_OUTERMOST, /* spans that are in no other one, and in no backward node */
};

struct pt_probe_cfg {
	__u8 name_source;		/* enum pt_name_source */
	__u8 name_reg;			/* argument register that leads to the name, 0..5 */
	__u8 key_reg;			/* argument register that identifies the object, 0..5 */
	__u8 arg_cnt;			/* number of arguments to describe */
	__u8 arg_slot[PT_MAX_ARGS];	/* 0..5 registers, 6.. stack words */
	__u8 arg_kind[PT_MAX_ARGS];	/* enum pt_arg_kind */
	__u8 arg_index[PT_MAX_ARGS];	/* position in the schema */
	__u32 code;			/* its meaning depends on the program */
	__u32 flags;
	__u16 name_path[3]; /* offsets from the register to the string, see name_derefs */
	__u16 name_derefs;  /* so many of the offsets lead to a pointer; the next one leads to
			       the string */
	__u16 rsp_shift;    /* by how many bytes rsp is lower at the probe than at the entry */
	__u8 note_returns;  /* 1: return addresses of calls are put into the map `returns` */
	__u8 stack;	    /* enum pt_stack_of */
	__u32 place; /* bits of enum pt_place */
	/* 1 + slot of the name's prefix; 0: there is none. The slot holds a text (COW: a string), a
	 * domain with its text at domain_text, or an object with a pointer to a domain at
	 * domain_at. */
	__u8 domain;
	__u8 domain_text;
	__u16 domain_at;
	/* For named_entry and storage: 1 + slot that leads to an object which a later call also
	 * has; 0: none. link_derefs pointers are followed, each at offset link_at. */
	__u8 link;
	__u8 link_derefs;
	__u16 link_at;
	struct pt_call_cfg call; /* only for device_call_entry */
	struct pt_mark_cfg mark; /* only for mark */
};

/* The place of a function's span in the tables. */
enum pt_place {
	PT_HOLDS_OPERATORS = 1, /* operators inside are parts of it, and have no row */
	PT_MAY_BE_INNER = 2,	/* it is such a part itself, if it lies in a function that holds
				   operators */
	PT_MAY_MISS_END = 4,	/* its probes may be changed while it runs */
};

/* Counts of one probe, per CPU. The loader sums them for costs, pruning and doctor. */
struct pt_probe_stat {
	__u64 hits;
	__u64 spans;
	__u64 span_ns;	/* sum of durations, including the cost of probes, but not waits for a
			   processor */
	__u64 clipped_ns; /* the same, with each at most ctl.clip_ns */
	__u64 long_spans; /* number of spans that were longer */
	__u64 inner;	/* number of spans inside another that has a row in the operator table */
	__u64 inner_ns; /* their part of span_ns */
	__u64 before_ns; /* for a type of backward nodes: time between the begins of nodes and of
			    their spans */
	__u64 launches; /* device launches inside */
	__u64 ends;	/* spans that ended with another function's return (callee_end) */
	__u64 callers;	/* rows of its callers (caller_entry), modulo 64, a bit each */
	__u64 outer;	/* CALL: 1 + row of a call around it that has no span; 0: none */
};

#endif
