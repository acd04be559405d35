// SPDX-License-Identifier: BSD-2-Clause
/*
 * Times. What the CPU records carries the client's clock at that moment; what the device records is
 * converted when a buffer is delivered, by a line through two points that CUPTI measured.
 */
#include "fake.h"
#include <stdlib.h>
#include <time.h>

#define BRACKETS 15

static CUpti_TimestampCallbackFunc client;
static uint64_t device_0, client_0; /* the first point */
static double slope = 1;
static bool calibrated, identical;

uint64_t fake_clock(void)
{
	struct timespec t;

	if (client)
		return client();
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The narrowest of many brackets. True if in each the client's clock could be the device's. */
static bool measure(uint64_t *device, uint64_t *clients)
{
	uint64_t narrowest = UINT64_MAX;
	bool same = true;

	for (int i = 0; i < BRACKETS; i++) {
		uint64_t before = sim_now(), between = fake_clock(), after = sim_now();

		same &= before <= between && between <= after;
		if (after - before < narrowest) {
			narrowest = after - before;
			*device = before + narrowest / 2;
			*clients = between;
		}
	}
	return same;
}

void fake_clock_calibrate(void)
{
	identical = measure(&device_0, &client_0);
	slope = 1;
	calibrated = true;
}

void fake_clock_prepare(void)
{
	uint64_t device_1, client_1;

	if (!calibrated)
		fake_clock_calibrate();
	if (identical)
		return;
	/* over less than this the brackets' error would tilt the line */
	while (sim_now() - device_0 < 10000000)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	measure(&device_1, &client_1);
	slope = (double)(int64_t)(client_1 - client_0) / (double)(device_1 - device_0);
}

/* The clock is set forward and back again. */
static long jump(uint64_t since_ns)
{
	const long every_ms = fake_knob("SIMGPU_CUPTI_JUMP_EVERY_MS", 100);

	return since_ns / 1000000 / (uint64_t)every_ms % 2 ? fake_knob("SIMGPU_CUPTI_JUMP_NS", 0)
							   : 0;
}

/* Settings make the device's clock drift, or differ from CUPTI's idea of it. */
static uint64_t as_measured(uint64_t ns, uint32_t device)
{
	const long only = fake_knob("SIMGPU_CUPTI_OFFSET_DEVICE", -1);
	double since = (double)(int64_t)(ns - device_0);

	if (only >= 0 && device != (uint32_t)only)
		return ns;
	return ns + (uint64_t)(fake_knob("SIMGPU_CUPTI_OFFSET_NS", 0) + jump(ns - device_0)) +
	       (uint64_t)(int64_t)(since * (double)fake_knob("SIMGPU_CUPTI_DRIFT_PPM", 0) / 1e6);
}

uint64_t fake_clock_of_device(uint64_t ns, uint32_t device)
{
	ns = as_measured(ns, device);
	if (identical)
		return ns;
	return client_0 + (uint64_t)(int64_t)((double)(int64_t)(ns - device_0) * slope);
}

#define NEAR_NS 2000000000 /* CLOCK_MONOTONIC is farther from CLOCK_REALTIME */

static bool is_default(CUpti_TimestampCallbackFunc function)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return function &&
	       llabs((long long)(function() - (uint64_t)t.tv_sec * 1000000000)) < NEAR_NS;
}

/* Noted: 1, if it is CUPTI's own clock. */
SIM_EXPORT CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function)
{
	CUptiResult refused =
		fake_call("cuptiActivityRegisterTimestampCallback", is_default(function));

	if (refused)
		return refused;
	if (!function)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (fake_version() < 18)
		return CUPTI_ERROR_NOT_SUPPORTED;
	if (fake_any_kind())
		fake_misuse("the timestamp callback is registered after kinds were enabled");
	client = function;
	fake_clock_calibrate();
	return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
	CUptiResult refused = fake_frequent_call("cuptiGetTimestamp");

	if (refused)
		return refused;
	if (!timestamp)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*timestamp = fake_clock();
	return CUPTI_SUCCESS;
}
