/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the library share. */
#ifndef PROFTRACE_SHIM_H
#define PROFTRACE_SHIM_H

#include "cupti_shim/cupti.h"
#include "cupti_shim/protocol.h"
#include <time.h>

/* Names of our threads. bpf/cupti.bpf.c recognizes them by how they begin. */
#define SHIM_THREAD_NAME  "proftrace-shim"
#define CUPTI_THREAD_NAME "proftrace-cupti" /* CUPTI's threads inherit the caller's name */

#define SHIM_EXPORT __attribute__((visibility("default")))

/*
 * The entry point, however the library was loaded. Takes over the file at `path` and starts the
 * thread that carries out its commands. 0 or a negative errno: -EBUSY (the library serves another
 * proftrace, or the file is for another process), -EPROTO (a file of another version), or the
 * error of opening it.
 *
 * With an empty path it makes a file in memory and returns its descriptor, which stays open until
 * the first command. It waits until a proftrace that is dead or leaving is gone.
 */
SHIM_EXPORT int proftrace_cupti_attach(const char *path);

/* The driver calls this when it is initialized, if CUDA_INJECTION64_PATH names the library.
 * Attaches to $PROFTRACE_SHIM. */
SHIM_EXPORT int InitializeInjection(void);

/* clock.c: the offset of the process's time namespace, from proftrace. It is subtracted from
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
 * The files, the lowest first. A file calls those above it here, and none below it. trampoline.h
 * has what lies between calls.c and functions.c.
 */

/* failures.c. Counts a call of CUPTI that failed, result not 0, for the report. Answers the result.
 */
int failures__note(struct shim_control *c, enum shim_failure which, int result);
/* Notes which of CUPTI's functions refused what; the enum shim_error for it. */
int failures__refused(struct shim_control *c, const char *call, int result);
/* Adds what CUPTI dropped since it was last asked. */
void failures__count_dropped(struct shim_control *c, const struct cupti *cupti, void *context,
			     uint32_t stream);

/* clock.c */
void clock__begin(struct shim_control *c, const struct cupti *cupti);
void clock__end(struct shim_control *c, const struct cupti *cupti);
void clock__give_back(struct shim_control *c, const struct cupti *cupti);

/* own_name.c: replaces the path of a descriptor by a name in the loader's list of libraries. */
void own_name__set(void);

/* cupti_owner.c: has another tool given CUPTI its buffer functions? Only looks. */
bool cupti_owner__is_foreign(const struct cupti *cupti);

/* foreign_tool.c: a foreign tool that begins to use CUPTI in the process calls `before` first. */
void foreign_tool__watch(void (*before)(void));
void foreign_tool__unwatch(void);

/* load.c: finds libcupti. 0 or enum shim_error. */
int cupti__load(struct cupti *cupti, struct shim_control *c);
/* A call that allocates or waits ends the capture of a stream into a graph, whatever its thread.
 * From now on CUPTI's calls on this thread do not. */
void captures__leave_alone(void);
/* Writes a record of each device that libcuda knows. */
void devices__put(struct shim_control *c);

/* records.c: CUPTI's buffers into the ring of activities. */
void records__connect(struct shim_control *c, const struct cupti *cupti);
void records__on_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
void records__on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			  size_t valid);
uint32_t records__lent(void); /* buffers that CUPTI has */
bool records__put_name(struct shim_control *c, uint64_t key, const char *text);
bool records__put(struct shim_control *c, const struct shim_record *record);
void records__release(void); /* the memory of all buffers that are not lent */
/* Was any kernel part of a graph, in this window or an earlier one? */
bool records__saw_graphs(void);

/* calls.c: asks CUPTI for callbacks of the functions that are recorded, or takes that back. 0, or
 * enum shim_error if CUPTI refuses all of them. */
int calls__enable(struct shim_control *c, const struct cupti *cupti, void *subscriber, bool on);
void calls__on_callback(void *user, int domain, uint32_t api, const struct cupti_callback_data *d);
/* From now on calls go to this file; NULL: nowhere. Each thread takes a ring again. */
void calls__connect(struct shim_control *c);
/* From now on records only calls that have begun, when they return. */
void calls__end(void);
/* Waits until these calls have returned, or for timeout_ns: some do not return soon. */
void calls__await_returns(uint64_t timeout_ns);
/* Has the program called anything since calls__connect()? */
bool calls__came(void);
/* Has any call launched or made a graph, in this window or an earlier one? */
bool calls__saw_graphs(void);
/* Writes a record of each call that has not returned. Call after the last callback. */
void calls__put_open(struct shim_control *c);
/* The ring of the calling thread; negative: none. *connection: the one it belongs to. */
int calls__ring(uint32_t *connection);
bool calls__is_current(uint32_t connection);
struct shim_control *calls__connected(void); /* NULL: to nothing */
/* Writes a call that is none of CUDA's. The thread got the ring from calls__ring(). */
void calls__put(int ring, const struct shim_call *call);
/* Runs `action` in the exit of a call of the CUDA API, on whatever thread; false: none came in
 * time. */
bool calls__at_exit(void (*action)(void), uint64_t timeout_ns);

/*
 * functions.c: functions that are called through pointers in the program's data. The pointers are
 * replaced by ours as long as the library records, whatever CUPTI does.
 */
void functions__set(struct shim_control *c);
/* Puts the pointers back, and writes a record of each call that has not returned. */
void functions__clear(struct shim_control *c);
bool functions__are_set(void);
/* The same for good: the process ends. */
void functions__end(struct shim_control *c);
/* In a forked child: puts the pointers back, and writes nothing. */
void functions__forget(void);

/* window.c: from subscribing to finalising. */
int window__start(struct shim_control *c); /* 0 or enum shim_error */
void window__stop(struct shim_control *c);
/* Another tool has put its buffers in place of ours: ends without taking anything from it. */
void window__yield(struct shim_control *c);
/* While CUPTI is ours. */
void window__flush(struct shim_control *c, uint32_t flag);
/* In a forked child. */
void window__forget(void);

#endif
