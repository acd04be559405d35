/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* A thread's open spans, which the loader reads when a window closes. Shared by both sides. */
#ifndef PROFTRACE_THREAD_STATE_H
#define PROFTRACE_THREAD_STATE_H

#include "events.h"

#define PT_MAX_OPEN_SPANS	  48   /* open spans of a thread; deeper ones are counted as lost */
#define PT_MAX_NAMED   32      /* open spans with a dynamic name, per thread */
#define PT_MAX_THREADS 4096    /* threads that can have open spans at a time */
#define PT_SP_OBJECT   (~0ull) /* sp of an open span that an object identifies, not a stack frame */
#define PT_NO_STREAM   (~0ull) /* a call that names no stream */

enum pt_span_kind {
	PT_KIND_STATIC = 0,
	PT_KIND_NAMED = 1,
	PT_KIND_NODE = 2,
	PT_KIND_CALL = 3,
	PT_KIND_QUEUE = 4,
};

struct pt_open_span {
	__u64 ts_ns;
	__u64 cpu_wait_ns; /* the thread's wait for processors until the begin: see cpu_wait_ns() */
	__u64 sp;     /* stack pointer at the function's entry, or PT_SP_OBJECT */
	/* The kind decides which member of a union is valid. */
	union {
		__u64 vtable; /* NODE, QUEUE: as in pt_span */
		__u64 handle; /* CALL: as in pt_span */
		__u64 link;   /* NAMED, with cfg.link: as in pt_rec_named */
		__u64 object; /* NAMED, STATIC: identifies it at its end */
	};
	union {
		__u64 seq;	   /* NODE, STATIC: as in pt_span */
		__u64 bytes, rows; /* CALL; QUEUE: as in pt_span */
		__u64 named_stack; /* NAMED: key of its stack, 0 if none */
	};
	union {
		__u64 type_obj, stream, operation, stack; /* NODE; CALL; QUEUE; STATIC: as in pt_span */
		__u64 ended_ns; /* NAMED: its end, if ranges that began inside it are still open;
				   else 0 */
	};
	__u32 probe;
	__u8 kind; /* enum pt_span_kind */
	__u8 name_class;
	/* NAMED: index into names, and PT_RANGE_*. CALL: flags of its span, the low byte. STATIC,
	 * an object: which region it is */
	__u8 slot;
	__u8 nested; /* CALL: as in pt_span's flags; NAMED: as in struct pt_rec_named */
};
#define PT_RANGE_OVERLAPS  64  /* it ended before a range that began inside it */
#define PT_RANGE_NOT_ENDED 128 /* see PT_SPAN_NOT_ENDED */
/* Is it a range, which has an end of its own? */
#define PT_IS_RANGE(f) ((f)->kind == PT_KIND_NAMED && (f)->sp == PT_SP_OBJECT)
/* Is a range of this class part of a sequence? */
#define PT_CLASS_IS_ITERATION(name_class)                                                              \
	((name_class) == PT_CLASS_ITERATION || (name_class) == PT_CLASS_USER_STEP)
/* It began before probes were changed, and its row has PT_MAY_MISS_END: it may have ended since. */
#define PT_IS_STALE(f, changed_ns, may_miss_end)                                             \
	((f)->ts_ns < (changed_ns) && (f)->sp != PT_SP_OBJECT && !(f)->name_class && (may_miss_end))

/* A generator was asked for an item, and has not passed one on. */
struct pt_loader_next {
	__u64 frame; /* of the interpreter; it lives as long as the generator; 0: none */
	__u64 ts_ns;
};
#define PT_MAX_LOADER_NEXTS 4 /* of a thread at a time, because one generator may call another */

struct pt_thread {
	__u32 open_cnt;
	__u32 named_cnt;
	__u32 pid, tid;
	__u32 spanless; /* calls without a span since the latest named one */
	__u32 updated;	/* 1: an optimizer's step has begun since the begin of the latest
			   backward pass */
	__u64 ahead_ns;	   /* when its next phase was requested, 0: not seen */
	__u64 asked_bytes; /* of an allocation in progress, 0: there is none */
	__u64 python; /* address of its CPython state when it was last found */
	__u64 caller_sp; /* stack pointer at the entry of the open caller (caller_entry), 0: none */
	__u32 caller;	 /* row of that caller */
	__u32 pad2;
	struct pt_loader_next loader_nexts[PT_MAX_LOADER_NEXTS];
	struct pt_open_span open[PT_MAX_OPEN_SPANS];
	__u32 name_len[PT_MAX_NAMED];
	struct pt_name names[PT_MAX_NAMED + 1]; /* the last one is for a range beyond
						   PT_MAX_NAMED */
	struct pt_rec_spans batch; /* ended spans that were not sent yet */
	/* Scratch for one outgoing record. It is per thread, because uprobe programs can be
	 * preempted. */
	__u64 scratch[(sizeof(struct pt_rec_args) + 7) / 8];
};

#endif
