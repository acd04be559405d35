// SPDX-License-Identifier: BSD-2-Clause
/* The simulated libnvidia-ml: as much as PyTorch and simple monitors ask for. It has no header in
 * the wheels. */
#include "engine/engine.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NVML_SUCCESS = 0, NVML_INVALID_ARGUMENT = 2, NVML_NOT_SUPPORTED = 3 };
#define FIRST_BUS 0x18

typedef struct device *device_t; /* the ordinal, plus one */

static int ordinal(device_t dev)
{
	return (int)(intptr_t)dev - 1;
}

static int device_at(int i, device_t *out)
{
	if (i < 0 || i >= sim_config.device_cnt)
		return NVML_INVALID_ARGUMENT;
	*out = (device_t)(intptr_t)(i + 1);
	return NVML_SUCCESS;
}

#define ANSWER(signature, ...)                                                                     \
	SIM_EXPORT int signature                                                                   \
	{                                                                                          \
		__VA_ARGS__;                                                                       \
		return NVML_SUCCESS;                                                               \
	}

ANSWER(nvmlInit_v2(void), sim_init())
ANSWER(nvmlInit(void), sim_init())
ANSWER(nvmlInitWithFlags(unsigned int flags), sim_init())
ANSWER(nvmlShutdown(void), )
ANSWER(nvmlSystemGetDriverVersion(char *text, unsigned int size), snprintf(text, size, "595.00"))
ANSWER(nvmlSystemGetNVMLVersion(char *text, unsigned int size), snprintf(text, size, "13.595.00"))
ANSWER(nvmlSystemGetCudaDriverVersion_v2(int *version), *version = sim_config.runtime_version)
ANSWER(nvmlSystemGetCudaDriverVersion(int *version), *version = sim_config.runtime_version)
ANSWER(nvmlDeviceGetCount_v2(unsigned int *cnt), *cnt = (unsigned int)sim_config.device_cnt)
ANSWER(nvmlDeviceGetIndex(device_t dev, unsigned int *i), *i = (unsigned int)ordinal(dev))
ANSWER(nvmlDeviceGetMinorNumber(device_t dev, unsigned int *i), *i = (unsigned int)ordinal(dev))
ANSWER(nvmlDeviceGetName(device_t dev, char *text, unsigned int size),
       snprintf(text, size, "%s", sim_config.device_name))
ANSWER(nvmlDeviceGetUUID(device_t dev, char *text, unsigned int size),
       snprintf(text, size, "GPU-535a6168-6f76-7d84-8b92-99a0a7aeb5%02x", 0xbc + ordinal(dev)))
ANSWER(nvmlDeviceGetTemperature(device_t dev, int sensor, unsigned int *value), *value = 45)
ANSWER(nvmlDeviceGetPowerUsage(device_t dev, unsigned int *mw), *mw = 300000)
ANSWER(nvmlDeviceGetClockInfo(device_t dev, int clock, unsigned int *mhz), *mhz = 1980)
ANSWER(nvmlDeviceGetCudaComputeCapability(device_t dev, int *major, int *minor), *major = 9,
       *minor = 0)
ANSWER(nvmlDeviceGetComputeRunningProcesses_v3(device_t dev, unsigned int *cnt, void *out),
       *cnt = 0)
ANSWER(nvmlDeviceGetComputeRunningProcesses(device_t dev, unsigned int *cnt, void *out), *cnt = 0)

SIM_EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned int i, device_t *out)
{
	return device_at((int)i, out);
}
/* Older headers had no version in the name. */
SIM_EXPORT int nvmlDeviceGetHandleByIndex(unsigned int i, device_t *out)
{
	return nvmlDeviceGetHandleByIndex_v2(i, out);
}

SIM_EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *id, device_t *out)
{
	const char *bus = strchr(id, ':');

	return device_at(bus ? (int)strtol(bus + 1, NULL, 16) - FIRST_BUS : 0, out);
}

SIM_EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, device_t *out)
{
	const char *last = strlen(uuid) > 2 ? uuid + strlen(uuid) - 2 : uuid;

	return device_at((int)strtol(last, NULL, 16) - 0xbc, out);
}

struct memory {
	unsigned long long total, free, used;
};
SIM_EXPORT int nvmlDeviceGetMemoryInfo(device_t dev, struct memory *out)
{
	size_t free_bytes, total_bytes;

	sim_memory_info(ordinal(dev), &free_bytes, &total_bytes);
	*out = (struct memory){total_bytes, free_bytes, total_bytes - free_bytes};
	return NVML_SUCCESS;
}

struct utilization {
	unsigned int gpu, memory;
};
ANSWER(nvmlDeviceGetUtilizationRates(device_t dev, struct utilization *out),
       *out = ((struct utilization){50, 20}))

SIM_EXPORT const char *nvmlErrorString(int error)
{
	return error ? "not supported" : "success";
}

#define REFUSE(signature)                                                                          \
	SIM_EXPORT int signature                                                                   \
	{                                                                                          \
		return NVML_NOT_SUPPORTED;                                                         \
	}
REFUSE(nvmlDeviceGetNvLinkRemoteDeviceType(device_t dev, unsigned int link, int *type))
REFUSE(nvmlDeviceGetNvLinkRemotePciInfo_v2(device_t dev, unsigned int link, void *info))
REFUSE(nvmlDeviceGetGpuFabricInfoV(device_t dev, void *info))
