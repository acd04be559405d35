/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulated devices of one process, inside the simulated libcuda.so.1: the door for the other
 * simulated libraries, which call the driver's exports as the real ones do and this where the
 * driver's interface says less than the simulation needs.
 *
 * Time is CLOCK_MONOTONIC in ns. Everything that a device does is an operation (struct sim_op) in a
 * graph of dependencies: the stream before it, the legacy stream's barriers, the events it waits
 * for, the nodes of a CUDA graph. An operation starts when all it waits for has ended and its unit
 * (the multiprocessors, a copy engine) has room, at a simulated time that does not depend on when a
 * host thread gets to run: sim_advance() replays all that happened up to now. An operation's end
 * may be unknown at its start: a collective that waits for other processes, a host function, a
 * hang.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_EXPORT	__attribute__((visibility("default")))
#define SIM_MAX_DEVICES 16
#define SIM_OPEN	UINT64_MAX /* duration of an operation whose end is not known yet */

/* Results. The driver's and the runtime's enumerations have the same values for these. */
enum {
	SIM_OK = 0,
	SIM_INVALID_VALUE = 1,
	SIM_OUT_OF_MEMORY = 2,
	SIM_NOT_INITIALIZED = 3,
	SIM_NO_DEVICE = 100,
	SIM_INVALID_DEVICE = 101,
	SIM_INVALID_HANDLE = 400,
	SIM_NOT_FOUND = 500,
	SIM_NOT_READY = 600,
	SIM_NOT_SUPPORTED = 801,
	SIM_LAUNCH_FAILED = 719,
	SIM_CAPTURE_UNSUPPORTED = 900,
	SIM_CAPTURE_INVALIDATED = 901,
	SIM_CAPTURE_UNJOINED = 904,
};

/* ---- knobs, from the environment: see README.md ---- */
struct sim_config {
	int device_cnt;
	size_t memory_bytes;
	const char *device_name;
	uint64_t kernel_ns, wave_ns, launch_ns;
	double pcie_gbs, pageable_gbs, hbm_gbs, nvlink_gbs, tflops;
	double jitter;
	uint64_t seed;
	size_t copy_max_bytes;
	uint64_t tick_ns;
	int verbose;
	bool log_unsupported;
	bool truth_api;
	int launch_cbid;
	int runtime_version;
};
extern struct sim_config sim_config;
void sim_config_read(void);

/* ---- life of the process's simulation ---- */
/* Reads the knobs, once. Every export of the simulated libraries gets here first, by sim_enter().
 */
void sim_init(void);
uint64_t sim_now(void);
void sim_lock(void);
void sim_unlock(void);
/* After a fork the child cannot use a CUDA context, and the driver says so. */
bool sim_forked(void);

/* ---- threads ---- */
struct sim_thread {
	bool async_memory; /* in cuMemAllocAsync, cuMemFreeAsync */
	int dev;
	bool has_context;
	int last_error;
	int depth;
	uint32_t correlation;
	const char *api; /* the outermost call in progress */
	int capture_mode;
	int32_t tid;
};
struct sim_thread *sim_thread(void);
int sim_device_set(int dev);
/* Makes the current device's primary context exist, as the runtime does at its first use. */
void sim_context_touch(void);
/* For device dev, or for any device if dev is -1. */
bool sim_context_active(int dev);
/* Convert between a device and its primary context. -1 if it is not a primary context. */
void *sim_context_of(int dev);
int sim_context_device(void *context);
int sim_device_attribute(int attribute, int dev, int *value);

/* ---- functions that can be launched ---- */
#define SIM_FUNCTION_MAGIC 0x46554e43u
struct sim_function {
	uint32_t magic;
	const char *name; /* mangled, as the linker knows it */
	const void *host; /* the host stub that stands for it, if registered */
	uint32_t registers, static_shared, local_bytes;
};
/* Derives a function's resources from its name. They are the same in every run. */
void sim_function_init(struct sim_function *f, const char *name, const void *host);
/* How the runtime resolves what a launch names; the driver's handles are functions themselves. */
void sim_resolver_set(struct sim_function *(*resolve)(const void *handle));
struct sim_function *sim_function_resolve(const void *handle);
/* One function per name, for the libraries that bring their own kernels. */
struct sim_function *sim_function_named(const char *name);

/* ---- operations ---- */
enum sim_kind { SIM_KERNEL, SIM_COPY, SIM_SET, SIM_HOST, SIM_MARK };
enum sim_unit {
	SIM_UNIT_NONE,
	SIM_UNIT_SM,
	SIM_UNIT_H2D,
	SIM_UNIT_D2H,
	SIM_UNIT_P2P,
	SIM_UNIT_CNT
};
#define SIM_SM_SHARES 1000 /* the multiprocessors of a device, as shared by concurrent kernels */

enum sim_copy_kind { SIM_H2H, SIM_H2D, SIM_D2H, SIM_D2D, SIM_P2P };
enum sim_memory_type { SIM_PAGEABLE, SIM_PINNED, SIM_DEVICE, SIM_MANAGED };

struct sim_stream;
struct sim_event;
struct sim_graph;

struct sim_op {
	enum sim_kind kind;
	const char *name;
	const char *api;
	int dev, src_dev, dst_dev;
	uint32_t stream_id, correlation;
	int32_t tid;
	int priority;
	uint32_t graph_id;
	uint64_t node_id;
	uint64_t submit_ns, start_ns, end_ns;
	uint64_t duration_ns;
	bool hangs; /* by a rule: nobody may end it */
	/* kernels */
	uint32_t grid[3], block[3];
	uint32_t dynamic_shared, static_shared, registers, local_bytes;
	/* copies and sets */
	void *dst;
	const void *src;
	void *staged; /* private copy of a pageable source */
	size_t bytes;
	enum sim_copy_kind copy_kind;
	enum sim_memory_type src_type, dst_type;
	bool async;
	uint32_t value, value_bytes;
	/* host functions, and operations that others end */
	void (*function)(void *argument);
	void *argument;
	void (*on_start)(
		struct sim_op *op); /* with the lock held: may not wait, nor end the operation */
	void (*on_end)(struct sim_op *op); /* with the lock held, before the end is recorded */
	struct sim_event *event;	   /* of a mark: recorded when it ends */
	/* the tool's, if it wants to hear of the end: with the lock held, on any thread */
	void *tool;
	void (*tool_ended)(struct sim_op *op);
	uint64_t first_ns; /* of a graph's tail: when its first node could start */
	/* scheduling */
	struct sim_stream *stream;
	enum sim_unit unit;
	uint32_t shares;
	uint32_t waits;
	uint64_t ready_ns;
	struct sim_op **dependents;
	uint32_t dependent_cnt, dependent_cap;
	struct sim_op *next;
};

/* sched.c */
struct sim_op *sim_op_new(enum sim_kind kind);
/* B starts after A has ended. Both not yet ended; the lock held. A may be NULL. */
void sim_op_after(struct sim_op *b, struct sim_op *a);
/* Hands over an operation whose dependencies are declared. The lock held. */
void sim_op_submit(struct sim_op *op, uint64_t not_before_ns);
/* Ends an operation of unknown duration. Takes the lock. */
void sim_op_finish(struct sim_op *op, uint64_t end_ns);
void sim_advance_locked(void);
void sim_advance(void);
/* Waits until done(argument), which is asked with the lock held, and is about operations. */
void sim_wait(bool (*done)(void *argument), void *argument);
/* Wakes what sleeps in sim_wait(); the lock held. */
void sim_wake(void);
void sim_sched_init(void);
/* The thread starts with the first context, as the driver's own do. */
void sim_sched_run(void);
void sim_sched_forked(void);

/* duration.c */
void sim_duration_read_rules(void);
/* Applies the rules, jitter and slow windows to an operation's duration at its start. */
uint64_t sim_duration(struct sim_op *op);
uint64_t sim_kernel_ns(const struct sim_op *op);
uint32_t sim_occupancy(uint32_t threads, uint32_t shared_bytes, uint32_t registers);

/* ---- streams and events ---- */
struct sim_stream {
	uint32_t magic;
	int dev;
	uint32_t id, flags;
	int priority;
	bool legacy; /* the null stream, a barrier for all blocking streams of the device */
	struct sim_op *last;
	_Atomic uint32_t pending;
	struct sim_graph *_Atomic capture; /* into which it is being captured */
	uint32_t *tails;		   /* nodes that the next captured one follows */
	uint32_t tail_cnt;
	struct sim_stream *next;
};

struct sim_event {
	uint32_t magic;
	int dev;
	uint32_t flags, id;
	struct sim_op *op; /* the last record, while it has not ended */
	uint64_t end_ns;
	uint32_t sync_id;
	bool recorded;
	uint32_t references;
	struct sim_graph *capture;
	uint32_t *tails;
	uint32_t tail_cnt;
};

/* NULL for a handle that is none. The three special handles name streams of the current device. */
struct sim_stream *sim_stream_get(void *handle);
int sim_stream_new(uint32_t flags, int priority, struct sim_stream **out);
int sim_stream_destroy(struct sim_stream *s);
int sim_stream_sync(struct sim_stream *s);
/* The same without a record of it: part of a call that waits. */
void sim_stream_drain(struct sim_stream *s);
int sim_stream_query(struct sim_stream *s);
void sim_device_sync(int dev);
void sim_device_drain(int dev);
/* Queues an operation in a stream, or captures it. Blocks while the stream's queue is full. */
int sim_stream_submit(struct sim_stream *s, struct sim_op *op);
/* All streams of a device, the legacy one last; the lock held. */
struct sim_stream *sim_device_streams(int dev);
/* Declares what an operation of this stream waits for, and makes it the stream's last; lock held.
 */
void sim_stream_append(struct sim_stream *s, struct sim_op *op);

struct sim_event *sim_event_get(void *handle);
struct sim_event *sim_event_new(uint32_t flags);
int sim_event_destroy(struct sim_event *e);
void sim_event_put(struct sim_event *e);
int sim_event_record(struct sim_event *e, struct sim_stream *s);
int sim_event_wait(struct sim_stream *s, struct sim_event *e);
int sim_event_query(struct sim_event *e);
int sim_event_sync(struct sim_event *e);
int sim_event_elapsed(float *ms, struct sim_event *a, struct sim_event *b);

/* ---- what is submitted ---- */
struct sim_launch {
	uint32_t grid[3], block[3];
	uint32_t dynamic_shared;
	uint64_t duration_ns; /* 0: by the model; SIM_OPEN: sim_op_finish() ends it */
	uint32_t shares;      /* 0: by the grid */
	void (*on_start)(struct sim_op *op);
	void (*on_end)(struct sim_op *op);
	void *argument;
};
int sim_launch(struct sim_stream *s, struct sim_function *f, const struct sim_launch *launch);
int sim_copy(struct sim_stream *s, void *dst, const void *src, size_t bytes, bool async);
int sim_set(struct sim_stream *s, void *dst, uint32_t value, uint32_t value_bytes, size_t count,
	    bool async);
int sim_host_function(struct sim_stream *s, void (*function)(void *), void *argument);
/* Runs host functions in order on a thread of their own, as the driver does. The lock held. */
void sim_host_queue(struct sim_op *op);
/*
 * Launches a kernel of a math library. These libraries link the runtime statically: CUPTI sees a runtime
 * call and the driver call within it, and nothing calls libcudart.so.
 */
int sim_library_launch(void *stream, const char *kernel, const uint32_t grid[3], uint32_t threads,
		       double flops, double bytes);
/* The same by the driver's interface alone, with a launch that only the engine understands, as
 * NCCL. */
int sim_driver_launch_with(void *stream, struct sim_function *f, const struct sim_launch *launch);

/* ---- memory ---- */
struct sim_range {
	uintptr_t start;
	size_t bytes;
	enum sim_memory_type type;
	int dev;
	uint32_t flags;
	bool mapped; /* by the virtual memory interface: not ours to unmap */
};
int sim_memory_alloc(void **out, size_t bytes, enum sim_memory_type type, uint32_t flags);
int sim_memory_free(void *p);
int sim_memory_add(void *p, size_t bytes, enum sim_memory_type type, int dev, bool mapped);
int sim_memory_remove(void *p);
/* Physical memory of a device, for the virtual memory interface: 0 or SIM_OUT_OF_MEMORY. */
int sim_memory_reserve(int dev, int64_t bytes);
bool sim_memory_find(const void *p, struct sim_range *out);
void sim_memory_info(int dev, size_t *free_bytes, size_t *total_bytes);

/* ---- graphs ---- */
struct sim_node {
	struct sim_op op; /* the template of what a launch runs */
	uint32_t *after;
	uint32_t after_cnt;
	uint64_t id;
};
struct sim_graph {
	uint32_t magic;
	uint32_t id;
	uint64_t capture_id;
	struct sim_node *nodes;
	uint32_t cnt, cap;
	struct sim_stream *origin;
	bool invalid;
	bool global; /* other threads' calls may end its capture, too */
	uint32_t traced; /* since which time CUPTI has something of it; 0: it has nothing */
};
struct sim_graph *sim_graph_get(void *handle);
/* How many there are: captured, instantiated and not destroyed. */
uint32_t sim_graph_cnt(void);
int sim_capture_begin(struct sim_stream *s);
int sim_capture_end(struct sim_stream *s, struct sim_graph **out);
/* A call that allocates or waits ends the captures that are global, unless its thread has said otherwise. */
void sim_capture_disturb(void);
/* Appends an operation's template after the stream's tails; the operation is freed. */
int sim_capture_op(struct sim_stream *s, struct sim_op *op);
int sim_graph_copy(const struct sim_graph *g, struct sim_graph **out);
void sim_graph_free(struct sim_graph *g);
int sim_graph_launch(struct sim_graph *g, struct sim_stream *s);
/* Whether kernels are recorded. A graph that is launched meanwhile fails, and the device with it, when it is
 * launched after CUPTI left (seen of CUPTI 13.0). */
void sim_graphs_trace(bool on);
void sim_graphs_leave(void);

/* ---- calls, as CUPTI sees them ---- */
enum sim_domain { SIM_DRIVER = 1, SIM_RUNTIME = 2 }; /* numbers of CUpti_CallbackDomain */
struct sim_frame {
	enum sim_domain domain;
	uint32_t cbid;
	const char *name;
	const void *params;
	const char *symbol; /* of a launch: the kernel's name, if the caller knows it */
	/* filled by sim_enter() */
	uint32_t correlation;
	bool outermost;
	int result;
	uint64_t truth_ns, tool_ns;
	uint64_t tool_data;
	const void *tool;
};
/* A traced call begins. Not 0: it fails with this result (injected failure, sticky error, fork). */
int sim_enter(struct sim_frame *frame);
/* The call ends; returns its result. */
int sim_leave(struct sim_frame *frame, int result);
int sim_unsupported(const char *name, int error);
/* All calls fail with it from now on; returns it. */
int sim_break(int error);

enum sim_sync_kind { SIM_SYNC_EVENT = 1, SIM_SYNC_WAIT, SIM_SYNC_STREAM, SIM_SYNC_CONTEXT };
struct sim_sync {
	enum sim_sync_kind kind;
	int dev;
	uint32_t stream_id, event_id, event_sync_id, correlation;
	int result; /* of a query: SIM_NOT_READY */
};
struct sim_memory_event {
	bool release;
	const void *address;
	size_t bytes;
	enum sim_memory_type type;
	int dev;
	uint32_t correlation;
	bool async; /* by cuMemAllocAsync, cuMemFreeAsync */
};
enum sim_resource { SIM_CONTEXT_CREATED = 1, SIM_STREAM_CREATED = 3, SIM_STREAM_DESTROYED = 4 };

/* What a tool (the simulated CUPTI) wants to hear. NULL members are not called. */
struct sim_tool {
	void (*enter)(struct sim_frame *frame);
	void (*leave)(struct sim_frame *frame);
	/* On the caller's thread, without the lock. Of marks: event records and graphs' tails only.
	 */
	void (*submitted)(struct sim_op *op);
	uint64_t (*sync_begin)(void);
	void (*sync_end)(const struct sim_sync *sync, uint64_t begin);
	void (*memory)(const struct sim_memory_event *event);
	void (*resource)(enum sim_resource what, int dev, struct sim_stream *s);
	/* By a call on a stream that is being captured. */
	void (*node_created)(struct sim_graph *g, enum sim_kind kind);
};
/* NULL: no tool, and nothing to pay. */
void sim_tool_set(const struct sim_tool *tool);
const struct sim_tool *sim_tool(void);

/* ---- the truth log ---- */
void sim_truth_op(const struct sim_op *op);
void sim_truth_call(const struct sim_frame *frame, uint64_t end_ns);
/* A row of another kind: what was done to the simulated CUPTI, what a tool did wrong. */
void sim_truth_note(const char *kind, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void sim_truth_flush(void);
void sim_truth_forked(void);

/* ---- tables ---- */
struct sim_entry {
	const char *name;
	void *function;
};
extern const struct sim_entry sim_entries[]; /* generated: the driver's exports, by name */
void *sim_entry_find(const char *name);
struct sim_error {
	int value;
	const char *name;
};
const char *sim_error_text(int error);
const char *sim_cuda_error_name(int error);
const char *sim_cudart_error_name(int error);
