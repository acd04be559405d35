/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts records of the library in the target to events of a recording. */
#ifndef PROFTRACE_DEVICE_EVENTS_H
#define PROFTRACE_DEVICE_EVENTS_H

#include "cupti_shim/protocol.h"
#include "device/device_names.h"
#include "device/device_ranges.h"
#include "device/event_records.h"
#include "recording/recording.h"

/* A line through two moments that both clocks show. The identity if CUPTI used our clock. */
struct device_clock {
	bool identity;
	struct shim_clock_point begin, end;
};
uint64_t device_clock__monotonic(const struct device_clock *clock, uint64_t cupti_ns);

/* CUPTI's numbers of waits. A thread waits for an event; a stream waits for an event; a thread
 * waits for a stream, or for a context. */
enum { SYNC_EVENT = 1, SYNC_STREAM_WAIT, SYNC_STREAM, SYNC_CONTEXT };
/* CUPTI's number of a copy from a device to the host. */
enum { COPY_TO_HOST = 2 };

struct device_events;

struct device_events *device_events__new(uint32_t pid, struct device_names *names);
void device_events__free(struct device_events *d);
void device_events__set_writer(struct device_events *d, struct recording_writer *w);
void device_events__set_clock(struct device_events *d, const struct device_clock *clock);

uint64_t device_events__monotonic(const struct device_events *d, uint64_t cupti_ns);

/* Writes a call to a thread's track, cut at the window's edges. */
int device_events__call(struct device_events *d, uint32_t track, const struct shim_call *call,
			uint64_t open_ns, uint64_t close_ns);
/* Learns from an activity which device a context is on. Called outside windows, too. */
int device_events__learn(struct device_events *d, const struct shim_activity *a);
/* Writes an activity of any kind. Kinds that recordings do not have are only counted. */
/* is_before: it was launched before the window. */
int device_events__activity(struct device_events *d, const struct shim_activity *a, bool is_before);
/* Writes what a stream or thread waited for. `record`: the awaited event's record; NULL: unknown,
 * or no event. If the device is unknown, nothing is written, because the call itself shows the
 * wait. */
int device_events__sync(struct device_events *d, const struct shim_sync *r,
			const struct event_record *record);
/* Writes that a call on the track took memory from the driver, or gave it back. */
int device_events__memory(struct device_events *d, uint32_t track, const struct shim_memory *r);
/* Writes a user's range or instant, cut at the window's edges. Nothing if it lies outside. */
int device_events__range(struct device_events *d, uint32_t track, const struct device_range *range,
			 uint64_t open_ns, uint64_t close_ns);
/* Keeps a device's properties for the summary. */
int device_events__device(struct device_events *d, const struct shim_device *device);

/* Adds "devices", with all that is known of each, and "cupti_overhead_ns". */
int device_events__summary(const struct device_events *d, json_t *into);

#endif
