// SPDX-License-Identifier: BSD-2-Clause
/* Kinds, the tool's attachment to the engine, refusals, and the rest of the interface. */
#include "fake.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "versions.h"

static _Atomic uint8_t kinds[KIND_CNT];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* ---- knobs ---- */

#define KNOBS 32

struct knob {
	const char *name;
	long value;
};

/* Names are string constants, known by their addresses: looked up once each. */
long fake_knob(const char *name, long otherwise)
{
	static struct knob knobs[KNOBS];
	static _Atomic int cnt;
	int known = cnt;
	const char *text;

	for (int i = 0; i < known; i++)
		if (knobs[i].name == name)
			return knobs[i].value;
	pthread_mutex_lock(&mutex);
	text = getenv(name);
	if (cnt < KNOBS) {
		knobs[cnt] = (struct knob){name, text && *text ? atol(text) : otherwise};
		cnt++;
	}
	pthread_mutex_unlock(&mutex);
	return text && *text ? atol(text) : otherwise;
}

uint32_t fake_version(void)
{
	return (uint32_t)fake_knob("SIMGPU_CUPTI_VERSION", SIM_CUPTI_VERSION);
}

#define FAILS_MAX 16

/* SIMGPU_CUPTI_FAIL=cuptiSubscribe:39,cuptiActivityFlushAll:999:2:1: call, error, calls that
 * succeed before (default 0), how many fail (default 0: all from then on). */
static CUptiResult refusal(const char *name)
{
	static _Atomic long calls[FAILS_MAX]; /* of each entry */
	const char *at = getenv("SIMGPU_CUPTI_FAIL");
	size_t length = strlen(name);

	for (int i = 0; at && *at && i < FAILS_MAX; i++) {
		int error = 0;
		long before = 0, times = 0, call;

		if (!strncmp(at, name, length) && at[length] == ':') {
			sscanf(at + length, ":%d:%ld:%ld", &error, &before, &times);
			call = calls[i]++;
			if (call >= before && (!times || call < before + times))
				return (CUptiResult)error;
		}
		at = strchr(at, ',');
		at += at != NULL;
	}
	return CUPTI_SUCCESS;
}

CUptiResult fake_call(const char *name, long argument)
{
	CUptiResult refused;

	sim_init();
	refused = refusal(name);
	sim_truth_note("cupti", "%s %ld%s", name, argument, refused ? " refused" : "");
	return refused;
}

/* For functions that are called for each record. The call is noted only if it is refused. */
CUptiResult fake_frequent_call(const char *name)
{
	const CUptiResult refused = refusal(name);

	if (refused)
		sim_truth_note("cupti", "%s refused", name);
	return refused;
}

void fake_misuse(const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	sim_truth_note("misuse", "%s", text);
	if (sim_config.verbose || fake_knob("SIMGPU_CUPTI_STRICT", 0))
		fprintf(stderr, "simgpu: CUPTI misused: %s\n", text);
	if (fake_knob("SIMGPU_CUPTI_STRICT", 0))
		abort();
}

const char *fake_keep_name(const char *name)
{
	return sim_function_named(name)->name;
}

/* ---- attachment ---- */

static void enter(struct sim_frame *frame)
{
	if (fake_api_wanted(frame))
		frame->tool_ns = fake_clock();
	fake_callback(frame, CUPTI_API_ENTER);
}

static void leave(struct sim_frame *frame)
{
	fake_callback(frame, CUPTI_API_EXIT);
	/* No record if the call began before the kind was enabled, or ended after the kind was
	 * disabled. */
	if (frame->tool_ns && fake_api_wanted(frame))
		fake_api_record(frame);
}

static const struct sim_tool tool = {.enter = enter,
				     .leave = leave,
				     .submitted = fake_op_submitted,
				     .sync_begin = fake_sync_begin,
				     .sync_end = fake_sync_end,
				     .memory = fake_memory,
				     .resource = fake_resource,
				     .node_created = fake_node_created};

bool fake_any_kind(void)
{
	for (int kind = 0; kind < KIND_CNT; kind++)
		if (kinds[kind])
			return true;
	return false;
}

bool fake_kind(CUpti_ActivityKind kind)
{
	return kinds[kind];
}

void fake_attach_if_needed(void)
{
	sim_tool_set(fake_subscribed() || fake_any_kind() ? &tool : NULL);
}

/* ---- kinds ---- */

/* The first use takes seconds on a real machine. */
static void be_slow_once(void)
{
	static bool done;
	long ms = fake_knob("SIMGPU_CUPTI_INIT_MS", 0);

	if (!done && ms)
		nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
	done = true;
}

static CUptiResult call_with_kind(const char *function, CUpti_ActivityKind kind)
{
	CUptiResult refused = fake_call(function, (long)kind);

	if (refused)
		return refused;
	return kind > CUPTI_ACTIVITY_KIND_INVALID && kind < CUPTI_ACTIVITY_KIND_COUNT
		       ? CUPTI_SUCCESS
		       : CUPTI_ERROR_INVALID_KIND;
}

static bool is_of_kernels(CUpti_ActivityKind kind)
{
	return kind == CUPTI_ACTIVITY_KIND_KERNEL || kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
}

SIM_EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	CUptiResult refused = call_with_kind("cuptiActivityEnable", kind);

	if (refused)
		return refused;
	if ((kind == CUPTI_ACTIVITY_KIND_KERNEL && kinds[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]) ||
	    (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && kinds[CUPTI_ACTIVITY_KIND_KERNEL]))
		return CUPTI_ERROR_NOT_COMPATIBLE;
	be_slow_once();
	if (!fake_any_kind())
		fake_clock_calibrate();
	sim_capture_disturb();
	kinds[kind] = 1;
	if (is_of_kernels(kind))
		sim_graphs_trace(true);
	fake_attach_if_needed();
	return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	CUptiResult refused = call_with_kind("cuptiActivityDisable", kind);

	if (refused)
		return refused;
	sim_capture_disturb();
	kinds[kind] = 0;
	if (is_of_kernels(kind))
		sim_graphs_trace(false);
	fake_attach_if_needed();
	return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind)
{
	return cuptiActivityEnable(kind);
}

SIM_EXPORT CUptiResult cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind)
{
	return cuptiActivityDisable(kind);
}

void fake_disable_all(void)
{
	for (int kind = 0; kind < KIND_CNT; kind++)
		kinds[kind] = 0;
}

/*
 * Leaves the process: nothing enabled, nothing subscribed, no buffers, no thread. Documented as
 * safe in the exit of an API call, or when the device is idle and the buffers are flushed.
 */
SIM_EXPORT CUptiResult cuptiFinalize(void)
{
	CUptiResult refused = fake_call("cuptiFinalize", 0);

	if (refused)
		return refused;
	if (fake_incomplete_cnt() && !fake_in_api_exit())
		fake_misuse("finalized with %u incomplete records, and not in an API exit",
			    fake_incomplete_cnt());
	if (fake_version() < 24 && sim_graph_cnt())
		fake_misuse("finalized before 12.6 while there are CUDA graphs");
	fake_disable_all();
	fake_unsubscribe();
	sim_capture_disturb();
	sim_tool_set(NULL);
	sim_graphs_leave();
	fake_buffers_close();
	return CUPTI_SUCCESS;
}

/* Another client's too: how a tool can know that CUPTI is in use without taking it over. */
SIM_EXPORT CUptiResult cuptiActivityGetEnabledKinds(CUpti_SubscriberHandle subscriber,
						    CUpti_ActivityKind *out, uint32_t *size,
						    uint32_t *cnt)
{
	if (!cnt || (out && !size))
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (fake_version() < 130000)
		return CUPTI_ERROR_NOT_SUPPORTED;
	*cnt = 0;
	for (int kind = 0; kind < KIND_CNT; kind++) {
		if (!kinds[kind])
			continue;
		if (out && *cnt < *size)
			out[*cnt] = (CUpti_ActivityKind)kind;
		++*cnt;
	}
	return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiIsTracingSessionRunning(uint8_t *running)
{
	if (!running)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*running = fake_subscribed() || fake_any_kind();
	return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityGetStructSize(CUpti_ActivityKind kind, uint32_t version,
						  size_t *bytes)
{
	if (!bytes)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (version && version < 130000)
		return CUPTI_ERROR_NOT_SUPPORTED;
	*bytes = fake_record_bytes(kind);
	return *bytes ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_KIND;
}

/* ---- about it ---- */

SIM_EXPORT CUptiResult cuptiGetVersion(uint32_t *version)
{
	CUptiResult refused = fake_call("cuptiGetVersion", 0);

	if (refused)
		return refused;
	*version = fake_version();
	return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
	static const struct {
		CUptiResult result;
		const char *name;
	} names[] = {
		{CUPTI_SUCCESS, "CUPTI_SUCCESS"},
		{CUPTI_ERROR_INVALID_PARAMETER, "CUPTI_ERROR_INVALID_PARAMETER"},
		{CUPTI_ERROR_INVALID_OPERATION, "CUPTI_ERROR_INVALID_OPERATION"},
		{CUPTI_ERROR_MAX_LIMIT_REACHED, "CUPTI_ERROR_MAX_LIMIT_REACHED"},
		{CUPTI_ERROR_NOT_COMPATIBLE, "CUPTI_ERROR_NOT_COMPATIBLE"},
		{CUPTI_ERROR_NOT_INITIALIZED, "CUPTI_ERROR_NOT_INITIALIZED"},
		{CUPTI_ERROR_INVALID_KIND, "CUPTI_ERROR_INVALID_KIND"},
		{CUPTI_ERROR_NOT_SUPPORTED, "CUPTI_ERROR_NOT_SUPPORTED"},
		{CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
		{CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
		 "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
	};

	if (!text)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*text = "CUPTI_ERROR";
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].result == result)
			*text = names[i].name;
	return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetErrorMessage(CUptiResult result, const char **text)
{
	return cuptiGetResultString(result, text);
}

SIM_EXPORT CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t *bytes,
						 void *value)
{
	return fake_call("cuptiActivitySetAttribute", (long)attribute);
}

SIM_EXPORT CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attribute, size_t *bytes,
						 void *value)
{
	if (!bytes || !value)
		return CUPTI_ERROR_INVALID_PARAMETER;
	memset(value, 0, *bytes);
	return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
	return fake_call("cuptiActivityEnableLatencyTimestamps", enable);
}

SIM_EXPORT CUptiResult cuptiActivityEnableHWTrace(uint8_t enable)
{
	return enable ? CUPTI_ERROR_NOT_SUPPORTED : CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *id)
{
	int dev = sim_context_device(context);

	if (dev < 0)
		return CUPTI_ERROR_INVALID_CONTEXT;
	*id = (uint32_t)dev;
	return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetContextId(CUcontext context, uint32_t *id)
{
	CUptiResult result = cuptiGetDeviceId(context, id);

	*id += 1;
	return result;
}

SIM_EXPORT CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread,
					  uint32_t *id)
{
	struct sim_stream *s = sim_stream_get(stream);

	if (!s)
		return CUPTI_ERROR_INVALID_STREAM;
	*id = s->id;
	return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *id)
{
	return cuptiGetStreamIdEx(context, stream, 0, id);
}

SIM_EXPORT CUptiResult cuptiDeviceSupported(CUdevice dev, int *supported)
{
	*supported = 1;
	return CUPTI_SUCCESS;
}
