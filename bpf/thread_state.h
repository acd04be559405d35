/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* What a thread has open; the loader reads it when a window closes. Shared by both sides. */
#ifndef PROFTRACE_THREAD_STATE_H
#define PROFTRACE_THREAD_STATE_H

#include "events.h"

#define PT_MAX_OPEN_SPANS	  48   /* open spans a thread can hold; deeper ones are counted as lost */
#define PT_MAX_NAMED   32      /* open spans with a dynamic name, per thread */
#define PT_MAX_THREADS 4096    /* threads with open spans at once */
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
	__u64 cpu_wait_ns; /* of the thread, until then: see cpu_wait_ns() */
	__u64 sp;     /* stack pointer at the function's entry, or PT_SP_OBJECT */
	/* Of each union the kind has one. */
	union {
		__u64 vtable; /* NODE, QUEUE: as in pt_span */
		__u64 handle; /* CALL: as in pt_span */
		__u64 link;   /* NAMED, of a row with cfg.link: as in pt_rec_named */
		__u64 object; /* NAMED, STATIC: what identifies it at its end */
	};
	union {
		__u64 seq;	   /* NODE, STATIC: as in pt_span */
		__u64 bytes, rows; /* CALL; QUEUE: as in pt_span */
		__u64 named_stack; /* NAMED: key of its stack, 0 if none */
	};
	union {
		__u64 type_obj, stream, operation, stack; /* NODE; CALL; QUEUE; STATIC: as in pt_span */
		__u64 ended_ns; /* NAMED: when, if ranges that began inside it have not; else 0 */
	};
	__u32 probe;
	__u8 kind; /* enum pt_span_kind */
	__u8 name_class;
	/* NAMED: index into names, and PT_RANGE_*; CALL: flags of its span, the low byte; STATIC, an
	 * object: which region it is */
	__u8 slot;
	__u8 nested; /* CALL: as in pt_span's flags; NAMED: as in struct pt_rec_named */
};
#define PT_RANGE_OVERLAPS  64  /* it ended, and after it one that began inside it */
#define PT_RANGE_NOT_ENDED 128 /* see PT_SPAN_NOT_ENDED */
/* A range: it says itself when it ends. */
#define PT_IS_RANGE(f) ((f)->kind == PT_KIND_NAMED && (f)->sp == PT_SP_OBJECT)
/* Is a range of this class one of a sequence? */
#define PT_CLASS_IS_ITERATION(name_class)                                                              \
	((name_class) == PT_CLASS_ITERATION || (name_class) == PT_CLASS_USER_STEP)
/* Began before probes were changed, and its row's place is PT_MAY_MISS_END: it may have ended since. */
#define PT_IS_STALE(f, changed_ns, may_miss_end)                                             \
	((f)->ts_ns < (changed_ns) && (f)->sp != PT_SP_OBJECT && !(f)->name_class && (may_miss_end))

/* A generator was asked for an item and has not handed one on. */
struct pt_loader_next {
	__u64 frame; /* the interpreter's, which lives as long as the generator; 0: none */
	__u64 ts_ns;
};
#define PT_MAX_LOADER_NEXTS 4 /* of a thread at once: one generator may call another */

struct pt_thread {
	__u32 open_cnt;
	__u32 named_cnt;
	__u32 pid, tid;
	__u32 spanless; /* calls that have no span, since the latest named one */
	__u32 updated;	/* 1: an optimizer's step began since its latest backward pass did */
	__u64 ahead_ns;	   /* when its next phase was asked for, 0: not seen */
	__u64 asked_bytes; /* of an allocation under way, 0: none is */
	__u64 python; /* its state in CPython, where it was found last */
	__u64 caller_sp; /* stack pointer at the entry of the caller under way, 0: none */
	__u32 caller;	 /* its row */
	__u32 pad2;
	struct pt_loader_next loader_nexts[PT_MAX_LOADER_NEXTS];
	struct pt_open_span open[PT_MAX_OPEN_SPANS];
	__u32 name_len[PT_MAX_NAMED];
	struct pt_name names[PT_MAX_NAMED + 1]; /* the last: of a range beyond them */
	struct pt_rec_spans batch; /* ended spans that have not been sent yet */
	/* Scratch for one outgoing record: per thread, because uprobe programs can be preempted. */
	__u64 scratch[(sizeof(struct pt_rec_args) + 7) / 8];
};

#endif
