// SPDX-License-Identifier: BSD-2-Clause
/* Devices, errors and entry points. */
#include "cudart.h"
#include <stdio.h>
#include <string.h>

cudaError_t rt_cudaGetDeviceCount(int *cnt)
{
	*cnt = sim_config.device_cnt;
	return *cnt ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t rt_cudaGetDevice(int *dev)
{
	*dev = sim_thread()->dev;
	return cudaSuccess;
}

/* Since CUDA 12 this makes the device's context exist. */
cudaError_t rt_cudaSetDevice(int dev)
{
	int result = sim_device_set(dev);

	if (!result)
		use_context();
	return (cudaError_t)result;
}

cudaError_t rt_cudaInitDevice(int dev, unsigned int device_flags, unsigned int flags)
{
	return dev < sim_config.device_cnt ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t rt_cudaSetDeviceFlags(unsigned int flags)
{
	return cudaSuccess;
}

cudaError_t rt_cudaGetDeviceFlags(unsigned int *flags)
{
	*flags = 0;
	return cudaSuccess;
}

cudaError_t rt_cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int dev)
{
	return (cudaError_t)sim_device_attribute((int)attribute, dev, value);
}

static int attribute(enum cudaDeviceAttr which, int dev)
{
	int value = 0;

	sim_device_attribute((int)which, dev, &value);
	return value;
}

static void fill_limits(struct cudaDeviceProp *p, int dev)
{
	p->maxThreadsPerBlock = attribute(cudaDevAttrMaxThreadsPerBlock, dev);
	p->maxThreadsDim[0] = attribute(cudaDevAttrMaxBlockDimX, dev);
	p->maxThreadsDim[1] = attribute(cudaDevAttrMaxBlockDimY, dev);
	p->maxThreadsDim[2] = attribute(cudaDevAttrMaxBlockDimZ, dev);
	p->maxGridSize[0] = attribute(cudaDevAttrMaxGridDimX, dev);
	p->maxGridSize[1] = attribute(cudaDevAttrMaxGridDimY, dev);
	p->maxGridSize[2] = attribute(cudaDevAttrMaxGridDimZ, dev);
	p->maxThreadsPerMultiProcessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor, dev);
	p->maxBlocksPerMultiProcessor = attribute(cudaDevAttrMaxBlocksPerMultiprocessor, dev);
	p->multiProcessorCount = attribute(cudaDevAttrMultiProcessorCount, dev);
	p->warpSize = attribute(cudaDevAttrWarpSize, dev);
	p->regsPerBlock = attribute(cudaDevAttrMaxRegistersPerBlock, dev);
	p->regsPerMultiprocessor = attribute(cudaDevAttrMaxRegistersPerMultiprocessor, dev);
	p->asyncEngineCount = attribute(cudaDevAttrAsyncEngineCount, dev);
}

static void fill_memory(struct cudaDeviceProp *p, int dev)
{
	p->totalGlobalMem = sim_config.memory_bytes;
	p->sharedMemPerBlock = (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlock, dev);
	p->sharedMemPerBlockOptin = (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, dev);
	p->sharedMemPerMultiprocessor =
		(size_t)attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, dev);
	p->reservedSharedMemPerBlock =
		(size_t)attribute(cudaDevAttrReservedSharedMemoryPerBlock, dev);
	p->totalConstMem = (size_t)attribute(cudaDevAttrTotalConstantMemory, dev);
	p->memPitch = (size_t)attribute(cudaDevAttrMaxPitch, dev);
	p->textureAlignment = (size_t)attribute(cudaDevAttrTextureAlignment, dev);
	p->memoryBusWidth = attribute(cudaDevAttrGlobalMemoryBusWidth, dev);
	p->l2CacheSize = attribute(cudaDevAttrL2CacheSize, dev);
	p->canMapHostMemory = p->unifiedAddressing = p->managedMemory = 1;
#if CUDART_VERSION >= 12000
	p->hostRegisterSupported = 1;
#endif
}

cudaError_t rt_cudaGetDeviceProperties(struct cudaDeviceProp *p, int dev)
{
	if (dev < 0 || dev >= sim_config.device_cnt)
		return cudaErrorInvalidDevice;
	memset(p, 0, sizeof(*p));
	snprintf(p->name, sizeof(p->name), "%s", sim_config.device_name);
	cuDeviceGetUuid((CUuuid *)&p->uuid, dev);
	p->major = attribute(cudaDevAttrComputeCapabilityMajor, dev);
	p->minor = attribute(cudaDevAttrComputeCapabilityMinor, dev);
	p->pciBusID = attribute(cudaDevAttrPciBusId, dev);
	fill_limits(p, dev);
	fill_memory(p, dev);
	p->concurrentKernels = p->ECCEnabled = p->streamPrioritiesSupported = 1;
	p->computePreemptionSupported = p->cooperativeLaunch = 1;
#if CUDART_VERSION >= 12000
	p->clusterLaunch = 1;
#endif
	return cudaSuccess;
}

cudaError_t rt_cudaDeviceGetPCIBusId(char *id, int size, int dev)
{
	return result_of(cuDeviceGetPCIBusId(id, size, dev));
}

cudaError_t rt_cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	return result_of(cuCtxGetStreamPriorityRange(least, greatest));
}

cudaError_t rt_cudaDeviceSynchronize(void)
{
	use_context();
	return result_of(cuCtxSynchronize());
}

cudaError_t rt_cudaDeviceReset(void)
{
	return cudaSuccess;
}

cudaError_t rt_cudaDeviceCanAccessPeer(int *can, int a, int b)
{
	*can = a != b;
	return cudaSuccess;
}

cudaError_t rt_cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
	return cudaSuccess;
}

cudaError_t rt_cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
	*value = 1024;
	return cudaSuccess;
}

cudaError_t rt_cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
	return cudaSuccess;
}

cudaError_t rt_cudaDriverGetVersion(int *version)
{
	return result_of(cuDriverGetVersion(version));
}

cudaError_t rt_cudaRuntimeGetVersion(int *version)
{
	*version = CUDART_VERSION < 13000 ? CUDART_VERSION : sim_config.runtime_version;
	return cudaSuccess;
}

cudaError_t rt_cudaProfilerStart(void)
{
	return cudaSuccess;
}

cudaError_t rt_cudaProfilerStop(void)
{
	return cudaSuccess;
}

cudaError_t rt_cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
						unsigned int version, unsigned long long flags,
						enum cudaDriverEntryPointQueryResult *status)
{
	CUdriverProcAddressQueryResult found;

	cuGetProcAddress(symbol, function, (int)version, flags, &found);
	if (status)
		*status = *function ? cudaDriverEntryPointSuccess
				    : cudaDriverEntryPointSymbolNotFound;
	return *function || status ? cudaSuccess : cudaErrorSymbolNotFound;
}

cudaError_t rt_cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags
#if CUDART_VERSION >= 12000
				       ,
				       enum cudaDriverEntryPointQueryResult *status
#endif
)
{
#if CUDART_VERSION < 12000
	enum cudaDriverEntryPointQueryResult *status = NULL;
#endif
	int version;

	rt_cudaRuntimeGetVersion(&version);
	return rt_cudaGetDriverEntryPointByVersion(symbol, function, (unsigned int)version, flags,
						   status);
}

/* ---- errors ---- */

SIM_EXPORT const char *cudaGetErrorName(cudaError_t error)
{
	const char *name = sim_cudart_error_name((int)error);

	return name ? name : "unrecognized error code";
}

SIM_EXPORT const char *cudaGetErrorString(cudaError_t error)
{
	const char *text = sim_error_text((int)error);

	return text ? text : cudaGetErrorName(error);
}

SIM_EXPORT cudaError_t cudaPeekAtLastError(void)
{
	return (cudaError_t)sim_thread()->last_error;
}

SIM_EXPORT cudaError_t cudaGetLastError(void)
{
	cudaError_t error = cudaPeekAtLastError();

	sim_thread()->last_error = SIM_OK;
	return error;
}

SIM_EXPORT struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
							      enum cudaChannelFormatKind kind)
{
	return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}
