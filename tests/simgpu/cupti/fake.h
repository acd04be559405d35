/* SPDX-License-Identifier: BSD-2-Clause */
/* Declarations for the parts of the simulated CUPTI. */
#pragma once
#include "engine/engine.h"
#include <cupti.h>

#define KIND_CNT 128

/* api.c: a call of CUPTI's own interface begins: noted in the truth log, and perhaps refused by a
 * knob. */
CUptiResult fake_call(const char *name, long argument);
CUptiResult fake_frequent_call(const char *name);
/* Reports a call that the real CUPTI's documentation forbids, or that is known to crash it. */
void fake_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
long fake_knob(const char *name, long otherwise);
uint32_t fake_version(void);
/* Attaches to the engine while anything is enabled, and detaches when nothing is. */
void fake_attach_if_needed(void);
bool fake_kind(CUpti_ActivityKind kind);
bool fake_any_kind(void);
void fake_disable_all(void);

/* clock.c */
uint64_t fake_clock(void);	 /* the client's time */
void fake_clock_calibrate(void); /* before anything is recorded */
void fake_clock_prepare(void);	 /* before records are converted */
/* Converts the engine's time to the client's. */
uint64_t fake_clock_of_device(uint64_t ns, uint32_t device);

/* records.c */
size_t fake_record_bytes(CUpti_ActivityKind kind); /* 0: no such records */
void fake_record_convert(CUpti_Activity *record);
void fake_op_submitted(struct sim_op *op);
void fake_api_record(const struct sim_frame *frame);
bool fake_api_wanted(const struct sim_frame *frame);
uint64_t fake_sync_begin(void);
void fake_sync_end(const struct sim_sync *sync, uint64_t begin);
uint32_t fake_thread_id(void);
/* Returns a copy that is never freed, because records point to names. */
const char *fake_keep_name(const char *name);
void fake_memory(const struct sim_memory_event *event);
void fake_overhead(CUpti_ActivityOverheadKind kind, uint64_t start, uint64_t end);

/* buffers.c: records are written into the client's buffers where they begin, and completed there */
struct fake_slot;
/* A place for a record, zeroed; NULL: dropped. Complete records are written by fake_append(). */
struct fake_slot *fake_reserve(const void *record, size_t bytes);
/* Completes one with the engine's times: both 0 are possible, after a forced flush. */
void fake_complete(struct fake_slot *slot, uint64_t start_ns, uint64_t end_ns);
void fake_append(const void *record, size_t bytes);
void fake_deliver(bool forced);
void fake_buffers_close(void);
uint32_t fake_incomplete_cnt(void);

/* callbacks.c */
void fake_callback(struct sim_frame *frame, CUpti_ApiCallbackSite site);
void fake_resource(enum sim_resource what, int dev, struct sim_stream *s);
void fake_node_created(struct sim_graph *g, enum sim_kind kind);
bool fake_subscribed(void);
void fake_unsubscribe(void);
bool fake_in_api_exit(void);
