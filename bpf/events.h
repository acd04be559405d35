/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * The records that the BPF programs send through the ring, shared by both sides. All times are
 * CLOCK_MONOTONIC nanoseconds. All records are multiples of 8 bytes. The loader configures programs
 * by probe in probe_cfg.h, and together in ctl.h.
 */
#ifndef PROFTRACE_EVENTS_H
#define PROFTRACE_EVENTS_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define PT_NAME_MAX    128 /* bytes of a dynamic name that records hold, NUL included */
#define PT_MAX_TENSORS 32  /* tensors and values described per span */
#define PT_MAX_DIMS    8   /* dimensions described per tensor */

/* A dynamic name. Of a longer name it has the beginning, and the key of the rest. */
struct pt_name {
	char text[PT_NAME_MAX];
	__u64 key; /* in the map `long_names`, or one of enum pt_name_key (long_names.h) */
};

/* Kind of a record in the ring. The first 16 bytes of each are struct pt_rec. */
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
	PT_REC_STACK,	    /* struct pt_rec_stack: comes before the first span with this stack */
	PT_REC_STORAGE,	    /* struct pt_rec_storage: purpose of a block of memory */
};

/* How the end of a span was seen. The recording uses the same numbers. */
enum pt_end {
	PT_END_RETURN = 0,   /* return probe on an allow-listed function */
	PT_END_SITE = 1,     /* plain probe inside the function */
	PT_END_OBJECT = 2,   /* the object's own end (destructor, exit function) */
	PT_END_INFERRED = 3, /* by stack pointer, from the thread's next event */
};

enum pt_span_flags {
	PT_SPAN_CUT_BEGIN = 1, /* was open when the window opened: begins at the window's edge */
	PT_SPAN_CUT_END = 2,   /* was open when the window closed: ends at the window's edge */
	PT_SPAN_FAILED = 4,    /* CALL: the call returned an error */
	PT_SPAN_OVERLAPS = 8,  /* NAMED: it ended before a range that began inside it */
	PT_SPAN_IN_PASS = 16,  /* NODE: its end certainly lies in its backward pass */
	PT_SPAN_NOT_ENDED = 32, /* NAMED: a range that was ended by what enclosed or followed it */
};
#define PT_SPAN_COPY_SHIFT   4 /* CALL: enum pt_copy_kind, 4 bits */
#define PT_SPAN_NESTED_SHIFT 8 /* CALL: number of inner calls with a probe but no span, at most
				  255 */

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
	/* The span's kind says which member of a union is valid. */
	union {
		__u64 vtable; /* NODE, QUEUE: address in the target, for QUEUE of the queue's
				 operation */
		__u64 handle; /* CALL: of the kernel, block, graph or event */
		__u64 link;   /* NAMED: only in the decoder; 0 if none */
	};
	union {
		__u64 type_obj;	 /* NODE: Python type object (PyTypeObject *), 0 if none */
		__u64 stream;	 /* CALL: the stream's handle */
		__u64 operation; /* QUEUE: the operation's number */
		__u64 stack;	 /* STATIC: key of its stack, 0 if none; the decoder also uses it
				    for NAMED */
		__u64 object;	 /* NAMED, from the library: the object that contains its name */
	};
	union {
		__u64 seq;   /* NODE: sequence number. STATIC: that of the node that
				differentiates the result. All ones if there is none */
		__u64 bytes; /* CALL; for a launch the address of the caller */
		__u64 rows;  /* QUEUE: rows at its begin; in the high half its capacity */
	};
	__u32 probe; /* row of the probe table */
	__u8 kind;   /* enum pt_span_kind; NAMED only in the decoder */
	__u8 end;    /* enum pt_end */
	__u16 flags; /* enum pt_span_flags */
};

struct pt_rec_spans {
	struct pt_rec h;
	__u32 cnt;
	__u32 window;			/* ctl.window_cnt when the spans were gathered */
	struct pt_span spans[PT_BATCH]; /* the record has only cnt of them */
};

struct pt_rec_named {
	struct pt_rec h;
	__u64 ts_ns;
	__u64 end_ns;
	__u64 stack; /* key of its stack, 0 if none */
	__u32 flags;
	__u32 name_class; /* class of the matching name rule, 0 if none */
	__u32 name_len;	  /* length in bytes, without NUL */
	__u32 nested;	  /* inner or earlier calls with a probe but no span */
	__u64 link;	  /* see pt_probe_cfg.link; otherwise undefined */
	struct pt_name name;
};

struct pt_rec_full_name {
	struct pt_rec h;
	__u64 ts_ns; /* begin of the span with this full name, on the same thread */
	__u32 len;   /* length in bytes, without NUL */
	__u32 pad;
	struct pt_name name;
};

#define PT_STACK_FRAMES 64    /* innermost Python frames that are read per stack */
#define PT_STACK_WALK	128   /* frames that are visited for that; some belong to the interpreter */
#define PT_MAX_STACKS	65536 /* most different stacks of a session */

/* A place in Python code. */
struct pt_code_place {
	__u64 code;  /* PyCodeObject * in the target */
	__u64 instr; /* address of the current instruction, or its number (3.10) */
};

struct pt_rec_stack {
	struct pt_rec h;
	__u64 key; /* refers from spans to this stack: a hash of all that follows, and of the
		      process */
	__u32 cnt;
	__u32 cut; /* 1: more frames exist outside of these */
	struct pt_code_place frames[PT_STACK_FRAMES]; /* innermost first; the record has only cnt
							 of them */
};

#define PT_ARG_LISTED 0x80

/* Kinds of arguments that are no tensors. The recording uses the same numbers. */
enum pt_value_kind {
	PT_VALUE_NONE = 0,  /* a tensor */
	PT_VALUE_OTHER = 1, /* an argument that is not described */
	PT_VALUE_INT = 2,
	PT_VALUE_BOOL = 3,
	PT_VALUE_FLOAT = 4, /* the bits of a double */
	PT_VALUE_INTS = 5,  /* lists */
	PT_VALUE_BOOLS = 6,
	PT_VALUE_FLOATS = 7,
	PT_VALUE_KEYWORDS = 8, /* no argument: more were given by keyword, and are not described */
};

/* A tensor, or an argument of another kind. */
struct pt_tensor {
	__u8 arg;   /* index of the argument in the schema; PT_ARG_LISTED: element of a list */
	__u8 dtype; /* the framework's code of the type */
	__s8 device_type;
	__u8 ndim;   /* 255: undefined tensor; more than PT_MAX_DIMS: dims is cut. For others the
			number of values */
	__u32 value; /* enum pt_value_kind */
	__s64 dims[PT_MAX_DIMS]; /* or the values */
};

struct pt_rec_args {
	struct pt_rec h;
	__u64 ts_ns; /* begin of the described span, on the same thread */
	__u32 tensor_cnt;
	__u32 pad;
	struct pt_tensor tensors[PT_MAX_TENSORS]; /* the record has only tensor_cnt of them */
};

enum pt_step_state {
	PT_STATE_IDLE = 0,   /* attached, but no step rule yet */
	PT_STATE_CLOSED = 1, /* counting steps only */
	PT_STATE_READY = 2,  /* heavy probes attached, records discarded */
	PT_STATE_RECORD = 3,
	PT_STATE_DONE = 4,
};

struct pt_rec_step {
	struct pt_rec h;
	__u64 ts_ns; /* boundary: begin of step `step`, end of the one before */
	__u64 step;  /* index of the step that begins */
	__u64 seq;   /* ctl.step_seq of the boundary: its index in ctl.step_ns */
	__u32 state; /* enum pt_step_state of the step that begins */
	__u32 prev_state;
	__u32 window; /* number of the recorded window, from 0 */
	__u32 pad;
};

struct pt_rec_memory {
	struct pt_rec h;
	__u64 ts_ns;
	__u64 addr;
	__s64 bytes;	       /* > 0 allocated, < 0 freed, 0 freed with unknown size */
	__u64 total_allocated; /* from the allocator; all ones if it does not report it */
	__u64 total_reserved;
	__s32 device_type; /* 0 host, 1 CUDA */
	__s32 device_index;
};

struct pt_rec_async {
	struct pt_rec h;
	__u64 ts_ns;
	__u64 object;	      /* identifies the pair of begin and end */
	__u64 code;	      /* the framework's code of the operation */
	__u64 bytes;	      /* payload, 0 if unknown */
	struct pt_name title; /* the framework's name; empty: none, or an end */
};

enum pt_task_event { PT_TASK_FORK = 1, PT_TASK_THREAD, PT_TASK_EXEC, PT_TASK_EXIT, PT_TASK_RENAME };

struct pt_rec_task {
	struct pt_rec h; /* pid, tid: the task of the event; for FORK and THREAD the new task */
	__u64 ts_ns;
	__u32 event; /* enum pt_task_event */
	__u32 parent_pid;
	__s32 exit_code; /* as wait(2) reports it */
	__u32 last;	 /* EXIT: 1 if the whole process ended */
	char comm[16];
};

enum pt_mark_op {
	PT_MARK_INSTANT = 0,
	PT_MARK_SET = 1, /* the counter's value becomes `value` ... */
	PT_MARK_ADD = 2, /* ... or changes by `value` */
};

struct pt_rec_mark {
	struct pt_rec h;
	__u64 ts_ns;
	__s64 value;
	__u8 op;    /* enum pt_mark_op */
	__u8 scope; /* INSTANT: 'g' global, 'p' process, anything else: thread */
	__u16 pad;
	__u32 name_len; /* length in bytes, without NUL; 0: the row has the name */
	struct pt_name name;
};

struct pt_rec_storage {
	struct pt_rec h;
	__u64 ts_ns;
	__u64 addr;
	__u64 taken;	/* bytes that the block takes of the device's memory; 0: only its name is
			   new */
	__u32 reused;	/* 1: from the framework's pool */
	__u32 name_len; /* length in bytes, without NUL */
	struct pt_name name;
};

/* CUDA's numbers. */
enum pt_copy_kind {
	PT_COPY_HTOH = 0,
	PT_COPY_HTOD,
	PT_COPY_DTOH,
	PT_COPY_DTOD,
	PT_COPY_DEFAULT, /* the driver derives it from the addresses */
	PT_COPY_UNKNOWN,
};

#endif
