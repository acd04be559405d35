/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of CUPTI 11 to 13 that the shim uses, declared from its public documentation. So the
 * build needs no vendor header. Activity records are declared up to the last field that is read.
 * These fields have kept their offsets since CUDA 11.0, because newer versions append.
 * tests/e2e/shim/layout.c compares them with the vendor's headers if these are available.
 */
#ifndef PROFTRACE_SHIM_CUPTI_H
#define PROFTRACE_SHIM_CUPTI_H

#include <stddef.h>
#include <stdint.h>

#define CUPTI_API_11_0	13 /* API version numbers: small up to CUDA 12.9, from 130000 on since
			      13.0 */
#define CUPTI_API_12_6	24
#define CUPTI_API_12_8	26

enum cupti_result {
	CUPTI_OK = 0,
	CUPTI_MAX_LIMIT_REACHED = 12,
	CUPTI_NOT_COMPATIBLE = 14,
	CUPTI_INSUFFICIENT_PRIVILEGES = 35,
	CUPTI_MULTIPLE_SUBSCRIBERS = 39,
	CUPTI_VIRTUALIZED_INSUFFICIENT_PRIVILEGES = 40,
};

enum cupti_kind {
	CUPTI_MEMCPY = 1,
	CUPTI_MEMSET = 2,
	CUPTI_CONCURRENT_KERNEL = 10,
	CUPTI_MARKER = 12,
	CUPTI_OVERHEAD = 17,
	CUPTI_MEMCPY2 = 22, /* between devices */
	CUPTI_CUDA_EVENT = 36,
	CUPTI_SYNCHRONIZATION = 38,
	CUPTI_MEMORY2 = 49,
};

enum cupti_flags { CUPTI_FLUSH_FORCED = 1, CUPTI_FLAG_ASYNC = 1 };
enum cupti_thread_id { CUPTI_THREAD_ID_SYSTEM = 1 };
enum cupti_resource { CUPTI_DOMAIN_RESOURCE = 3, CUPTI_GRAPH_NODE_CREATED = 13 };
enum cupti_site { CUPTI_ENTER = 0, CUPTI_EXIT = 1 };
enum cupti_object { CUPTI_OBJECT_THREAD = 2 };
enum cupti_memory_operation { CUPTI_MEMORY_ALLOCATION = 1, CUPTI_MEMORY_RELEASE = 2 };

struct cupti_callback_data {
	int site;
	const char *function;
	const void *params;
	const int *result; /* valid at the exit */
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *data; /* the client's, from enter to exit */
	uint32_t correlation;
};

typedef void (*cupti_callback)(void *user, int domain, uint32_t api,
			       const struct cupti_callback_data *data);
typedef void (*cupti_buffer_request)(uint8_t **buffer, size_t *bytes, size_t *max_records);
typedef void (*cupti_buffer_complete)(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
				      size_t valid);
typedef uint64_t (*cupti_timestamp)(void);

/* Members have the names of CUPTI's functions without their prefix. */
#define CUPTI_FUNCTIONS(F)                                                                         \
	F(int, GetVersion, (uint32_t *))                                                           \
	F(int, Subscribe, (void **, cupti_callback, void *))                                       \
	F(int, Unsubscribe, (void *))                                                              \
	F(int, EnableCallback, (uint32_t, void *, int, uint32_t))                                  \
	F(int, GetCallbackName, (int, uint32_t, const char **))                                    \
	F(int, GetTimestamp, (uint64_t *))                                                         \
	F(int, ActivityEnable, (int))                                                              \
	F(int, ActivityDisable, (int))                                                             \
	F(int, ActivityRegisterCallbacks, (cupti_buffer_request, cupti_buffer_complete))           \
	F(int, ActivityFlushAll, (uint32_t))                                                       \
	F(int, ActivityGetNextRecord, (uint8_t *, size_t, void **))                                \
	F(int, ActivityGetNumDroppedRecords, (void *, uint32_t, size_t *))                         \
	F(int, Finalize, (void))

/* Some versions do not have these. */
#define CUPTI_OPTIONAL_FUNCTIONS(F)                                                                \
	F(int, ActivityRegisterTimestampCallback, (cupti_timestamp))                               \
	F(int, SetThreadIdType, (int))                                                             \
	F(int, GetThreadIdType, (int *))

struct cupti {
	void *library;
	uint32_t version;
#define F(type, name, args) type(*name) args;
	CUPTI_FUNCTIONS(F)
	CUPTI_OPTIONAL_FUNCTIONS(F)
#undef F
};

/* ---- activity records ---- */

#define RECORD __attribute__((packed, aligned(8)))

struct RECORD cupti_kernel {
	uint32_t kind;
	uint8_t cache_config, shared_config;
	uint16_t registers;
	uint32_t cache_requested, cache_executed;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	uint32_t grid[3], block[3];
	uint32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued, submitted;
	uint8_t launch_type, carveout[3];
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t shared_limit;
	uint32_t graph;
};

struct RECORD cupti_memcpy {
	uint32_t kind;
	uint8_t copy_kind, source, destination, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint32_t runtime_correlation, pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

struct RECORD cupti_memcpy_peer {
	uint32_t kind;
	uint8_t copy_kind, source, destination, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t source_device, source_context, destination_device, destination_context;
	uint32_t correlation;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

struct RECORD cupti_memset {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint16_t flags, memory;
	uint32_t pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

struct RECORD cupti_synchronization {
	uint32_t kind;
	uint32_t type;
	uint64_t start, end;
	uint32_t correlation, context, stream, event;
	uint64_t event_sync; /* since 12.8: the record of the event that it waits for */
};

struct RECORD cupti_cuda_event {
	uint32_t kind;
	uint32_t correlation, context, stream, event;
	uint32_t pad[3];
	void *reserved; /* from here on since 12.8 */
	uint64_t timestamp;
	uint64_t event_sync;
};

struct RECORD cupti_memory {
	uint32_t kind;
	uint32_t operation, memory;
	uint32_t correlation;
	uint64_t address, bytes, timestamp, pc;
	uint32_t pid, device, context, stream;
	const char *name;
	uint32_t async, pad;
	uint32_t pool; /* type of the memory pool, 0: none */
};

struct RECORD cupti_marker {
	uint32_t kind;
	uint32_t flags;
	uint64_t timestamp;
	uint32_t id;
	uint32_t object_kind;
	uint32_t object[3]; /* of a thread: process, thread */
	uint32_t pad;
	const char *name, *domain;
};

struct RECORD cupti_overhead {
	uint32_t kind;
	uint32_t overhead_kind;
	uint32_t object_kind;
	uint32_t object[3];
	uint64_t start, end;
};

#undef RECORD
#endif
