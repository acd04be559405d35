/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * The table of probes, indexed by the attach cookie: how a probe's program treats a hit, and what it
 * counted of them. Shared by both sides.
 */
#ifndef PROFTRACE_PROBE_CFG_H
#define PROFTRACE_PROBE_CFG_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define PT_MAX_PROBES	  8192 /* rows of the probe table; cookie is the row's index */
#define PT_DOMAIN_MAX	  46   /* bytes of what goes before it */
#define PT_MAX_ARGS	  16   /* arguments of a function that are described */
#define PT_MAX_ADDRESSES  262144 /* probes that share events with others, in all targets */

/* A cookie of this size or more stands for many probes. Its low half names the event. The address
 * of the hit finds the row. */
#define PT_COOKIE_BY_ADDRESS (1ull << 32)

struct pt_address {
	__u64 ip;
	__u32 event;
	__u32 pad;
};

/* How a probe's program treats a hit: one row per cookie, written before attach. */
enum pt_name_source {
	PT_NAME_STATIC = 0,
	PT_NAME_CXX11 = 1,
	PT_NAME_COW = 2,
	PT_NAME_CSTR = 3,
	PT_NAME_PYTHON = 4, /* a str object */
};

/* cfg.flags of call_site_result: cfg.code bytes behind what rdi was at the entry lies the result, a
 * tensor or a vector of them */
#define PT_RESULT_TENSOR  1
#define PT_RESULT_TENSORS 2

/* cfg.flags of phase_entry and batch_site, a call of the data loader: the argument in key_reg is a vector,
 * or an unordered_map, that gets the batch */
#define PT_BATCH_IN_VECTOR 1
#define PT_BATCH_IN_MAP	   2

/* cfg.flags of node_entry: one of GROUP_NODE_TYPE's */
#define PT_NODE_OF_TYPE 1

/* cfg.flags of named_entry */
#define PT_NAMED_OUTERMOST 1
#define PT_NAMED_BY_CLASS  2 /* cfg.name_reg holds an object, see pt_layout.class_names */
#define PT_NAMED_IN_FULL   4 /* its caller may have a longer name for it, see struct pt_full_name */
#define PT_NAMED_BY_CALL 8 /* it has none: PT_UNNAMED */
#define PT_UNNAMED	   '?'

/* cfg.flags of object_entry: cfg.key_reg holds the object itself */
#define PT_KEY_IS_OBJECT 1

/* Optionals of numbers are the value and a flag, or with a layout that has opt_tensor_flag 0 the
 * flag and the value. A floating point number by value is in a register that no probe sees. */
enum pt_arg_kind {
	PT_ARG_NONE = 0,
	PT_ARG_TENSOR,
	PT_ARG_OPT_TENSOR,
	PT_ARG_TENSORS,	    /* ArrayRef<Tensor>: the slot has the address, the next one how many */
	PT_ARG_TENSORS_REF, /* const IListRef<Tensor> & */
	PT_ARG_INT,	    /* of 64 bits */
	PT_ARG_BYTE,	    /* an integer of 8 bits, with its sign */
	PT_ARG_BOOL,
	PT_ARG_OPT_INT, /* two slots */
	PT_ARG_OPT_BYTE,
	PT_ARG_OPT_BOOL,
	PT_ARG_INT_AT, /* the address of one of 64 bits */
	PT_ARG_OPT_INT_AT,
	PT_ARG_SCALAR, /* the address of a number of any type */
	PT_ARG_OPT_SCALAR,
	PT_ARG_INTS, /* ArrayRef, as of tensors */
	PT_ARG_FLOATS,
	PT_ARG_OPT_INTS, /* with a third slot for the flag, or as an ArrayRef at 0 that is not empty */
	PT_ARG_OPT_FLOATS,
	PT_ARG_BOOLS, /* in the slot's bytes; how many in the bits from PT_ARG_CNT_SHIFT on */
};
#define PT_ARG_CNT_SHIFT 5
#define PT_ARG_KIND_MASK ((1 << PT_ARG_CNT_SHIFT) - 1)

/* What a call of a device's interface does. */
enum pt_call_class {
	PT_CALL_OTHER = 0,
	PT_CALL_LAUNCH,
	PT_CALL_COPY,
	PT_CALL_SET,
	PT_CALL_ALLOC, /* its first argument points to where the block's address goes */
	PT_CALL_FREE,
	PT_CALL_SYNC,
};
#define PT_CALL_GIVES_WORK(call_class)                                                             \
	((call_class) == PT_CALL_LAUNCH || (call_class) == PT_CALL_COPY ||                         \
	 (call_class) == PT_CALL_SET)

/* Where a call has its arguments: slots, 0..5 registers, 6..8 words on the stack, each 1 higher
 * here, 0 if it has none. */
struct pt_call_cfg {
	__u8 call_class; /* enum pt_call_class */
	__u8 object;	 /* see struct pt_span */
	__u8 bytes;	 /* ... times `rows` times scale */
	__u8 rows;	 /* of a copy or set in two dimensions */
	__u8 scale;	 /* bytes of an element, 0: 1 */
	__u8 stream;
	__u8 copy;	 /* slot of the copy's kind ... */
	__u8 copy_kind;	 /* ... or without one its kind */
	__u8 config;	 /* slot of a launch configuration, in which the stream is */
	__u8 extent_cnt; /* bytes is a structure with as many factors, from extent_at on */
	__u16 extent_at;
	__u32 pad;
};

/* Where a mark has what: slots as in struct pt_call_cfg, 0 if it has none. */
struct pt_mark_cfg {
	__u8 op;    /* enum pt_mark_op */
	__u8 value; /* of a counter */
	__u8 base;  /* ADD: object that holds the value so far, at base_at; makes it a SET */
	__u8 scope; /* INSTANT: a character ... */
	__u8 scope_is_text; /* ... or the text that begins with it */
	__u8 pad;
	__u16 base_at;
};

#define PT_KEY_OWN 0xff /* key_reg of ranges that nest among themselves, whatever others do */

/* Which spans of a row have the stack of Python that called them. */
enum pt_stack_of {
	PT_STACK_NONE = 0,
	PT_STACK_EACH,	    /* those that Python calls */
	PT_STACK_OUTERMOST, /* those that are in no other one, and in no backward node */
};

struct pt_probe_cfg {
	__u8 name_source;		/* enum pt_name_source */
	__u8 name_reg;			/* argument register that leads to the name, 0..5 */
	__u8 key_reg;			/* argument register that identifies the object, 0..5 */
	__u8 arg_cnt;			/* arguments to describe */
	__u8 arg_slot[PT_MAX_ARGS];	/* 0..5 registers, 6.. stack words */
	__u8 arg_kind[PT_MAX_ARGS];	/* enum pt_arg_kind */
	__u8 arg_index[PT_MAX_ARGS];	/* position in the schema */
	__u32 code;			/* meaning belongs to the program that reads it */
	__u32 flags;
	__u16 name_path[3]; /* from the register to the string: offsets, see name_derefs */
	__u16 name_derefs;  /* of the offsets so many lead to a pointer; the next to the string */
	__u16 rsp_shift;    /* bytes by which rsp is lower at the probe than at the entry */
	__u8 note_returns;  /* 1: where calls return to goes to the map `returns` */
	__u8 stack;	    /* enum pt_stack_of */
	__u32 place; /* bits of enum pt_place */
	/* 1 + the slot of the name's prefix; 0: no prefix. The slot holds a text (COW: string), a
	 * domain whose text lies at domain_text, or an object that may point to a domain at
	 * domain_at. */
	__u8 domain;
	__u8 domain_text;
	__u16 domain_at;
	/* Of named_entry and storage: 1 + the slot that leads to an object which a later call has, too;
	 * 0: none. link_derefs pointers are followed, each link_at bytes in. */
	__u8 link;
	__u8 link_derefs;
	__u16 link_at;
	struct pt_call_cfg call; /* of device_call_entry alone */
	struct pt_mark_cfg mark; /* of mark alone */
};

/* Where a function's span stands in the tables. */
enum pt_place {
	PT_HOLDS_OPERATORS = 1, /* operators in it are a part of it, and have no row */
	PT_MAY_BE_INNER = 2,	/* it is such a part itself, if it lies in one that holds it */
	PT_MAY_MISS_END = 4,	/* its probes come and go while it may be under way */
};

/* Hits of one probe, per CPU; summed by the loader for cost, adaptive dropping and doctor. */
struct pt_probe_stat {
	__u64 hits;
	__u64 spans;
	__u64 span_ns;	/* sum of durations, probe cost included, waits for a processor not */
	__u64 clipped_ns; /* the same, each up to ctl.clip_ns */
	__u64 long_spans; /* of them, those that were longer */
	__u64 inner;	/* of spans, those in another that has a row in the operator table */
	__u64 inner_ns; /* of span_ns, theirs */
	__u64 before_ns; /* a type of backward nodes: from the begins of its nodes to those of its spans */
	__u64 launches; /* device launches inside */
	__u64 ends;	/* spans that the return of another function ended (callee_end) */
	__u64 callers;	/* rows, modulo 64, of what they were called by (caller_entry) */
	__u64 outer;	/* CALL: 1 + row of a call that it was made in, and has no span; 0: none */
};

#endif
