// SPDX-License-Identifier: BSD-2-Clause
/* Initialisation, devices, contexts, errors, entry points. */
#include "driver.h"
#include <stdio.h>
#include <string.h>

CUresult dr_cuInit(unsigned int flags)
{
	return sim_config.device_cnt ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

CUresult dr_cuDriverGetVersion(int *version)
{
	*version = sim_config.runtime_version;
	return CUDA_SUCCESS;
}

CUresult dr_cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags,
			     CUdriverProcAddressQueryResult *status)
{
	*function = sim_entry_older(symbol, version);
	if (!*function)
		*function = sim_entry_find(symbol);
	if (!*function && sim_config.log_unsupported)
		fprintf(stderr, "simgpu: no entry point %s\n", symbol);
	if (status)
		*status = *function ? CU_GET_PROC_ADDRESS_SUCCESS
				    : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult dr_cuGetErrorString(CUresult error, const char **text)
{
	*text = sim_error_text((int)error);
	if (!*text)
		*text = sim_cuda_error_name((int)error);
	return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult dr_cuGetErrorName(CUresult error, const char **text)
{
	*text = sim_cuda_error_name((int)error);
	return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- devices ---- */

CUresult dr_cuDeviceGet(CUdevice *device, int ordinal)
{
	if (ordinal < 0 || ordinal >= sim_config.device_cnt)
		return CUDA_ERROR_INVALID_DEVICE;
	*device = ordinal;
	return CUDA_SUCCESS;
}

CUresult dr_cuDeviceGetCount(int *cnt)
{
	*cnt = sim_config.device_cnt;
	return CUDA_SUCCESS;
}

CUresult dr_cuDeviceGetName(char *name, int size, CUdevice dev)
{
	snprintf(name, (size_t)size, "%s", sim_config.device_name);
	return CUDA_SUCCESS;
}

CUresult dr_cuDeviceTotalMem(size_t *bytes, CUdevice dev)
{
	*bytes = sim_config.memory_bytes;
	return CUDA_SUCCESS;
}

CUresult dr_cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
	for (int i = 0; i < 16; i++)
		uuid->bytes[i] = (char)(0x53 + i * 7 + dev);
	return CUDA_SUCCESS;
}

CUresult dr_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice dev)
{
	return (CUresult)sim_device_attribute((int)attribute, dev, value);
}

CUresult dr_cuDeviceGetPCIBusId(char *id, int size, CUdevice dev)
{
	snprintf(id, (size_t)size, "0000:%02X:00.0", 0x18 + dev);
	return CUDA_SUCCESS;
}

CUresult dr_cuDeviceCanAccessPeer(int *can, CUdevice a, CUdevice b)
{
	*can = a != b;
	return CUDA_SUCCESS;
}

/* ---- contexts: the primary ones only ---- */

CUresult dr_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice dev)
{
	int before = sim_thread()->dev;

	if (sim_device_set(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	sim_context_touch();
	sim_device_set(before);
	*context = (CUcontext)sim_context_of(dev);
	return CUDA_SUCCESS;
}

CUresult dr_cuDevicePrimaryCtxRelease(CUdevice dev)
{
	return CUDA_SUCCESS;
}

CUresult dr_cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *is_active)
{
	if (flags)
		*flags = 0;
	*is_active = sim_context_active(dev);
	return CUDA_SUCCESS;
}

CUresult dr_cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
	return CUDA_SUCCESS;
}

CUresult dr_cuCtxGetCurrent(CUcontext *context)
{
	const struct sim_thread *t = sim_thread();

	*context = t->has_context ? (CUcontext)sim_context_of(t->dev) : NULL;
	return CUDA_SUCCESS;
}

CUresult dr_cuCtxSetCurrent(CUcontext context)
{
	int dev = sim_context_device(context);

	if (!context) {
		sim_thread()->has_context = false;
		return CUDA_SUCCESS;
	}
	if (dev < 0)
		return CUDA_ERROR_INVALID_CONTEXT;
	sim_device_set(dev);
	sim_context_touch();
	return CUDA_SUCCESS;
}

CUresult dr_cuCtxPushCurrent(CUcontext context)
{
	return dr_cuCtxSetCurrent(context);
}

CUresult dr_cuCtxPopCurrent(CUcontext *context)
{
	return context ? dr_cuCtxGetCurrent(context) : CUDA_SUCCESS;
}

CUresult dr_cuCtxGetDevice(CUdevice *dev)
{
	*dev = sim_thread()->dev;
	return CUDA_SUCCESS;
}

CUresult dr_cuCtxSynchronize(void)
{
	sim_device_sync(sim_thread()->dev);
	return CUDA_SUCCESS;
}

CUresult dr_cuCtxGetApiVersion(CUcontext context, unsigned int *version)
{
	*version = 3020;
	return CUDA_SUCCESS;
}

CUresult dr_cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return CUDA_SUCCESS;
}

CUresult dr_cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
	return CUDA_SUCCESS;
}
