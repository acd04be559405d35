/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the library. */
#ifndef PROFTRACE_SHIM_H
#define PROFTRACE_SHIM_H

#include "cupti_shim/cupti.h"
#include "cupti_shim/protocol.h"
#include <time.h>

/* Names of our threads. bpf/cupti.bpf.c recognises them by their begin. */
#define SHIM_THREAD_NAME  "proftrace-shim"
#define CUPTI_THREAD_NAME "proftrace-cupti" /* CUPTI's threads inherit the caller's name */

#define SHIM_EXPORT __attribute__((visibility("default")))

/*
 * The entry point, however the library was loaded. Takes over the file at `path` and starts the
 * thread that carries out its commands. 0 or a negative errno: -EBUSY (the library serves another
 * proftrace, or the file is for another process), -EPROTO (a file of another version), or the error
 * of opening it.
 *
 * With an empty path it makes a file in memory and returns its descriptor, which stays open until
 * the first command. It waits until a dead or leaving proftrace is gone.
 */
SHIM_EXPORT int proftrace_cupti_attach(const char *path);

/* The driver calls this when it is initialized, if CUDA_INJECTION64_PATH names the library.
 * Attaches to $PROFTRACE_SHIM. */
SHIM_EXPORT int InitializeInjection(void);

/* clock.c: the offset of the process's time namespace, which proftrace sets. It is subtracted from
 * CLOCK_MONOTONIC. */
extern int64_t shim_clock_ahead_ns;

static inline uint64_t shim_now(void)
{
	const int64_t ahead_ns = __atomic_load_n(&shim_clock_ahead_ns, __ATOMIC_RELAXED);
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec - (uint64_t)ahead_ns;
}

/*
 * The files, the lowest first. A file only calls files listed above it. trampoline.h has what lies
 * between calls.c and functions.c.
 */

/* failures.c. Counts a failed CUPTI call (result not 0) for the report. Returns the result. */
int failures__note(struct shim_control *c, enum shim_failure which, int result);
/* Notes which CUPTI function failed, and how. Returns the enum shim_error for it. */
int failures__refused(struct shim_control *c, const char *call, int result);
/* Adds the records that CUPTI dropped since the last call. */
void failures__count_dropped(struct shim_control *c, const struct cupti *cupti, void *context,
			     uint32_t stream);

/* clock.c */
void clock__begin(struct shim_control *c, const struct cupti *cupti);
void clock__end(struct shim_control *c, const struct cupti *cupti);
void clock__give_back(struct shim_control *c, const struct cupti *cupti);

/* own_name.c: replaces a descriptor's path in the loader's list of libraries by a name. */
void own_name__set(void);

/* cupti_owner.c: has another tool set CUPTI's buffer functions? Only reads. */
bool cupti_owner__is_foreign(const struct cupti *cupti);

/* foreign_tool.c: calls `before` when a foreign tool begins to use CUPTI in the process. */
void foreign_tool__watch(void (*before)(void));
void foreign_tool__unwatch(void);

/* load.c: finds libcupti. 0 or enum shim_error. */
int cupti__load(struct cupti *cupti, struct shim_control *c);
/* A call that allocates or waits ends any thread's capture of a stream into a graph. From now on
 * CUPTI's calls on this thread do not. */
void captures__leave_alone(void);
/* Writes a record for each device that libcuda has. */
void devices__put(struct shim_control *c);

/* records.c: moves records from CUPTI's buffers into the ring of activities. */
void records__connect(struct shim_control *c, const struct cupti *cupti);
void records__on_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
void records__on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			  size_t valid);
uint32_t records__lent(void); /* number of buffers that CUPTI has */
bool records__put_name(struct shim_control *c, uint64_t key, const char *text);
bool records__put(struct shim_control *c, const struct shim_record *record);
void records__release(void); /* frees all buffers that are not lent */
/* Did any kernel belong to a graph, in this window or an earlier one? */
bool records__saw_graphs(void);

/* calls.c: asks CUPTI for callbacks of the recorded functions, or ends that. 0, or enum shim_error
 * if CUPTI refuses all of them. */
int calls__enable(struct shim_control *c, const struct cupti *cupti, void *subscriber, bool on);
void calls__on_callback(void *user, int domain, uint32_t api, const struct cupti_callback_data *d);
/* From now on calls go to this file. NULL: nowhere. Each thread takes a ring again. */
void calls__connect(struct shim_control *c);
/* From now on only calls that have begun are recorded, when they return. */
void calls__end(void);
/* Waits until these calls have returned, at most timeout_ns, because some take long. */
void calls__await_returns(uint64_t timeout_ns);
/* Has the program made a call since calls__connect()? */
bool calls__came(void);
/* Has a call launched or made a graph, in this window or an earlier one? */
bool calls__saw_graphs(void);
/* Writes a record for each call that has not returned. Call it after the last callback. */
void calls__put_open(struct shim_control *c);
/* The ring of the calling thread; negative: it has none. *connection: the one that the ring belongs
 * to. */
int calls__ring(uint32_t *connection);
bool calls__is_current(uint32_t connection);
struct shim_control *calls__connected(void); /* NULL: none */
/* Writes a call of a function other than CUDA's. calls__ring() gave the ring. */
void calls__put(int ring, const struct shim_call *call);
/* Runs `action` at the exit of a call of the CUDA API, on any thread. False: none came in time. */
bool calls__at_exit(void (*action)(void), uint64_t timeout_ns);

/*
 * functions.c: functions that are called through pointers in the program's data. Our pointers
 * replace them while the library records, whatever CUPTI does.
 */
void functions__set(struct shim_control *c);
/* Restores the pointers, and writes a record for each call that has not returned. */
void functions__clear(struct shim_control *c);
bool functions__are_set(void);
/* The same permanently, because the process ends. */
void functions__end(struct shim_control *c);
/* In a forked child: restores the pointers, and writes nothing. */
void functions__forget(void);

/* window.c: from subscribing to finalising CUPTI. */
int window__start(struct shim_control *c); /* 0 or enum shim_error */
void window__stop(struct shim_control *c);
/* Another tool has replaced our buffers: ends without taking anything from it. */
void window__yield(struct shim_control *c);
/* Only while CUPTI is ours. */
void window__flush(struct shim_control *c, uint32_t flag);
/* Call it in a forked child. */
void window__forget(void);

#endif
