/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Device times as a source of a recording. Starts and stops the library in the target around each
 * window. Puts the library's calls into the recording's order. Keeps what belongs to the window: a
 * call that was open in it, and activities of such calls.
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

/* Names of a call's object and of its caller; NULL: unknown. */
struct call_names {
	const char *own, *full;
};

/* Callbacks to the owner of a source. tid is in the initial pid namespace. */
struct device_taker {
	uint32_t (*track)(void *ctx, uint32_t pid, uint32_t tid); /* the track of a thread; 0:
								     error */
	/* Writes a function's call, cut to the window. span->probe is the function's number. names:
	 * as they were at the call; most functions have none. */
	int (*hooked)(void *ctx, uint32_t pid, uint32_t tid, const struct pt_span *span,
		     const struct call_names *names);
	/* Such a call was read; it is written later. */
	void (*met)(void *ctx, uint32_t pid, uint32_t tid, const struct shim_call *call);
	void *ctx;
};

/* Takes over the link, also on error. Borrows the target. */
int device_source__new(struct shim_link *link, const struct target *target,
		       const struct device_taker *taker, struct device_source **out);
/* Ends the library's service. d may be NULL. */
void device_source__free(struct device_source *d);

/* ---- the library ---- */

/* Asks the library to record, or to stop. Returns at once. */
void device_source__want(struct device_source *d, bool recording);
/* The process is gone. If it did not exit in order, what CUPTI had not delivered is lost. */
void device_source__target_gone(struct device_source *d, bool execed);
/* Another tool began to use CUPTI. The library stops at once and leaves CUPTI to it. kinds: the
 * activity kinds that the tool enabled, a bit each. */
void device_source__yield(struct device_source *d, uint64_t kinds);
/* Did the library leave CUPTI by itself? */
bool device_source__has_left(const struct device_source *d);
/* Did the library stop, or leave CUPTI, within the window? Then events are known until that time
 * only. */
bool device_source__has_ended(const struct device_source *d);
/* True if the last request is done or cannot be done. */
bool device_source__is_idle(struct device_source *d, uint64_t now);
bool device_source__is_recording(const struct device_source *d);
/* Has no driver loaded the library so far? */
bool device_source__is_absent(const struct device_source *d);
/* Why there are no device times, as a clause; NULL: there are. */
const char *device_source__refusal(const struct device_source *d);
/* The same text for a message, which then names its key as a cause. */
const char *device_source__explain(const struct device_source *d);

/* ---- functions ---- */

/* The functions that the library sees besides CUDA's calls, from the next request to record on.
 * NULL: none. Copied. */
int device_source__see(struct device_source *d, const struct shim_functions *functions);
/* From then on the library does not see this function. Calls that still come are discarded. */
void device_source__see_no_more(struct device_source *d, size_t function);
/* How many of the pointers lead to the library now. */
size_t device_source__pointers_set(const struct device_source *d);

/* The number of their calls in the latest window, and the time that the target spent on noting
 * these and CUDA's calls. */
struct device_hooked {
	uint64_t cnt, ns;
};
struct device_hooked device_source__hooked(const struct device_source *d);

/* From here on calls outside windows are counted. The second function tells how many of each
 * function began in [from_ns, to_ns); to be freed; NULL: out of memory. */
void device_source__count(struct device_source *d);
uint64_t *device_source__counted(struct device_source *d, uint64_t from_ns, uint64_t to_ns);

/* ---- the window ---- */

/*
 * Takes what has come, and writes what is ripe. Call it after each reading of the kernel's ring. An
 * activity is written one round after it came. Then every edge of the window before it is known.
 */
int device_source__pump(struct device_source *d);

void device_source__open(struct device_source *d, struct recording_writer *w, uint64_t open_ns);
/* The window's end is known. Activities of its calls may still come. */
void device_source__close(struct device_source *d, uint64_t close_ns);
/* All has come: writes the rest and forgets the writer. */
int device_source__finish(struct device_source *d);

/* Writes the calls of a thread that ended by end_ns, before the span that encloses them. */
int device_source__before(struct device_source *d, uint32_t tid, uint64_t end_ns);
/* Reads the calls that ended by end_ns, and passes new ones to taker.met(), which must not call
 * this function. */
int device_source__look(struct device_source *d, uint64_t end_ns);

/* The summary's "device". *lost: the number of records that the window lost. Adds the causes to the
 * array notes. */
json_t *device_source__summary(struct device_source *d, json_t *notes, uint64_t *lost);
/* The number of lost records of a library that only sees functions. */
uint64_t device_source__lost_functions(struct device_source *d, json_t *notes);

#endif
