/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * The wire format between the BPF programs and the loader, shared by both sides.
 *
 * Three things cross: the control block (`struct pt_ctl`, in .bss, memory-mapped by the loader),
 * the per-probe table (`struct pt_probe_cfg`, indexed by the attach cookie) and the records in
 * the ring. All times are CLOCK_MONOTONIC nanoseconds, all records are multiples of 8 bytes.
 */
#ifndef PROFTRACE_EVENTS_H
#define PROFTRACE_EVENTS_H

#ifndef __bpf__
#include <linux/types.h>
#endif
#include "sched_events.h"

#define PT_MAX_PROBES	  8192 /* rows of the probe table; cookie is the row's index */
#define PT_MAX_FRAMES	  48   /* open spans a thread can hold; deeper ones are counted as lost */
#define PT_NAME_MAX	  128  /* bytes of a dynamic name, NUL included */
#define PT_DOMAIN_MAX	  46   /* bytes of what goes before it */
#define PT_MAX_ARGS	  16   /* arguments of a function that are described */
#define PT_MAX_TENSORS	  32   /* tensors and values described per span */
#define PT_MAX_DIMS	  8    /* dimensions described per tensor */
#define PT_MAX_NAME_RULES 16   /* prefix rules that classify a dynamic name */
#define PT_PASSES	  8    /* backward passes remembered, a power of two */
#define PT_STEP_RING	  64   /* step boundaries remembered for splitting intervals */
#define PT_MAX_ADDRESSES  262144 /* probes that share events with others, in all targets */
#define PT_MAX_RETURNS	  256  /* places that calls without an end return to */
#define PT_MAX_TARGETS	  256  /* processes followed at once (the target and its workers) */

/* A cookie of this size or more is one for many probes: its low half names the event, and the row is
 * found by the address of the hit. */
#define PT_COOKIE_BY_ADDRESS (1ull << 32)

struct pt_address {
	__u64 ip;
	__u32 event;
	__u32 pad;
};

/* What a record in the ring is. The first 16 bytes of each are struct pt_rec. */
enum pt_rec_kind {
	PT_REC_SPANS = 1, /* struct pt_rec_spans: some spans of one thread, in order of their end */
	PT_REC_NAMED_SPAN,  /* struct pt_rec_named: the name travels with the record */
	PT_REC_ARGS,	    /* struct pt_rec_args: arguments of the span that began at ts_ns */
	PT_REC_STEP,	    /* struct pt_rec_step: a step boundary */
	PT_REC_MEMORY,	    /* struct pt_rec_memory: one allocation or free */
	PT_REC_ASYNC_BEGIN, /* struct pt_rec_async: begins on one thread ... */
	PT_REC_ASYNC_END,   /* ... and ends on any, paired by object pointer */
	PT_REC_TASK,	    /* struct pt_rec_task: fork, exec, exit, new thread, rename */
	PT_REC_MARK,	    /* struct pt_rec_mark: a counter's value, or an instant */
	PT_REC_FULL_NAME,   /* struct pt_rec_full_name: of the span that began at ts_ns */
	PT_REC_STACK,	    /* struct pt_rec_stack: goes before the first span that has it */
};

/* How the end of a span was seen; the same numbers go into the recording. */
enum pt_end {
	PT_END_RETURN = 0,   /* return probe on an allow-listed function */
	PT_END_SITE = 1,     /* plain probe inside the function */
	PT_END_OBJECT = 2,   /* the object's own end (destructor, exit function) */
	PT_END_INFERRED = 3, /* by stack pointer, from the thread's next event */
};

enum pt_span_flags {
	PT_SPAN_CUT_BEGIN = 1, /* was open when the window opened: begins at the window's edge */
	PT_SPAN_CUT_END = 2,   /* was open when the window closed: ends at the window's edge */
	PT_SPAN_FAILED = 4,    /* CALL: it returned an error */
	PT_SPAN_OVERLAPS = 8,  /* NAMED: it ended before a range that began inside it */
	PT_SPAN_IN_PASS = 16,  /* NODE: a backward pass of its own thread was under way at its end */
};
#define PT_SPAN_COPY_SHIFT   4 /* CALL: enum pt_copy_kind, 4 bits */
#define PT_SPAN_NESTED_SHIFT 8 /* CALL: probed calls inside it that have no span, 255 at most */

struct pt_rec {
	__u8 kind;   /* enum pt_rec_kind */
	__u8 end;    /* enum pt_end */
	__u16 size;  /* bytes of the whole record */
	__u32 probe; /* row of the probe table, 0 if none */
	__u32 pid;   /* tgid, in the initial pid namespace */
	__u32 tid;
};

#define PT_BATCH 32 /* spans in one record at most */

struct pt_span {
	__u64 ts_ns;
	__u64 end_ns;
	/* NODE, QUEUE: address in the target, of the queue's operation; CALL: the kernel's handle, the
	 * block, the graph, the event */
	__u64 vtable;
	/* NODE: language-level type object (PyTypeObject *), 0 if none; CALL: the stream's handle;
	 * QUEUE: the operation's number; STATIC: key of its stack, 0 if none */
	__u64 type_obj;
	/* NODE: sequence number, STATIC: that of the node that differentiates what the call returned;
	 * all ones if there is none. CALL: bytes, of a launch the caller. QUEUE: rows that were in it
	 * at the begin, in the high half its capacity */
	__u64 seq;
	__u32 probe; /* row of the probe table */
	__u8 kind;   /* enum pt_frame_kind, all but NAMED */
	__u8 end;    /* enum pt_end */
	__u16 flags; /* enum pt_span_flags */
};

struct pt_rec_spans {
	struct pt_rec h;
	__u32 cnt;
	__u32 window;			/* ctl.window_cnt when they were gathered */
	struct pt_span spans[PT_BATCH]; /* cnt of them travel */
};

struct pt_rec_named {
	struct pt_rec h;
	__u64 ts_ns;
	__u64 end_ns;
	__u64 stack; /* key of its stack, 0 if none */
	__u32 flags;
	__u32 name_class; /* class of the matching name rule, 0 if none */
	__u32 name_len;	  /* bytes, without NUL */
	__u32 nested;	  /* probed calls right inside it, or before it, that have no span */
	char name[PT_NAME_MAX]; /* only the first name_len + 1 bytes travel, rounded up to 8 */
};

#define PT_FULL_NAME_MAX 1024 /* bytes, NUL included; longer ones are not read */

struct pt_rec_full_name {
	struct pt_rec h;
	__u64 ts_ns; /* begin of the span whose full name it is, same thread */
	__u32 len;   /* bytes, without NUL */
	__u32 pad;
	char text[PT_FULL_NAME_MAX]; /* only the first len + 1 bytes travel, rounded up to 8 */
};

#define PT_STACK_FRAMES 64    /* innermost frames of Python that are read of a stack */
#define PT_STACK_WALK	128   /* frames looked at for them: some are the interpreter's own */
#define PT_MAX_STACKS	65536 /* different stacks of a session */

/* A place in a program written in Python. */
struct pt_code_place {
	__u64 code;  /* PyCodeObject * in the target */
	__u64 instr; /* address of the instruction under way, or its number (3.10) */
};

struct pt_rec_stack {
	struct pt_rec h;
	__u64 key; /* what spans have of it: a hash of all that follows, and of the process */
	__u32 cnt;
	__u32 cut; /* 1: there are more frames outside of these */
	struct pt_code_place frames[PT_STACK_FRAMES]; /* innermost first; cnt of them travel */
};

#define PT_ARG_LISTED 0x80

/* What an argument is that is no tensor; the same numbers go into the recording. */
enum pt_value_kind {
	PT_VALUE_NONE = 0,  /* a tensor */
	PT_VALUE_OTHER = 1, /* there is one, which is not described */
	PT_VALUE_INT = 2,
	PT_VALUE_BOOL = 3,
	PT_VALUE_FLOAT = 4, /* the bits of a double */
	PT_VALUE_INTS = 5,  /* lists */
	PT_VALUE_BOOLS = 6,
	PT_VALUE_FLOATS = 7,
	PT_VALUE_KEYWORDS = 8, /* no argument: others were given by keyword, and are not described */
};

/* A tensor, or an argument of another kind. */
struct pt_tensor {
	__u8 arg;   /* index of the argument in the schema, PT_ARG_LISTED: one of a list */
	__u8 dtype; /* the framework's own code */
	__s8 device_type;
	__u8 ndim;   /* 255: undefined tensor; more than PT_MAX_DIMS: dims cut. How many values */
	__u32 value; /* enum pt_value_kind */
	__s64 dims[PT_MAX_DIMS]; /* or the values */
};

struct pt_rec_args {
	struct pt_rec h;
	__u64 ts_ns; /* begin of the span it describes, same thread */
	__u32 tensor_cnt;
	__u32 pad;
	struct pt_tensor tensors[PT_MAX_TENSORS]; /* tensor_cnt of them travel */
};

enum pt_step_state {
	PT_STATE_IDLE = 0,   /* attached, no step rule yet */
	PT_STATE_CLOSED = 1, /* counting steps only */
	PT_STATE_READY = 2,  /* heavy probes attached, records discarded */
	PT_STATE_RECORD = 3,
	PT_STATE_DONE = 4,
};

/* What is done at steps instead of what the schedule says. */
enum pt_hold { PT_HOLD_NONE = 0, PT_HOLD_CLOSED, PT_HOLD_RECORD };

struct pt_rec_step {
	struct pt_rec h;
	__u64 ts_ns; /* boundary: begin of step `step`, end of the one before */
	__u64 step;  /* index of the step that begins here */
	__u64 seq;   /* ctl.step_seq of the boundary: its place in ctl.step_ns */
	__u32 state; /* enum pt_step_state of the step that begins here */
	__u32 prev_state;
	__u32 window; /* index of the recorded span (repeat), counted from 0 */
	__u32 pad;
};

struct pt_rec_memory {
	struct pt_rec h;
	__u64 ts_ns;
	__u64 addr;
	__s64 bytes;	       /* > 0 allocated, < 0 freed, 0 freed with unknown size */
	__u64 total_allocated; /* as the allocator reports it, all ones if it does not */
	__u64 total_reserved;
	__s32 device_type; /* 0 host, 1 CUDA */
	__s32 device_index;
};

#define PT_TITLE_MAX 40

struct pt_rec_async {
	struct pt_rec h;
	__u64 ts_ns;
	__u64 object; /* pairs begin and end */
	__u64 code;   /* the framework's own operation code */
	__u64 bytes;  /* payload, 0 if unknown */
	char title[PT_TITLE_MAX]; /* the framework's name for it; empty: none, or an end */
};

enum pt_task_event { PT_TASK_FORK = 1, PT_TASK_THREAD, PT_TASK_EXEC, PT_TASK_EXIT, PT_TASK_RENAME };

struct pt_rec_task {
	struct pt_rec h; /* pid, tid: the task it happened to; for FORK and THREAD the new one */
	__u64 ts_ns;
	__u32 event; /* enum pt_task_event */
	__u32 parent_pid;
	__s32 exit_code; /* as wait(2) reports it */
	__u32 last;	 /* EXIT: 1 if the whole process is gone with it */
	char comm[16];
};

enum pt_mark_op {
	PT_MARK_INSTANT = 0,
	PT_MARK_SET = 1, /* the counter's value is ... */
	PT_MARK_ADD = 2, /* ... or changes by `value` */
};

struct pt_rec_mark {
	struct pt_rec h;
	__u64 ts_ns;
	__s64 value;
	__u8 op;    /* enum pt_mark_op */
	__u8 scope; /* INSTANT: 'g' global, 'p' process, anything else: thread */
	__u16 pad;
	__u32 name_len; /* bytes, without NUL; 0: the row's own name */
	char name[PT_NAME_MAX];
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

/* cfg.flags of phase_entry and batch_site, an ask of the data loader: the argument in key_reg is a vector,
 * or an unordered_map, that gets the batch */
#define PT_BATCH_IN_VECTOR 1
#define PT_BATCH_IN_MAP	   2

/* cfg.flags of node_entry: one of GROUP_NODE_TYPE's */
#define PT_NODE_OF_TYPE 1

/* cfg.flags of named_entry */
#define PT_NAMED_OUTERMOST 1
#define PT_NAMED_BY_CLASS  2 /* cfg.name_reg holds an object, see pt_layout.class_names */
#define PT_NAMED_IN_FULL   4 /* its caller may have a longer name for it, see struct pt_full_name */

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

/* As CUDA numbers them. */
enum pt_copy_kind {
	PT_COPY_HTOH = 0,
	PT_COPY_HTOD,
	PT_COPY_DTOH,
	PT_COPY_DTOD,
	PT_COPY_DEFAULT, /* the driver finds out from the addresses */
	PT_COPY_UNKNOWN,
};

/* Where a call has what: slots of arguments, 0..5 registers, 6..8 words on the stack, each 1 higher
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
	__u32 domain; /* slot of a text (COW: string) that goes before the name, 1 higher, 0: none */
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
	__u64 span_ns;	/* sum of durations, probe cost included */
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

/* A step boundary is the begin or end of a span of one of these classes. */
enum pt_name_class {
	PT_CLASS_NONE = 0,
	PT_CLASS_DATALOADER = 1,
	PT_CLASS_OPTIMIZER = 2,
	PT_CLASS_ZERO_GRAD = 3,
	PT_CLASS_PROFILER_STEP = 4,
	PT_CLASS_USER_STEP = 5, /* --step-range */
	PT_CLASS_BACKWARD = 6,
	PT_CLASS_STEP_PROBE = 7, /* --step-probe, or the operator that opens each period */
	PT_CLASS_FORWARD = 8,
	PT_CLASS_GRAPH = 9, /* a run of a compiled graph, of whatever phases */
	PT_CLASS_OPTIMIZER_OP = 10, /* one of the operators that an optimizer's step consists of */
	PT_CLASS_FRAME = 11, /* a range that its program calls one of a sequence */
	PT_CLASS_PLUMBING = 12, /* an operator by which the framework makes ranges: no span */
	PT_CLASS_EVALUATION = 13, /* a run of a compiled graph that only evaluates */
	PT_CLASS_GRADIENTS = 14, /* of one that computes gradients, and leaves the update to another */
	PT_CLASS_CNT,
};

struct pt_name_rule {
	char prefix[32];
	__u32 len; /* bytes compared */
	__u32 name_class;
};

#define PT_MAX_CLASSES 24

/* Where the objects of a class have their name, a std::string. */
struct pt_class_name {
	__u64 vtable; /* runtime address, 0: end of the list */
	__u64 offset;
};

/* CPython, for functions written in Python: what is executed. For ranges, also where the function has
 * its first argument, and in that object the range's name. */
struct pt_python {
	__u64 thread_at;	    /* runtime address of a pointer: the thread state that runs */
	__u64 begin_code, end_code; /* code objects of the functions; a generator is begin_code */
	__u64 name_key;		    /* str object: the attribute with the name */
	__u32 row;		    /* of the probe table */
	__u32 frame_code;	    /* _PyInterpreterFrame: PyCodeObject * */
	__u32 frame_locals;	    /* _PyInterpreterFrame: its arguments come first */
	__u32 type_keys;	    /* PyHeapTypeObject: PyDictKeysObject * of its objects */
	__u32 attributes;	    /* enum pt_python_attributes */
	__u32 str_text;		    /* bytes of a str object before characters that are not ASCII */
};

/* Where an object's attributes are, if they are not in a dict; or where its dict is. */
enum pt_python_attributes {
	PT_ATTRIBUTES_BEFORE = 0, /* a pointer to them four words before it, the dict's is three before (3.11) */
	PT_ATTRIBUTES_TAGGED = 1, /* three words before it: to the dict, or with bit 0 to them (3.12) */
	PT_ATTRIBUTES_BEHIND = 2, /* behind it, and the dict's as in 3.11 (3.13) */
	PT_ATTRIBUTES_DICT = 3,	  /* in a dict; where in the object it is, its type tells (3.10) */
};

/* CPython: where a thread's own things lie. Offsets; words of a frame are counted by 8 bytes. */
#define PT_FRAME_WORDS 16 /* a power of two */

struct pt_python_thread {
	__u64 threads_at; /* runtime address of a pointer to the first thread state; 0: not known */
	__u32 next;
	__u32 id;	  /* what the C library calls the thread */
	__u32 handled;	  /* pointer to what is known of the exception being handled ... */
	__u32 exception;  /* ... which has a pointer to it */
	__u32 frame;	  /* pointer to the innermost frame, or ... */
	__u32 cframe;	  /* ... 1: to a _PyCFrame that has it at cframe_frame */
	__u32 cframe_frame;
	__u32 pad;
	__u64 stop_iteration; /* runtime address of the type StopIteration */
};

struct pt_python_stacks {
	__u32 wanted;	     /* by the plan: spans have stacks */
	__u32 frame_bytes;   /* of a frame that are read */
	__u32 code_word, previous_word, instr_word, owner_word;
	__u32 function_word; /* the function object; PT_FRAME_WORDS: it has none */
	__u32 owner_shift;   /* bits */
	__u32 other_owner;   /* frames of this owner or a higher one are the interpreter's; 256: none */
	__u64 instr_mask;
	__u64 object_mask; /* of the code and function words: what is the pointer in them */
};

/* A data pipeline: operations, each with a queue of the rows that the next one takes. */
#define PT_CYCLE_SHIFT 20

struct pt_pipeline {
	__u32 operation_queue;	    /* queue * */
	__u32 operation_id;	    /* u32 */
	__u32 queue_capacity;	    /* u64 */
	__u32 queue_head;	    /* u64: rows taken so far ... */
	__u32 queue_tail;	    /* ... and put, behind it; 0: none of these is known */
	__u32 ns_per_cycle_shifted; /* of the processor's counter, by PT_CYCLE_SHIFT; 0: unknown */
};

/* Callers that hold a pointer to a pointer to an object over the call, in a register that functions
 * give back as it was: the object has a full name for what is called, a std::string (COW). */
#define PT_MAX_FULL_NAME_SITES 16

struct pt_full_name {
	struct pt_full_name_site {
		__u64 return_address; /* runtime address, 0: end of the list */
		__u32 reg;	      /* by the processor's numbers: 3 rbx, 5 rbp, 12 to 15 */
	} sites[PT_MAX_FULL_NAME_SITES];
	__u32 text_at; /* in the object */
};

/* Offsets of the fields that the programs read in the target, per framework version. */
#define PT_MAX_DTYPES 64 /* a power of two */

/* Two variables of the target's, each of which grows by the same in every step of a job that does
 * the same in each; see capture/far.h. */
struct pt_counters {
	__u64 module; /* of the thread's own: which of its dynamic thread vector's, 0: unknown */
	__u64 offset; /* in the module's block */
	__u64 common; /* runtime address of the other one, which all threads share, 0: unknown */
};

struct pt_layout {
	__u32 tensor_sizes;	 /* TensorImpl: size_and_strides {u64 ndim; s64 dims[5] | s64 *} */
	__u32 tensor_dtype;	 /* u16 */
	__u32 tensor_device;	 /* s8 type, s8 index, s8 has */
	__u32 node_seq;		 /* Node: sequence number, 0 if unknown */
	__u32 node_pyobj;	 /* PyNode: PyObject * */
	__u32 record_function;	 /* PythonRecordFunction: RecordFunction */
	__u32 opt_tensor_flag;	 /* optional<Tensor>: flag after (8) or before (0) the value */
	__u32 python_tensor;	 /* Python tensor object: its TensorImpl * */
	__u32 schema_args;	 /* OperatorDef: the schema's vector of arguments */
	__u32 argument_size;	 /* bytes of each, 0 if unknown: no tensors of boxed calls */
	__u32 tensor_autograd;	 /* TensorImpl: AutogradMeta * */
	__u32 autograd_node;	 /* AutogradMeta: Node *, 0 if unknown: operators have no number */
	__u32 scalar_value;	 /* Scalar: u64, its tag before it at 0; 0 if unknown: none is read */
	__u32 scalar_bool;	 /* tag of a bool; 0 double and 1 integer in all versions */
	__u32 ivalue_bool;	 /* tag of a bool in a boxed call, 0 if unknown; 3 double, 5 integer */
	__u32 list_values;	 /* of a list in a boxed call: its vector of IValues */
	__u32 python_long_tag;	 /* Python's integers: 1: as from 3.12 on */
	__u32 python_str;	 /* str object: bytes before the text of compact ASCII, 0 if unknown */
	__u32 python_tuple;	 /* tuple object: its items */
	__u64 python_bool_type, python_float_type; /* runtime addresses, 0 if unknown: no values */
	__u64 python_tensor_type; /* runtime address of the tensors' base type, 0 if unknown */
	__u64 pynode_vtable;	  /* runtime address, 0 if unknown */
	__u8 element_bytes[PT_MAX_DTYPES]; /* by dtype, 0 if unknown */
	struct pt_class_name class_names[PT_MAX_CLASSES];
	struct pt_python python;
	struct pt_pipeline pipeline;
	struct pt_full_name full_name;
	struct pt_python_thread python_thread;
	struct pt_python_stacks stacks;
	struct pt_counters counters;
};

struct pt_schedule {
	__u64 skip_first, closed, ready, record; /* steps */
	__u64 repeat;				 /* windows, 0: until stopped */
};

/* The function written in Python that is an optimizer's step; see optimizer_step.bpf.c. */
struct pt_optimizer_step {
	__u64 refs_at;	  /* runtime address: how many references its code object has */
	__u32 row;	  /* of the probe table, 0: none is looked for */
	__u32 want_stack; /* 1: the next operator of an optimizer sends its stack, by which it is found */
	__u32 tid;	  /* the thread that calls it, 0: the one that counts steps */
	/* The function object of what is around it, runtime address, 0: not known; and the address of
	 * the instruction there that calls it. */
	__u64 around, around_calls;
	__u32 under_way; /* 1: its probe has just come: a call whose begin it did not see may be under way;
			    the programs reset it */
	/* written by the programs */
	__u64 functions[PT_STACK_FRAMES]; /* function objects of the frames of the latest stack */
	__u64 around_hits; /* in windows: calls that probes saw in search of what is around it */
	__u32 refs;    /* latest count, 0: not known */
	__u32 outside; /* operators of optimizers that ran outside of it */
	__u32 endless; /* calls whose end was not seen: they are in no span */
	__u32 passes;  /* backward passes since the latest call */
};

/* The backward passes that ended last: passes[(cnt - 1) % PT_PASSES] is the latest. */
struct pt_passes {
	struct {
		__u64 begin_ns, end_ns;
		__u32 tid, pad;
	} passes[PT_PASSES];
	__u32 cnt;
};

/* One per loaded object, in .bss, written by the loader unless said otherwise. */
struct pt_ctl {
	__u32 target_pid;      /* tgid of the main target */
	__u32 step_tid;	       /* thread whose boundaries count; 0: the first that shows one */
	__u32 boundary_class;  /* enum pt_name_class that opens a step, 0: learning */
	__u32 boundary_at_end; /* 1: the span's end is the boundary, 0: its begin */
	__u32 boundary_needs;  /* class that must have been seen since the last boundary, 0: none */
	__u32 counting;	       /* 1: steps are counted (step 0 begins at the next boundary) */
	__u64 count_from_ns;   /* boundaries before it are not counted: ranks begin together */
	/* Not 0: the heavy probes are attached, a window may open; if `gated` only where it is one
	 * more than `closes`: the loader has seen the window before end. */
	__u32 armed;
	__u32 gated;
	__u32 closes; /* windows that have ended at a step */
	__u32 free_window;     /* 1: no steps: the window is open while set (--duration) */
	__u32 learn;	       /* 1: spans are made though the window is closed */
	__u32 step_row;	       /* row whose span opens a step (class STEP_PROBE), 0: none */
	__u64 measure_from, measure_to; /* probe statistics are kept while step_seq is in [from, to) */
	__u64 clip_ns; /* see struct pt_probe_stat */
	struct pt_schedule schedule;
	struct pt_layout layout;
	struct pt_name_rule name_rules[PT_MAX_NAME_RULES];
	struct pt_optimizer_step optimizer_step;
	__u32 follow_forks; /* 1: children of targets become targets */
	__u32 target_cnt;   /* indices given out in `targets`; forks count on from the loader's */

	/* written by the programs */
	__u32 window_open;		       /* 1: records are kept */
	__u32 state;			       /* enum pt_step_state */
	__u64 step;			       /* current step */
	__u64 window_cnt;		       /* windows opened so far */
	__u64 window_open_ns, window_close_ns; /* edges of the latest window */
	__u64 step_seq; /* boundaries seen; step_ns[step_seq % PT_STEP_RING] is the latest */
	__u64 step_ns[PT_STEP_RING];
	__u64 step_took_ns; /* the latest step, on average where several ended at one boundary */
	__u64 class_seen[PT_CLASS_CNT]; /* spans of each class since attach */
	__u32 class_tid[PT_CLASS_CNT];	/* the thread of the latest */
	__u64 traced;	     /* times that a mode of tracing began (torch.compile, torch.export) */
	__u64 updates_again; /* optimizers' steps behind another one of their thread, and no backward pass */
	__u32 aside_tid; /* the latest thread that showed a boundary, and is not the one of the steps */
	__u64 aside_beside; /* boundaries of such threads, in windows and in the steps that were measured */
	__u64 shifted;	    /* steps by which a window was late because probes were not yet armed */
	__u32 need_seen;    /* 1: boundary_needs was seen since the last boundary */
	__u32 started;	    /* 1: step 0 has begun */
	__u32 hold;	    /* enum pt_hold, written by the loader */
	__u32 resting;	    /* 1: ranges' ends have no probes, their begins tell of steps */
	__u32 pass_is_update; /* by the loader: 1: while resting a backward pass that ends stands
				 for the optimizer's operators behind it */
	__u32 passes;	      /* backward passes since the latest boundary */
	struct pt_passes ended;
	__u32 passes_alike;   /* steps in a row that held one each */
	__u32 passes_odd;     /* steps that did not */
	__u64 woken_ns;	    /* ranges that began before this are not known to have ended */
	__u64 changed_ns;   /* neither are calls (PT_MAY_MISS_END): probes were changed then */
	__u32 nests;	    /* 1: spans that make the boundary were seen inside one another */
	__u32 gap;	    /* 1: the next boundary ends the window for one step; by the loader */
	__u64 lost_ring;    /* records that found the ring full */
	__u64 lost_depth;   /* spans deeper than PT_MAX_FRAMES */
	__u64 lost_storage; /* threads for which no storage could be had */
	__u64 lost_targets; /* children that found `targets` full */
	__u64 stacks_cut;    /* stacks that have more than PT_STACK_FRAMES */
	__u64 stacks_unread; /* spans whose stack could not be read, or is of no thread of Python */
	__u64 stacks_full;   /* spans without a stack: there were PT_MAX_STACKS others */
	__u64 stack_cnt, stack_ns; /* stacks read, and the time that it took */
	__u32 asks_alone;  /* by the loader: asks of the data loader, and nothing else, make the steps */
	__u32 epoch_ended; /* 1: the latest ask found no batch */
	__u32 ask_ended;   /* 1: an ask was seen to return; one that was not has thrown */
	__u64 ask_exception; /* what the thread handled when that began */
	__u32 asks_ahead;  /* by the loader: 1: an ask by breakpoint opens the step whose boundary follows;
			      0 from when one came before the update of the step before */
	__u32 ask_opened;  /* 1: one has, and that boundary has not come */
	__u32 ask_tid;	   /* the thread of the latest ask by breakpoint, 0: none */
	__u64 asked_steps; /* boundaries in whose place such an ask opened the step */
	__u32 cupti_claimed; /* 1: another tool has begun to use CUPTI */
	__u64 cupti_kinds;   /* activity kinds that other tools have enabled, a bit each */
	__u32 return_cnt;    /* places noted in the map `returns` */
	__u64 callee_ends;   /* hits of callee_end in windows: no record tells of them */
	/* What layout.counters were at the latest boundary, and by how much they grew in the latest
	 * step that was seen to begin and to end: 0 the thread's, 1 the common one. */
	__u64 counter[2], counter_step[2];
	__u32 counter_alike; /* steps in a row in which they grew by as much as in the one before */
	__u32 counter_odd;   /* boundaries at which they had not grown by the same whole steps */
	__u32 far;	     /* by the loader: 1: they tell how many steps end at the next boundary */
	__u64 far_left;	     /* by the loader: steps from the latest boundary to the next window */
	__u64 far_steps;     /* by the loader: steps since the latest boundary, as it seems */
	__u64 counted_steps; /* steps that ended without a boundary */
};

/* ---- what a thread has open; the loader reads it when a window closes ---- */

#define PT_MAX_NAMED   32      /* open spans with a dynamic name, per thread */
#define PT_MAX_THREADS 4096    /* threads with open spans at once */
#define PT_SP_OBJECT   (~0ull) /* sp of a frame that is an object and not a stack frame */
#define PT_NO_STREAM   (~0ull) /* a call that names no stream */

enum pt_frame_kind {
	PT_FRAME_STATIC = 0,
	PT_FRAME_NAMED = 1,
	PT_FRAME_NODE = 2,
	PT_FRAME_CALL = 3,
	PT_FRAME_QUEUE = 4,
};

struct pt_frame {
	__u64 ts_ns;
	__u64 sp;     /* stack pointer at the function's entry, or PT_SP_OBJECT */
	__u64 object; /* NODE: vtable; NAMED: what identifies it at its end; others: as in pt_span */
	/* NODE, STATIC: sequence number; NAMED: key of its stack, 0 if none; others: as in pt_span */
	__u64 seq;
	/* NODE: language-level type object; CALL: stream; QUEUE, STATIC: as in pt_span; NAMED: when it
	 * ended, if ranges that began inside it have not, else 0 */
	__u64 type_obj;
	__u32 probe;
	__u8 kind; /* enum pt_frame_kind */
	__u8 name_class;
	/* NAMED: index into names; CALL: flags of its span, the low byte; STATIC, an object: which
	 * region it is */
	__u8 slot;
	__u8 nested; /* CALL: as in pt_span's flags; NAMED: as in struct pt_rec_named */
};
/* Began before probes were changed, and its row's place is PT_MAY_MISS_END: it may have ended since. */
#define PT_FRAME_IS_STALE(f, changed_ns, may_miss_end)                                             \
	((f)->ts_ns < (changed_ns) && (f)->sp != PT_SP_OBJECT && !(f)->name_class && (may_miss_end))

/* A generator was asked for an item and has not handed one on. */
struct pt_ask {
	__u64 frame; /* the interpreter's, which lives as long as the generator; 0: none */
	__u64 ts_ns;
};
#define PT_MAX_ASKS 4 /* of a thread at once: one generator may ask another */

struct pt_thread {
	__u32 frame_cnt;
	__u32 named_cnt;
	__u32 pid, tid;
	__u32 spanless; /* calls that have no span, since the latest named one */
	__u32 updated;	/* 1: an optimizer's step began since its latest backward pass did */
	__u64 asked_bytes; /* of an allocation under way, 0: none is */
	__u64 python; /* its state in CPython, where it was found last */
	__u64 caller_sp; /* stack pointer at the entry of the caller under way, 0: none */
	__u32 caller;	 /* its row */
	__u32 pad2;
	struct pt_ask asks[PT_MAX_ASKS];
	struct pt_frame frames[PT_MAX_FRAMES];
	__u32 name_len[PT_MAX_NAMED];
	char names[PT_MAX_NAMED][PT_NAME_MAX];
	struct pt_rec_spans batch; /* ended spans that have not been sent yet */
	/* Scratch for one outgoing record: per thread, because uprobe programs can be preempted. */
	__u64 scratch[(sizeof(struct pt_rec_args) + 7) / 8];
};

#endif
