/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * proftrace and the library in the target share one file in memory, mapped by both. proftrace makes
 * it, or the library does if proftrace attaches to a running process.
 *
 *     control block | SHIM_RINGS rings of calls, one thread each | one ring of activities
 *     | functions that are called through pointers | where these pointers are
 *     | names that they were called by
 *
 * proftrace gives commands; the library answers each by its number. Every ring has one producer and
 * one consumer, counters that only grow, and room that is a power of two. An empty ring is filled
 * from its front again, so that it touches no more memory than it ever holds unread. Times are
 * CLOCK_MONOTONIC ns of the initial time namespace unless said otherwise. The file is sparse:
 * unused parts take no memory. Both sides are built from this header; `version` changes with every
 * change of layout.
 */
#ifndef PROFTRACE_SHIM_PROTOCOL_H
#define PROFTRACE_SHIM_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SHIM_MAGIC	    0x4d494853u /* "SHIM" */
#define SHIM_VERSION	    20
#define SHIM_RINGS	    64	  /* threads that call the device */
#define SHIM_RING_CALLS	    65536 /* calls in each ring */
#define SHIM_ACTIVITY_BYTES (32u << 20)
#define SHIM_FUNCTIONS	    2048  /* functions that are called through pointers */
#define SHIM_POINTERS	    16384 /* pointers to these functions */
#define SHIM_STACK_WORDS    12
#define SHIM_SEEN_NAMES	    16384
#define SHIM_SEEN_NAME_TRIES 32
#define SHIM_SEEN_NAME_MAX  4096 /* bytes */
#define SHIM_SEEN_TEXT_BYTES (4u << 20)
#define SHIM_NAMED_CALLS    16
#define SHIM_OWNER_DIED	    0x40000000u /* FUTEX_OWNER_DIED */
#define SHIM_ENV	    "PROFTRACE_SHIM" /* path of the file, for the library to find */

enum shim_command {
	SHIM_PARK = 1,	 /* stop, and release all of CUPTI */
	SHIM_RECORD = 2, /* subscribe, enable */
	SHIM_FLUSH = 3,	 /* pass on what is complete, and continue */
	SHIM_LEAVE = 4,	 /* park, end the thread, forget this file */
	SHIM_YIELD = 5,	 /* park, but take nothing from another tool, which has CUPTI now */
};

enum shim_state {
	SHIM_ABSENT = 0, /* no process has opened the file yet */
	SHIM_PARKED = 1,
	SHIM_STARTING = 2,
	SHIM_RECORDING = 3,
	SHIM_STOPPING = 4,
	SHIM_LEFT = 5, /* the library will not use this file again */
};

/* Why a command failed. */
enum shim_error {
	SHIM_OK = 0,
	SHIM_NO_CUPTI = 1,	   /* the process has no libcupti, and none could be loaded */
	SHIM_OLD_CUPTI = 2,	   /* older than CUDA 11 */
	SHIM_OTHER_SUBSCRIBER = 3, /* another tool owns CUPTI */
	SHIM_NO_PRIVILEGE = 4,	   /* the driver lets only administrators profile */
	SHIM_CUPTI_FAILED = 5,	   /* see cupti_call and cupti_result */
	SHIM_NO_MEMORY = 6,
	SHIM_NEW_CUPTI = 7, /* of a newer CUDA than the driver */
	SHIM_NOT_CUPTI = 8, /* a library without CUPTI's functions */
};

/* Why CUPTI stays in the process, although nothing of it is enabled. */
enum shim_stay {
	SHIM_STAYS_NOT = 0,
	SHIM_STAYS_OLD = 1,	   /* before CUDA 12.6, leaving may crash programs with graphs */
	SHIM_STAYS_FOR_GRAPHS = 2, /* graphs that it has seen would fail without it */
	SHIM_STAYS_UNCALLED = 3,   /* it may leave only during a CUDA call, and none came */
	SHIM_STAYS_REFUSED = 4,
};

/* Calls of CUPTI that may fail without ending the window. */
enum shim_failure {
	SHIM_FAILS_ENABLE = 0, /* cuptiActivityEnable, for a kind other than kernels */
	SHIM_FAILS_DISABLE = 1,
	SHIM_FAILS_FLUSH = 2,
	SHIM_FAILS_RECORD = 3,	/* cuptiActivityGetNextRecord, before a buffer's end */
	SHIM_FAILS_DROPPED = 4, /* cuptiActivityGetNumDroppedRecords */
	SHIM_FAILS_UNSUBSCRIBE = 5,
	SHIM_FAILS_TIMESTAMP = 6, /* cuptiGetTimestamp, where it is needed */
	SHIM_FAILS_THREADS = 7,	  /* cuptiSetThreadIdType */
	SHIM_FAILS_CLOCK = 8,	  /* cuptiActivityRegisterTimestampCallback, at the end */
	SHIM_FAILURES = 9,
};

/* One moment on both clocks: mono_ns is the middle of a bracket of bracket_ns. */
struct shim_clock_point {
	uint64_t cupti_ns, mono_ns, bracket_ns;
};

/* A ring's counters. Each side has its own cache line. */
struct shim_ring {
	uint64_t head; /* producer: number of units written */
	uint64_t lost; /* producer: number of units without room */
	uint64_t base; /* producer: the unit at the ring's front */
	uint32_t tid;  /* the target's thread id; 0: free */
	uint32_t pad[9];
	uint64_t tail; /* consumer: number of units read */
	uint64_t pad2[7];
};

struct shim_control {
	uint32_t magic, version;
	uint64_t bytes; /* size of the whole file */

	/* proftrace writes these: */
	uint32_t command_seq; /* futex; grows with each command */
	uint32_t command;     /* enum shim_command */
	uint64_t heartbeat_ns;
	int64_t clock_ahead_ns; /* the process's time namespace adds this to CLOCK_MONOTONIC */
	uint64_t heartbeat_timeout_ns; /* an older heartbeat means that proftrace is dead */
	uint64_t drain_ns;	       /* how long a stop waits for device work */
	uint64_t kept_kinds; /* SHIM_YIELD: activity kinds that the other tool enabled, a bit
				each */
	char cupti_path[512];	       /* a libcupti to load if the process has none, or empty */
	uint32_t cupti_major;	       /* CUDA version of the libcupti to look for; 0: any */
	uint32_t functions_alone; /* 1: record only hooked functions, without CUPTI */
	uint32_t waits; /* 1: also record waits of streams and threads, and events */
	uint32_t only_pid; /* the only process (by its own id) that may take the file; 0: any */
	/* A robust futex of one of proftrace's threads (liveness futex). It holds the thread's id,
	 * or SHIM_OWNER_DIED, which the kernel sets if the thread ended first. 0: no thread holds
	 * it, and only the heartbeat shows life. */
	uint32_t owner;
	/* The hooked functions and their pointers; see shim_functions(). */
	uint32_t function_cnt, pointer_cnt;
	uint32_t node_seq;    /* in a node: offset of its number; 0: unknown */
	uint32_t node_object; /* in a node of class `python_node`: offset of its Python object */
	uint64_t python_node; /* first word of such a node; 0: unknown */
	uint64_t node_number; /* function that returns the number of the thread's next node; 0:
				 none */
	uint64_t python_hash; /* place of the hash function in Python's type of C functions; 0:
				 none */
	/* Calls whose caller has a name for them: one of its registers points to a pointer to an
	 * object with the name. Found by return address. */
	struct shim_named_call {
		uint64_t return_address; /* 0: end of the list */
		uint32_t reg;		 /* the processor's number: 3 rbx, 5 rbp, 12 to 15 */
		uint32_t pad;
	} named_calls[SHIM_NAMED_CALLS];
	uint64_t named_at; /* offset of the name in that object, like shim_function.name_at */

	/* the library writes these: */
	uint32_t pid; /* the process that has taken the file, by its own id; set by exchange */
	uint32_t state;
	uint32_t done_seq; /* the last command that was carried out */
	uint32_t error;	   /* its result, enum shim_error */
	int32_t cupti_result;
	uint32_t cupti_version;
	char cupti_call[64]; /* name of the function that returned cupti_result */
	uint32_t own_clock;  /* 1: CUPTI's times are CLOCK_MONOTONIC; 0: convert them with the
				two points */
	uint32_t finalized;  /* 1: after the last stop, nothing of CUPTI is in the process */
	uint32_t stays;	     /* if `finalized` is 0: why CUPTI stays (enum shim_stay) */
	uint32_t exited;     /* 1: the process called exit(), and all records are here */
	uint32_t pointers_set; /* number of pointers set now, of pointer_cnt */
	uint32_t left;	       /* 1: in the latest window CUPTI was left to another tool */
	uint32_t driver_version; /* CUDA version of the driver, 13020 for 13.2; 0: unknown */
	uint32_t pad;
	uint64_t note_ns;      /* approximate time to note a call */
	uint64_t seen_bytes;   /* bytes of texts of names, including those without room */
	struct shim_clock_point clock_begin, clock_end; /* of the latest window */
	uint64_t lost_threads;				/* calls of threads without a ring */
	uint64_t lost_cupti;				/* records that CUPTI dropped */
	uint64_t lost_incomplete; /* activities that had not ended when the window ended */
	uint64_t lost_buffers;	  /* records in buffers that had to be discarded */
	uint64_t unknown_records; /* records of kinds that were not requested */
	struct shim_failed {
		uint32_t cnt;
		int32_t result;	 /* of the first failure */
	} failed[SHIM_FAILURES]; /* of the latest window */

	struct shim_ring rings[SHIM_RINGS];
	struct shim_ring activities; /* its units are bytes */
};

/* ---- calls ---- */

enum shim_domain {
	SHIM_DRIVER = 1,
	SHIM_RUNTIME = 2,
	SHIM_FUNCTION = 3, /* no CUDA function: one of shim_functions() */
};

enum shim_call_flags {
	SHIM_CALL_FAILED = 1,	/* it returned an error */
	SHIM_CALL_CAPTURED = 2, /* it became part of a graph, and gave the device no work */
	SHIM_CALL_OBJECT = 4,	/* FUNCTION: `type` belongs to Python */
	SHIM_CALL_RETURNED = 8, /* FUNCTION that lasts until the next one: it ended with its
				   caller */
	SHIM_CALL_LEFT = 16, /* FUNCTION: it did not return; it ended before end_ns */
};

#define SHIM_NO_NODE UINT64_MAX

/* One call: an outermost call of the CUDA API, or of a function. */
struct shim_call {
	uint64_t begin_ns; /* 0: before the window */
	uint64_t end_ns;
	uint32_t correlation; /* FUNCTION: 0 */
	uint16_t api; /* number of the function; the name of a CUDA function comes as a
			 SHIM_REC_NAME */
	uint8_t domain;
	uint8_t flags; /* enum shim_call_flags */
	/* FUNCTION: for a node its number; for a function with names the name's key; for others the
	 * latest node made inside; SHIM_NO_NODE: none. CUDA: the thread's context */
	uint64_t node;
	/* FUNCTION: its object, or a word of that; for a Python node the object's type; for a
	 * function with names the key of the caller's name for it; 0: none */
	uint64_t type;
};

/* ---- functions that are called through pointers ---- */

enum shim_function_kind {
	SHIM_FUNCTION_CALL = 1, /* a method of Python; its return is seen */
	/* A virtual function whose object is the argument after the result's address. It lasts
	 * until the thread's next one, or until another function that it does not call. */
	SHIM_FUNCTION_NODE = 2,
	SHIM_FUNCTION_ENCLOSING = 3, /* like CALL, but it makes no record itself */
	SHIM_FUNCTION_PART = 4, /* any function: lasts like NODE, or until the return of the
				   ENCLOSING that calls it */
	SHIM_FUNCTION_RETURNING = 5, /* any other function whose return is seen; at most
					SHIM_STACK_WORDS of its arguments are on the stack */
};

struct shim_function {
	uint64_t address;
	uint32_t kind; /* enum shim_function_kind, 0: not recorded any more */
	/* for RETURNING: */
	uint8_t object; /* the argument register that leads to `type`, from 1 on; 0: none */
	uint8_t outermost; /* no record directly inside another function with a type */
	uint16_t object_at; /* offset there, in bytes */
	/* Instead: offset there of the std::string (GCC's old layout) with the call's name; 0:
	 * none */
	uint32_t name_at;
	uint32_t pad;
};

/* A name of a hooked call. The target's threads add names: first the key, then the text. */
struct shim_seen_name {
	uint64_t key; /* hash of the text; 0: not there yet */
	uint32_t at;  /* place of the text among the texts */
	uint32_t len; /* bytes; 0: not there yet, or without room */
};

/* A word of the program's data that contains a function's address. While the library records, the
 * word leads to an entry of the library, which calls the function. */
struct shim_pointer {
	uint64_t at;
	uint32_t function;  /* index */
	uint32_t read_only; /* 1: its page must be made writable for that */
};

/* ---- activities ---- */

enum shim_record_kind {
	SHIM_REC_PAD = 0, /* fills the ring to its end */
	SHIM_REC_NAME = 1,
	SHIM_REC_KERNEL = 2,
	SHIM_REC_COPY = 3,
	SHIM_REC_SET = 4,
	SHIM_REC_SYNC = 5,
	SHIM_REC_MEMORY = 6,
	SHIM_REC_MARKER = 7,
	SHIM_REC_OVERHEAD = 8,
	SHIM_REC_DEVICE = 9,
	SHIM_REC_CALL = 10,
	SHIM_REC_EVENT = 11,
};

struct shim_record {
	uint32_t kind;	/* enum shim_record_kind */
	uint32_t bytes; /* size of the whole record, a multiple of 8 */
};

/* The key of a function is SHIM_API_KEY. Keys of other names are hashes of their text, with 10 in
 * the two highest bits for a kernel and 11 for a range. */
#define SHIM_API_KEY(domain, api) ((uint64_t)(domain) << 16 | (api))
#define SHIM_KEY_TEXT		  (1ull << 63)
#define SHIM_KEY_RANGE		  (1ull << 62)
#define SHIM_NAME_MAX		  16384 /* bytes; a longer name is cut, and ends in its key */

struct shim_name {
	struct shim_record h;
	uint64_t key;
	char text[]; /* NUL-terminated, and zeroes up to the record's end */
};

/* All device activities begin with this. Times are CUPTI's. */
struct shim_activity {
	struct shim_record h;
	uint64_t start_ns, end_ns;
	uint32_t correlation;
	uint32_t device, context, stream;
	uint32_t graph; /* 0: not launched by a graph */
	uint32_t pad;
};

struct shim_kernel {
	struct shim_activity a;
	uint64_t name; /* key of the name */
	uint32_t grid[3], block[3];
	uint32_t registers;	/* per thread */
	uint32_t static_shared; /* bytes */
	uint32_t dynamic_shared;
	uint32_t local_bytes; /* per thread */
};

struct shim_copy { /* also between devices */
	struct shim_activity a;
	uint64_t bytes;
	uint8_t kind;		     /* CUPTI's copy kind */
	uint8_t source, destination; /* CUPTI's memory kinds */
	uint8_t async;
	uint32_t source_device, destination_device;
	uint32_t pad;
};

struct shim_set {
	struct shim_activity a;
	uint64_t bytes;
	uint32_t value;
	uint32_t memory; /* CUPTI's memory kind */
};

struct shim_sync { /* a.device is unknown, so all ones */
	struct shim_activity a;
	uint32_t type; /* 1 event, 2 stream waits for event, 3 stream, 4 context */
	uint32_t event;
	uint64_t event_sync; /* of the record of the awaited event; 0: unknown */
};

struct shim_event { /* an event was recorded on a stream. It has no times, and a.device is
		       unknown */
	struct shim_activity a;
	uint32_t event;
	uint32_t pad;
	uint64_t event_sync; /* new for each record; 0: unknown */
};

struct shim_memory {
	struct shim_activity a; /* begin and end are equal */
	uint64_t address, bytes;
	uint32_t release; /* 0: allocation */
	uint32_t memory;  /* CUPTI's memory kind */
	uint32_t pooled;  /* 1: of a memory pool (cudaMallocAsync), not of the driver */
	uint32_t pad;
};

struct shim_marker {		/* NVTX */
	struct shim_activity a; /* begin and end are equal */
	uint64_t name;		/* key; 0: none */
	uint32_t id;
	uint32_t flags; /* 1 instant, 2 begin, 4 end */
	uint32_t tid;	/* 0: not known */
	uint32_t pad;
};

struct shim_overhead { /* CUPTI's own overhead in the target */
	struct shim_activity a;
	uint32_t kind; /* CUPTI's */
	uint32_t tid;
};

struct shim_device {
	struct shim_record h;
	uint32_t device;
	uint32_t major, minor; /* compute capability */
	uint32_t multiprocessors;
	uint32_t threads_per_multiprocessor, registers_per_multiprocessor;
	uint32_t shared_per_multiprocessor, threads_per_block;
	uint32_t warp_size, registers_per_block, shared_per_block, shared_per_block_optin;
	uint32_t blocks_per_multiprocessor, shared_reserved_per_block;
	uint32_t pci_domain, pci_bus, pci_device;
	uint32_t has_pci; /* all three values are known */
	uint64_t memory_bytes;
	char name[96];
};

/* A call that had not returned when the library left CUPTI; it ends at that moment. If it returned
 * just then, it is in its thread's ring, too. */
struct shim_open_call {
	struct shim_record h;
	struct shim_call call;
	uint32_t ring;
	uint32_t tid; /* the target's thread id */
};

/* ---- the file ---- */

#define SHIM_CONTROL_BYTES ((sizeof(struct shim_control) + 4095) & ~(size_t)4095)
#define SHIM_CALLS_BYTES   (SHIM_RING_CALLS * sizeof(struct shim_call))
#define SHIM_ACTIVITIES_AT (SHIM_CONTROL_BYTES + SHIM_RINGS * SHIM_CALLS_BYTES)
#define SHIM_FUNCTIONS_AT  (SHIM_ACTIVITIES_AT + SHIM_ACTIVITY_BYTES)
#define SHIM_POINTERS_AT   (SHIM_FUNCTIONS_AT + SHIM_FUNCTIONS * sizeof(struct shim_function))
#define SHIM_SEEN_NAMES_AT (SHIM_POINTERS_AT + SHIM_POINTERS * sizeof(struct shim_pointer))
#define SHIM_SEEN_TEXTS_AT (SHIM_SEEN_NAMES_AT + SHIM_SEEN_NAMES * sizeof(struct shim_seen_name))
#define SHIM_FILE_BYTES	   (SHIM_SEEN_TEXTS_AT + SHIM_SEEN_TEXT_BYTES)

static inline struct shim_call *shim_calls(struct shim_control *c, size_t ring)
{
	return (struct shim_call *)((char *)c + SHIM_CONTROL_BYTES + ring * SHIM_CALLS_BYTES);
}

static inline char *shim_activity_bytes(struct shim_control *c)
{
	return (char *)c + SHIM_ACTIVITIES_AT;
}

static inline struct shim_function *shim_functions(struct shim_control *c)
{
	return (struct shim_function *)((char *)c + SHIM_FUNCTIONS_AT);
}

static inline struct shim_pointer *shim_pointers(struct shim_control *c)
{
	return (struct shim_pointer *)((char *)c + SHIM_POINTERS_AT);
}

static inline struct shim_seen_name *shim_seen_names(struct shim_control *c)
{
	return (struct shim_seen_name *)((char *)c + SHIM_SEEN_NAMES_AT);
}

static inline char *shim_seen_texts(struct shim_control *c)
{
	return (char *)c + SHIM_SEEN_TEXTS_AT;
}

/* The places to search for a key, in order. */
static inline size_t shim_seen_name_place(uint64_t key, size_t i)
{
	return (size_t)((key / 2 + i) % SHIM_SEEN_NAMES);
}

/* For the maker of the file, which is all zeroes: sets what must be there before others read it. */
static inline void shim_init(struct shim_control *c, uint64_t now_ns)
{
	c->version = SHIM_VERSION;
	c->bytes = SHIM_FILE_BYTES;
	c->heartbeat_ns = now_ns;
	c->heartbeat_timeout_ns = 5000000000ull;
	c->drain_ns = 2000000000ull;
	__atomic_store_n(&c->magic, SHIM_MAGIC, __ATOMIC_RELEASE);
}

/* The place of a unit that is unread or comes next. room: of the ring, in units. The consumer must
 * have read the head first: the front only changes while the ring is empty. */
static inline size_t shim_place(const struct shim_ring *ring, uint64_t unit, size_t room)
{
	return (size_t)((unit - __atomic_load_n(&ring->base, __ATOMIC_RELAXED)) % room);
}

/* ---- producer ---- */

/* The unread part of the ring. */
static inline uint64_t shim_used(struct shim_ring *ring)
{
	uint64_t used = ring->head - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);

	if (!used)
		__atomic_store_n(&ring->base, ring->head, __ATOMIC_RELAXED);
	return used;
}

static inline void shim_put_call(struct shim_ring *ring, struct shim_call *calls,
				 const struct shim_call *call)
{
	uint64_t used = shim_used(ring), head = ring->head;

	if (used >= SHIM_RING_CALLS) {
		__atomic_store_n(&ring->lost, ring->lost + 1, __ATOMIC_RELAXED);
		return;
	}
	calls[shim_place(ring, head, SHIM_RING_CALLS)] = *call;
	__atomic_store_n(&ring->head, head + 1, __ATOMIC_RELEASE);
}

/* Makes room for a record of that size (a multiple of 8) in one piece. NULL: there is none, and the
 * loss is counted. shim_commit() makes the record visible. */
static inline void *shim_reserve(struct shim_control *c, size_t bytes)
{
	struct shim_ring *ring = &c->activities;
	uint64_t used = shim_used(ring);
	size_t at = shim_place(ring, ring->head, SHIM_ACTIVITY_BYTES);
	size_t to_end = SHIM_ACTIVITY_BYTES - at, skip = to_end < bytes ? to_end : 0;
	char *data = shim_activity_bytes(c);

	if (used + skip + bytes > SHIM_ACTIVITY_BYTES) {
		__atomic_store_n(&ring->lost, ring->lost + 1, __ATOMIC_RELAXED);
		return NULL;
	}
	if (skip) {
		const struct shim_record pad = {SHIM_REC_PAD, (uint32_t)skip};

		memcpy(data + at, &pad, sizeof(pad));
		__atomic_store_n(&ring->head, ring->head + skip, __ATOMIC_RELEASE);
		at = 0;
	}
	return data + at;
}

static inline void shim_commit(struct shim_control *c, size_t bytes)
{
	__atomic_store_n(&c->activities.head, c->activities.head + bytes, __ATOMIC_RELEASE);
}

/* Copies a record with a complete header. */
static inline bool shim_put(struct shim_control *c, const void *record)
{
	size_t bytes = ((const struct shim_record *)record)->bytes;
	void *room = shim_reserve(c, bytes);

	if (!room)
		return false;
	memcpy(room, record, bytes);
	shim_commit(c, bytes);
	return true;
}

#endif
