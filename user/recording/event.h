/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One event, as the recording stores it and the model reads it. Frameworks, device vendors and
 * operators are data of the recording (names, tracks, metadata), so nothing here names one.
 */
#ifndef PROFTRACE_RECORDING_EVENT_H
#define PROFTRACE_RECORDING_EVENT_H

#include <stdint.h>

enum event_type {
	EVENT_SPAN = 1, /* begin and duration on one track; spans of a track nest */
	EVENT_STEP = 2, /* a whole step: id = step index, track = the thread that counts steps */
	/* id = address, value = bytes (+/-), see struct event_memory in args. With a name (the kind
	 * of memory) it came from the driver, without from the framework's allocator. */
	EVENT_MEMORY = 3,
	EVENT_ASYNC = 4,   /* a span that need not nest (collectives): id = object, value = bytes */
	EVENT_DEVICE = 5,  /* a span on a device track: id = correlation id, value = bytes */
	/* value of the named counter of its process from ts_ns on. EVENT_RELATIVE: less its unknown
	 * value before it was first seen */
	EVENT_COUNTER = 6,
	EVENT_INSTANT = 7, /* a mark, dur_ns = 0; id = enum instant_scope, or see CAT_STORAGE */
};

/* What a name means. It belongs to the name, so events do not repeat it. */
enum span_category {
	CAT_NONE = 0,
	/* an operator; nested ones become OperatorInner in the model. Event id = sequence number of
	 * the backward node of its result */
	CAT_OPERATOR = 1,
	CAT_BACKWARD_NODE = 2, /* an operator of the backward pass; event id = sequence number */
	CAT_PYTHON_OP = 3,     /* an operator written in Python */
	CAT_USER = 4,	       /* the user's own range */
	CAT_DATALOADER = 5,
	CAT_FORWARD = 6,
	CAT_BACKWARD = 7,
	CAT_OPTIMIZER = 8,
	CAT_ZERO_GRAD = 9,
	CAT_PROFILER_STEP = 10, /* the framework's own step range */
	CAT_COMMUNICATION = 11,
	CAT_RUNTIME = 12, /* device runtime API (cudaLaunchKernel); id = correlation id */
	CAT_DRIVER = 13,  /* device driver API (cuLaunchKernel) */
	CAT_KERNEL = 14,
	CAT_MEMCPY = 15,
	CAT_MEMSET = 16,
	CAT_SYNC = 17,
	CAT_SCRIPT = 18, /* a compiled graph, which may span several phases */
	CAT_ALLOCATION = 19,
	/* an operator that updates parameters: a run of them is the Optimization of its step */
	CAT_OPTIMIZER_OP = 20,
	CAT_FUNCTION = 21, /* a function that the user chose; an operator, listed also inside others */
	CAT_REGION = 22, /* a compiled function inside a phase */
	/* Parts of the data pipeline, with names OPERATION::PART. Own work of an operation on its
	 * threads; ... */
	CAT_PIPELINE = 23,
	/* ... a wait for a row from its empty queue, and an EVENT_COUNTER with the rows in the
	 * queue at each request; ... */
	CAT_QUEUE_EMPTY = 24,
	/* ... its own wait for room in the full queue, and the rows in the queue at each put. The
	 * counters' names have the queue's capacity, a number, as a schema. */
	CAT_QUEUE_FULL = 25,
	/* a compiled graph that evaluates; in a training step it belongs to no phase */
	CAT_EVALUATION = 26,
	/* from here on, operators that update parameters belong to an optimizer's step */
	CAT_OPTIMIZER_BEGIN = 27,
	/* What an engine's thread runs of an operator that was called elsewhere. Both have the same
	 * value. Among those of one value, calls and executions are in the same order. "?": the
	 * call has the name. */
	CAT_EXECUTION = 28,
	/* Of an EVENT_INSTANT: the purpose of a block of a device's memory, "SCOPE:NAME"; id = the
	 * block's address. When the block is given out, value = its bytes, with EVENT_POOLED if the
	 * framework's pool did it. value 0: it has this name from now on. */
	CAT_STORAGE = 29,
	CAT_CNT,
};

/* How the end of a span was seen. The numbers are those of bpf/events.h. */
enum event_end { END_RETURN = 0, END_SITE = 1, END_OBJECT = 2, END_INFERRED = 3 };

enum event_flags {
	/* It began before the window: ts_ns is the window's edge. Of a device: it was launched
	 * before the window, but also ran in it; ts_ns is its begin. */
	EVENT_CUT_BEGIN = 1,
	EVENT_CUT_END = 2,   /* ended after the window */
	EVENT_FAILED = 4,    /* a call that returned an error */
	EVENT_UNPROBED = 8,  /* a span that was seen without a probe, so it contains no cost of
				ours */
	EVENT_RELATIVE = 16, /* a counter's value counts from 0 at its first event of the session */
	/* memory of a device's pool (cudaMallocAsync); such an event also has a name; see
	 * CAT_STORAGE */
	EVENT_POOLED = 128,
	EVENT_STACKED = 32,  /* only in files: the event has a stack; readers get event.stack */
};

/* What an instant marks; EVENT_NO_ID: its thread. */
enum instant_scope { SCOPE_THREAD = 0, SCOPE_PROCESS = 1, SCOPE_GLOBAL = 2 };

struct event {
	uint64_t ts_ns;	   /* begin, CLOCK_MONOTONIC of the recorded machine */
	uint64_t dur_ns;   /* as measured, including the cost of our probes */
	uint64_t id;	   /* meaning by type and category, see above; EVENT_NO_ID if none */
	int64_t value;	   /* bytes, counter value, or see CAT_EXECUTION; 0 if none */
	uint32_t track;	   /* id of a struct track */
	uint32_t name;	   /* id of a struct name, 0 if none */
	uint32_t overload; /* when read: id of the name with exactly this schema, see
			      recording_writer__name */
	uint32_t stack;	   /* id of the innermost struct code_frame of its call, 0 if none */
	uint8_t type;	   /* enum event_type */
	uint8_t end;	   /* enum event_end */
	uint16_t flags;	   /* enum event_flags */
	uint32_t args_len; /* bytes at args, 0 if none */
	const void *args;  /* little-endian, layout by type; valid until the next event is read */
};
#define EVENT_NO_ID UINT64_MAX

/* Do a call and its execution share a value in this category? */
static inline int category__is_joined(uint8_t category)
{
	return category == CAT_OPERATOR || category == CAT_OPTIMIZER_OP ||
	       category == CAT_BACKWARD_NODE || category == CAT_EXECUTION;
}

/* Is it device work that was not launched in the window? It only counts in clock time. */
static inline int event__is_from_before(const struct event *e)
{
	return e->type == EVENT_DEVICE && e->flags & EVENT_CUT_BEGIN;
}

/* args of an EVENT_SPAN: event_tensor rows, each followed by its dims: int64_t dims[ndim],
 * unaligned. After a row with EVENT_TENSOR_VALUES come event_value rows. See event_args.h. */
struct event_tensor {
	uint8_t arg;   /* index of the argument in the name's schema; EVENT_TENSOR_LISTED: inside
			  a list */
	uint8_t dtype; /* index into metadata "dtypes" */
	int8_t device_type;
	uint8_t ndim; /* EVENT_TENSOR_UNDEFINED: no tensor was given */
};
#define EVENT_TENSOR_UNDEFINED 255
#define EVENT_TENSOR_VALUES    254 /* impossible as a number of dimensions, so readers before 1.3
				      stop here */
#define EVENT_TENSOR_LISTED    0x80

/* Kinds of arguments that are no tensors. The numbers are those of bpf/events.h. */
enum event_arg_kind {
	EVENT_ARG_TENSOR = 0,
	EVENT_ARG_OTHER = 1, /* an argument that is not described */
	EVENT_ARG_INT = 2,
	EVENT_ARG_BOOL = 3,
	EVENT_ARG_FLOAT = 4, /* the bits of a double */
	EVENT_ARG_INTS = 5,	 /* lists */
	EVENT_ARG_BOOLS = 6,
	EVENT_ARG_FLOATS = 7,
	EVENT_ARG_KEYWORDS = 8, /* no argument: more were given by keyword, and their values are
				   not recorded */
};

/* Followed by int64_t values[cnt], unaligned. */
struct event_value {
	uint8_t arg;  /* index of the argument, as for a tensor */
	uint8_t kind; /* enum event_arg_kind */
	uint8_t cnt;
	uint8_t pad;
};
#define EVENT_VALUES_MAX 16 /* most rows; no tensor of EVENT_TENSOR_VALUES dimensions fits then */

/* args of an EVENT_SPAN of category RUNTIME or DRIVER, as far as the call shows them; the span's
 * value is in bytes */
struct event_call {
	uint64_t stream;    /* the program's handle, 0: the default stream; EVENT_NO_ID: the call
			       names none */
	uint32_t kernel;    /* id of the launched kernel's name, 0 if unknown */
	uint32_t copy_kind; /* enum copy_kind */
};
enum copy_kind {
	COPY_UNKNOWN = 0, /* or the driver derives it from the addresses */
	COPY_HTOH,
	COPY_HTOD,
	COPY_DTOH,
	COPY_DTOD,
};

/* args of an EVENT_MEMORY */
struct event_memory {
	uint64_t total_allocated; /* in bytes, UINT64_MAX if the allocator does not report it */
	uint64_t total_reserved;
	int32_t device_type; /* 0 host, 1 CUDA */
	int32_t device_index;
};

/* args of an EVENT_DEVICE that is a kernel: its launch parameters */
struct event_kernel {
	uint32_t grid[3], block[3];
	uint32_t registers; /* per thread */
	uint32_t static_shared_bytes, dynamic_shared_bytes;
	uint32_t local_bytes; /* per thread */
	uint32_t context;
	uint32_t graph; /* 0: not launched by a graph */
};

/* args of an EVENT_DEVICE of category SYNC */
struct event_sync {
	uint64_t record; /* correlation id of the call that recorded the event, EVENT_NO_ID */
	int64_t stream;	 /* stream on which it was recorded, -1 if unknown or no event */
	uint32_t event;	 /* the event's number in the device interface, 0 if none */
	uint32_t context;
};

/* Names and tracks are defined once, before the first event that uses them. Ids begin at 1. */
struct name {
	uint32_t id;
	uint8_t category; /* enum span_category */
	const char *text;
	/* Signature as the framework prints it, or an operator's full name, see
	 * recording__full_name. NULL if none. See CAT_QUEUE_FULL */
	const char *schema;
	uint32_t first; /* when read: id of the first name with this category and text; events
			   have that id */
};

enum track_kind { TRACK_THREAD = 1, TRACK_DEVICE = 2 };

/* In place of a stream: waits for the device, or for an event recorded on any stream. */
#define STREAM_ALL INT64_C(-1)

struct track {
	uint32_t id;
	uint8_t kind;	   /* enum track_kind */
	uint32_t pid, tid; /* in the initial namespace of the recorded machine */
	int32_t device;	   /* TRACK_DEVICE: device index */
	int64_t stream;	   /* TRACK_DEVICE: stream id, greater than 0; or STREAM_ALL */
	const char *name;  /* thread name, NULL if unknown */
};

/* A function of a program, identified by its source. */
struct code {
	uint32_t id, first_line; /* 0: not known */
	const char *file;	 /* as the interpreter has it: the full path, or "<string>" */
	const char *function;	 /* "Net.forward" */
};

/* A function that was called from a place in another function. All stacks together are a tree, from
 * the outermost frame inwards. */
struct code_frame {
	uint32_t id, parent; /* parent 0: it is the outermost frame */
	uint32_t code;	     /* 0: frames outside of the next one were not read */
	uint32_t line;	     /* line being executed, 0: unknown */
};

/* How a thread spent the time between two step boundaries: the total for one reason. */
enum sched_state { SCHED_RUN = 1, SCHED_RUNNABLE = 2, SCHED_BLOCKED = 3 };

struct sched_row {
	uint32_t track;
	uint32_t reason; /* name id of what it waited for ("futex", "read"), 0 if unknown */
	uint64_t step;	 /* step index, EVENT_NO_ID outside any step */
	uint64_t ns;
	uint64_t cnt;  /* number of intervals */
	uint8_t state; /* enum sched_state; for an entry enum kernel_entry */
};

/* How long a thread was in the kernel between two step boundaries, running or not. These are the
 * rows of system calls and page faults. Their reason is the name ("munmap"). */
enum kernel_entry { ENTRY_SYSCALL = 4, ENTRY_FAULT = 5 };
/* Names of page faults: of memory without contents; of a file's page in memory; of one that had to
 * be read. The format has no other mark for these rows. */
#define FAULT_ANONYMOUS "page fault: anonymous memory"
#define FAULT_FILE	"page fault: file"
#define FAULT_DISK	"page fault: read from disk"

#endif
