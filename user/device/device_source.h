/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Device time as a source of a recording. Starts and stops the library in the target around each
 * window, and brings its calls into the recording's order. Keeps what belongs to the window: a call
 * that was open in it, and an activity that such a call launched.
 *
 * All functions are for one thread. Times are CLOCK_MONOTONIC ns.
 */
#ifndef PROFTRACE_DEVICE_SOURCE_H
#define PROFTRACE_DEVICE_SOURCE_H

#include "bpf/events.h"
#include "device/shim_link.h"
#include "recording/recording.h"
#include "target/target.h"

struct device_source;

/* What a call's object, and its caller, had as its name; NULL: none that is known. */
struct call_names {
	const char *own, *full;
};

/* What a source asks of whoever has it; tid in the initial pid namespace. */
struct device_taker {
	uint32_t (*track)(void *ctx, uint32_t pid, uint32_t tid); /* where threads have theirs; 0: error */
	/* Writes a call of a function, cut to the window; its number is in span->probe. names: as at
	 * the call; of most functions none is told. */
	int (*hooked)(void *ctx, uint32_t pid, uint32_t tid, const struct pt_span *span,
		     const struct call_names *names);
	/* Such a call came; it is written later. */
	void (*met)(void *ctx, uint32_t pid, uint32_t tid, const struct shim_call *call);
	void *ctx;
};

/* Takes the link over, also on error. The target is borrowed. */
int device_source__new(struct shim_link *link, const struct target *target,
		       const struct device_taker *taker, struct device_source **out);
/* Lets the library go. NULL is fine. */
void device_source__free(struct device_source *d);

/* ---- the library ---- */

/* Asks it to be recording (or not); returns at once. */
void device_source__want(struct device_source *d, bool recording);
/* The process is no more: unless it exited in order, what CUPTI had not handed over went with it.
 */
void device_source__target_gone(struct device_source *d, bool execed);
/* Another tool has begun to use CUPTI. The library ends at once and leaves CUPTI to it. kinds: the
 * activity kinds that the tool has enabled, a bit each. */
void device_source__yield(struct device_source *d, uint64_t kinds);
/* The library has done so by itself. */
bool device_source__has_left(const struct device_source *d);
/* The window's events are known up to some time within it only: the library ended, or yielded. */
bool device_source__has_ended(const struct device_source *d);
/* True if the last request is done or cannot be. */
bool device_source__is_idle(struct device_source *d, uint64_t now);
bool device_source__is_recording(const struct device_source *d);
/* The library has not been seen: no driver has loaded it, so far. */
bool device_source__is_absent(const struct device_source *d);
/* Why there is no device time, as a clause; NULL: there is. */
const char *device_source__refusal(const struct device_source *d);
/* The same for a message, which has its key as a cause. */
const char *device_source__explain(const struct device_source *d);

/* ---- functions ---- */

/* What the library shall see beside CUDA's calls, from when it is asked to record next; none: NULL.
 * Copied. */
int device_source__see(struct device_source *d, const struct shim_functions *functions);
/* This one no more, from then on; what comes of it meanwhile is thrown away. */
void device_source__see_no_more(struct device_source *d, size_t function);
/* The library sees all of them, or as many as it could. */
size_t device_source__pointers_set(const struct device_source *d);

/* Calls of them in the latest window, and what noting these and CUDA's took of the target's time. */
struct device_hooked {
	uint64_t cnt, ns;
};
struct device_hooked device_source__hooked(const struct device_source *d);

/* Calls are counted from here on, outside windows; then how many of each function began in
 * [from_ns, to_ns), to be freed; NULL: no memory. */
void device_source__count(struct device_source *d);
uint64_t *device_source__counted(struct device_source *d, uint64_t from_ns, uint64_t to_ns);

/* ---- the window ---- */

/*
 * Takes what has come, and writes what is ripe. Call after each reading of the kernel's ring. An
 * activity is written in the round after the one in which it came. Then every edge of the window
 * before it is known.
 */
int device_source__pump(struct device_source *d);

void device_source__open(struct device_source *d, struct recording_writer *w, uint64_t open_ns);
/* The window's end is known; activities of its calls may still come. */
void device_source__close(struct device_source *d, uint64_t close_ns);
/* Everything has come: writes what is left, forgets the writer. */
int device_source__finish(struct device_source *d);

/* Writes the calls of a thread that ended by end_ns: before the span that encloses them. */
int device_source__before(struct device_source *d, uint32_t tid, uint64_t end_ns);
/* Reads the calls that ended by end_ns, and passes new ones to taker.met(). The taker must not call
 * this. */
int device_source__look(struct device_source *d, uint64_t end_ns);

/* "device" of the summary, and the number of records that the window lost; why they were is
 * added to the notes, an array. */
json_t *device_source__summary(struct device_source *d, json_t *notes, uint64_t *lost);
/* The latter of a library that sees functions alone. */
uint64_t device_source__lost_functions(struct device_source *d, json_t *notes);

#endif
