// SPDX-License-Identifier: BSD-2-Clause
/* The knobs. Each is an environment variable SIMGPU_NAME; README.md lists them. */
#include "engine.h"
#include <stdlib.h>
#include <string.h>

struct sim_config sim_config;

static const char *text(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

static double number(const char *name, double otherwise)
{
	const char *value = text(name, NULL);

	return value ? atof(value) : otherwise;
}

/* As in the real driver, but only the number matters, because all devices are alike. */
static int visible_devices(int installed)
{
	const char *list = getenv("CUDA_VISIBLE_DEVICES");
	int cnt = 0;

	if (!list)
		return installed;
	if (!*list || *list == '-')
		return 0;
	for (cnt = 1; *list; list++)
		cnt += *list == ',';
	return cnt < installed ? cnt : installed;
}

void sim_config_read(void)
{
	struct sim_config *c = &sim_config;
	double copy_max_mb = number("SIMGPU_COPY_MAX_MB", -1);

	c->device_cnt = (int)number("SIMGPU_DEVICES", 1);
	if (c->device_cnt > SIM_MAX_DEVICES)
		c->device_cnt = SIM_MAX_DEVICES;
	c->device_cnt = visible_devices(c->device_cnt);
	c->memory_bytes = (size_t)number("SIMGPU_MEM_MB", 81920) << 20;
	c->device_name = text("SIMGPU_NAME", "SimGPU H100 80GB");
	c->kernel_ns = (uint64_t)number("SIMGPU_KERNEL_NS", 3000);
	c->wave_ns = (uint64_t)number("SIMGPU_WAVE_NS", 1500);
	c->launch_ns = (uint64_t)number("SIMGPU_LAUNCH_NS", 2000);
	c->pcie_gbs = number("SIMGPU_PCIE_GBS", 25);
	c->pageable_gbs = number("SIMGPU_PAGEABLE_GBS", c->pcie_gbs);
	c->hbm_gbs = number("SIMGPU_HBM_GBS", 2000);
	c->nvlink_gbs = number("SIMGPU_NVLINK_GBS", 200);
	c->tflops = number("SIMGPU_TFLOPS", 60);
	c->jitter = number("SIMGPU_JITTER", 0);
	c->seed = (uint64_t)number("SIMGPU_SEED", 1);
	c->copy_max_bytes = copy_max_mb < 0 ? SIZE_MAX : (size_t)(copy_max_mb * 1048576);
	c->tick_ns = (uint64_t)(number("SIMGPU_TICK_US", 1000) * 1000);
	c->verbose = (int)number("SIMGPU_VERBOSE", 0);
	c->log_unsupported = c->verbose || getenv("SIMGPU_LOG_UNSUPPORTED");
	c->truth_api = number("SIMGPU_TRUTH_API", 0) != 0;
	c->launch_cbid = (int)number("SIMGPU_LAUNCH_CBID", 211);
	c->runtime_version = (int)number("SIMGPU_VERSION", 13020);
}
