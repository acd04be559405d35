// SPDX-License-Identifier: BSD-2-Clause
/* Memory, copies and sets. */
#include "cudart.h"
#include <string.h>

cudaError_t rt_cudaMalloc(void **out, size_t bytes)
{
	use_context();
	return result_of(cuMemAlloc((CUdeviceptr *)out, bytes));
}

cudaError_t rt_cudaMallocManaged(void **out, size_t bytes, unsigned int flags)
{
	use_context();
	return result_of(cuMemAllocManaged((CUdeviceptr *)out, bytes, flags));
}

cudaError_t rt_cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream)
{
	return result_of(cuMemAllocAsync((CUdeviceptr *)out, bytes, stream));
}

cudaError_t rt_cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
	*pitch = (width + 511) / 512 * 512;
	return rt_cudaMalloc(out, *pitch * height);
}

cudaError_t rt_cudaFree(void *p)
{
	use_context();
	return result_of(cuMemFree((CUdeviceptr)p));
}

cudaError_t rt_cudaFreeAsync(void *p, cudaStream_t stream)
{
	return result_of(cuMemFreeAsync((CUdeviceptr)p, stream));
}

/* ---- pools: each device has one, which keeps nothing that was freed ---- */

static uint64_t most_used[64]; /* by device */

/* An opaque pointer that is not NULL. */
static int pool_device(cudaMemPool_t pool)
{
	return (int)(uintptr_t)pool - 1;
}

static uint64_t pool_used(int device)
{
	size_t free_bytes, total_bytes;

	sim_memory_info(device, &free_bytes, &total_bytes);
	if (most_used[device] < total_bytes - free_bytes)
		most_used[device] = total_bytes - free_bytes;
	return total_bytes - free_bytes;
}

static bool is_pool(cudaMemPool_t pool)
{
	int count = 0;

	return !cuDeviceGetCount(&count) && pool_device(pool) >= 0 && pool_device(pool) < count &&
	       pool_device(pool) < 64;
}

cudaError_t rt_cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int device)
{
	*out = (cudaMemPool_t)(uintptr_t)(device + 1);
	return is_pool(*out) ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t rt_cudaDeviceGetMemPool(cudaMemPool_t *out, int device)
{
	return rt_cudaDeviceGetDefaultMemPool(out, device);
}

cudaError_t rt_cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attr, void *value)
{
	if (!is_pool(pool))
		return cudaErrorInvalidValue;
	switch (attr) {
	case cudaMemPoolAttrReservedMemCurrent:
	case cudaMemPoolAttrUsedMemCurrent:
		*(uint64_t *)value = pool_used(pool_device(pool));
		return cudaSuccess;
	case cudaMemPoolAttrReservedMemHigh:
	case cudaMemPoolAttrUsedMemHigh:
		pool_used(pool_device(pool));
		*(uint64_t *)value = most_used[pool_device(pool)];
		return cudaSuccess;
	case cudaMemPoolAttrReleaseThreshold:
		*(uint64_t *)value = 0;
		return cudaSuccess;
	default:
		*(int *)value = 1;
		return cudaSuccess;
	}
}

/* The peaks can be reset. Memory that a pool keeps and reuses is not simulated. */
cudaError_t rt_cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attr, void *value)
{
	if (!is_pool(pool))
		return cudaErrorInvalidValue;
	if (attr == cudaMemPoolAttrReservedMemHigh || attr == cudaMemPoolAttrUsedMemHigh)
		most_used[pool_device(pool)] = 0;
	return cudaSuccess;
}

cudaError_t rt_cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
	return is_pool(pool) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t rt_cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *access,
				    size_t count)
{
	return is_pool(pool) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t rt_cudaMallocFromPoolAsync(void **out, size_t bytes, cudaMemPool_t pool,
				       cudaStream_t stream)
{
	return is_pool(pool) ? rt_cudaMallocAsync(out, bytes, stream) : cudaErrorInvalidValue;
}

/* ---- memory of the host ---- */

cudaError_t rt_cudaMallocHost(void **out, size_t bytes)
{
	use_context();
	return result_of(cuMemAllocHost(out, bytes));
}

cudaError_t rt_cudaHostAlloc(void **out, size_t bytes, unsigned int flags)
{
	use_context();
	return result_of(cuMemHostAlloc(out, bytes, flags));
}

cudaError_t rt_cudaFreeHost(void *p)
{
	return result_of(cuMemFreeHost(p));
}

cudaError_t rt_cudaHostRegister(void *p, size_t bytes, unsigned int flags)
{
	return result_of(cuMemHostRegister(p, bytes, flags));
}

cudaError_t rt_cudaHostUnregister(void *p)
{
	return result_of(cuMemHostUnregister(p));
}

cudaError_t rt_cudaHostGetDevicePointer(void **out, void *p, unsigned int flags)
{
	*out = p;
	return cudaSuccess;
}

cudaError_t rt_cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *p)
{
	struct sim_range range;

	memset(a, 0, sizeof(*a));
	if (!sim_memory_find(p, &range)) {
		a->device = -2;
		a->hostPointer = (void *)p;
		return cudaSuccess;
	}
	a->type = range.type == SIM_PINNED   ? cudaMemoryTypeHost
		  : range.type == SIM_DEVICE ? cudaMemoryTypeDevice
					     : cudaMemoryTypeManaged;
	a->device = range.dev;
	a->devicePointer = (void *)p;
	a->hostPointer = range.type == SIM_DEVICE ? NULL : (void *)p;
	return cudaSuccess;
}

cudaError_t rt_cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
	use_context();
	return result_of(cuMemGetInfo(free_bytes, total_bytes));
}

#if CUDART_VERSION >= 13000
typedef struct cudaMemLocation advised;
#else
typedef int advised;
#endif

cudaError_t rt_cudaMemAdvise(const void *p, size_t bytes, enum cudaMemoryAdvise advice,
			     advised location)
{
	return cudaSuccess;
}

/* ---- copies: the runtime names the direction, the driver has an entry point for each ---- */

cudaError_t rt_cudaMemcpy(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
	use_context();
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return result_of(cuMemcpyHtoD((CUdeviceptr)dst, src, bytes));
	case cudaMemcpyDeviceToHost:
		return result_of(cuMemcpyDtoH(dst, (CUdeviceptr)src, bytes));
	default:
		return result_of(cuMemcpy((CUdeviceptr)dst, (CUdeviceptr)src, bytes));
	}
}

cudaError_t rt_cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
			       cudaStream_t stream)
{
	use_context();
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return result_of(cuMemcpyHtoDAsync((CUdeviceptr)dst, src, bytes, stream));
	case cudaMemcpyDeviceToHost:
		return result_of(cuMemcpyDtoHAsync(dst, (CUdeviceptr)src, bytes, stream));
	case cudaMemcpyDeviceToDevice:
		return result_of(
			cuMemcpyDtoDAsync((CUdeviceptr)dst, (CUdeviceptr)src, bytes, stream));
	default:
		return result_of(cuMemcpyAsync((CUdeviceptr)dst, (CUdeviceptr)src, bytes, stream));
	}
}

cudaError_t rt_cudaMemcpyPeerAsync(void *dst, int dst_dev, const void *src, int src_dev,
				   size_t bytes, cudaStream_t stream)
{
	CUcontext to, from;

	cuDevicePrimaryCtxRetain(&to, dst_dev);
	cuDevicePrimaryCtxRetain(&from, src_dev);
	return result_of(
		cuMemcpyPeerAsync((CUdeviceptr)dst, to, (CUdeviceptr)src, from, bytes, stream));
}

cudaError_t rt_cudaMemcpyPeer(void *dst, int dst_dev, const void *src, int src_dev, size_t bytes)
{
	cudaError_t result = rt_cudaMemcpyPeerAsync(dst, dst_dev, src, src_dev, bytes, NULL);

	return result ? result : result_of(cuStreamSynchronize(NULL));
}

/* One operation of all the bytes; the data row by row and at once, since rows are not contiguous.
 */
cudaError_t rt_cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
				 size_t width, size_t height, enum cudaMemcpyKind kind,
				 cudaStream_t stream)
{
	if (dst_pitch == width && src_pitch == width)
		return rt_cudaMemcpyAsync(dst, src, width * height, kind, stream);
	for (size_t row = 1; row < height; row++)
		memmove((char *)dst + row * dst_pitch, (const char *)src + row * src_pitch, width);
	return rt_cudaMemcpyAsync(dst, src, width, kind, stream);
}

cudaError_t rt_cudaMemset(void *p, int value, size_t bytes)
{
	use_context();
	return result_of(cuMemsetD8((CUdeviceptr)p, (unsigned char)value, bytes));
}

cudaError_t rt_cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
	use_context();
	return result_of(cuMemsetD8Async((CUdeviceptr)p, (unsigned char)value, bytes, stream));
}
