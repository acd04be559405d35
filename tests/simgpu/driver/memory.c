// SPDX-License-Identifier: BSD-2-Clause
/* Memory, copies and sets. */
#include "driver.h"
#include <stdlib.h>
#include <sys/mman.h>

#define GRANULARITY (2u << 20)

CUresult dr_cuMemAlloc(CUdeviceptr *out, size_t bytes)
{
	return (CUresult)sim_memory_alloc((void **)out, bytes, SIM_DEVICE, 0);
}

CUresult dr_cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned int flags)
{
	return (CUresult)sim_memory_alloc((void **)out, bytes, SIM_MANAGED, flags);
}

CUresult dr_cuMemAllocHost(void **out, size_t bytes)
{
	return (CUresult)sim_memory_alloc(out, bytes, SIM_PINNED, 0);
}

CUresult dr_cuMemHostAlloc(void **out, size_t bytes, unsigned int flags)
{
	return (CUresult)sim_memory_alloc(out, bytes, SIM_PINNED, flags);
}

/* Frees wait for the device, as the real ones do. */
CUresult dr_cuMemFree(CUdeviceptr p)
{
	if (p)
		sim_device_drain(sim_thread()->dev);
	return (CUresult)sim_memory_free((void *)p);
}

CUresult dr_cuMemFreeHost(void *p)
{
	if (p)
		sim_device_drain(sim_thread()->dev);
	return (CUresult)sim_memory_free(p);
}

CUresult dr_cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream stream)
{
	CUresult result;

	sim_thread()->async_memory = true;
	result = (CUresult)sim_memory_alloc((void **)out, bytes, SIM_DEVICE, 0);
	sim_thread()->async_memory = false;
	return result;
}

CUresult dr_cuMemFreeAsync(CUdeviceptr p, CUstream stream)
{
	struct sim_stream *s = sim_stream_get(stream);
	CUresult result;

	if (!s)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_stream_drain(s);
	sim_thread()->async_memory = true;
	result = (CUresult)sim_memory_free((void *)p);
	sim_thread()->async_memory = false;
	return result;
}

CUresult dr_cuMemHostRegister(void *p, size_t bytes, unsigned int flags)
{
	return (CUresult)sim_memory_add(p, bytes, SIM_PINNED, sim_thread()->dev, false);
}

CUresult dr_cuMemHostUnregister(void *p)
{
	return (CUresult)sim_memory_remove(p);
}

CUresult dr_cuMemHostGetDevicePointer(CUdeviceptr *out, void *p, unsigned int flags)
{
	*out = (CUdeviceptr)p;
	return CUDA_SUCCESS;
}

CUresult dr_cuMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
	sim_memory_info(sim_thread()->dev, free_bytes, total_bytes);
	return CUDA_SUCCESS;
}

CUresult dr_cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr p)
{
	struct sim_range range;

	if (!sim_memory_find((void *)p, &range))
		return CUDA_ERROR_INVALID_VALUE;
	if (base)
		*base = range.start;
	if (bytes)
		*bytes = range.bytes;
	return CUDA_SUCCESS;
}

CUresult dr_cuPointerGetAttribute(void *out, CUpointer_attribute attribute, CUdeviceptr p)
{
	struct sim_range range;

	if (!sim_memory_find((void *)p, &range))
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(CUcontext *)out = sim_context_of(range.dev);
		break;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned int *)out =
			range.type == SIM_PINNED ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		*(CUdeviceptr *)out = p;
		break;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(unsigned int *)out = range.type == SIM_MANAGED;
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)out = range.dev;
		break;
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
		*(uint64_t *)out = range.start;
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(uintptr_t *)out = range.start;
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(size_t *)out = range.bytes;
		break;
	default:
		*(unsigned int *)out = 0;
	}
	return CUDA_SUCCESS;
}

/* ---- virtual memory: reserved addresses, and physical memory as a count of bytes ---- */

struct physical {
	size_t bytes;
	int dev;
};

CUresult dr_cuMemAddressReserve(CUdeviceptr *out, size_t bytes, size_t alignment, CUdeviceptr hint,
				unsigned long long flags)
{
	size_t align = alignment > GRANULARITY ? alignment : GRANULARITY;
	void *p = mmap(NULL, bytes + align, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*out = ((CUdeviceptr)p + align - 1) / align * align;
	return CUDA_SUCCESS;
}

CUresult dr_cuMemAddressFree(CUdeviceptr p, size_t bytes)
{
	munmap((void *)p, bytes);
	return CUDA_SUCCESS;
}

CUresult dr_cuMemCreate(CUmemGenericAllocationHandle *out, size_t bytes,
			const CUmemAllocationProp *properties, unsigned long long flags)
{
	struct physical *memory = malloc(sizeof(*memory));
	int dev = properties->location.id;

	if (!memory)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (dev < 0 || dev >= sim_config.device_cnt)
		dev = 0;
	if (sim_memory_reserve(dev, (int64_t)bytes)) {
		free(memory);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*memory = (struct physical){bytes, dev};
	*out = (CUmemGenericAllocationHandle)memory;
	return CUDA_SUCCESS;
}

/* Mapped memory stays alive. Its mapping has the device, so the handle is not needed then. */
CUresult dr_cuMemRelease(CUmemGenericAllocationHandle handle)
{
	struct physical *memory = (struct physical *)handle;

	sim_memory_reserve(memory->dev, -(int64_t)memory->bytes);
	free(memory);
	return CUDA_SUCCESS;
}

CUresult dr_cuMemMap(CUdeviceptr p, size_t bytes, size_t offset,
		     CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	const struct physical *memory = (struct physical *)handle;

	return (CUresult)sim_memory_add((void *)p, bytes, SIM_DEVICE, memory->dev, true);
}

CUresult dr_cuMemUnmap(CUdeviceptr p, size_t bytes)
{
	return (CUresult)sim_memory_remove((void *)p);
}

CUresult dr_cuMemSetAccess(CUdeviceptr p, size_t bytes, const CUmemAccessDesc *access, size_t cnt)
{
	return CUDA_SUCCESS;
}

CUresult dr_cuMemGetAllocationGranularity(size_t *out, const CUmemAllocationProp *properties,
					  CUmemAllocationGranularity_flags option)
{
	*out = GRANULARITY;
	return CUDA_SUCCESS;
}

/* ---- copies ---- */

static CUresult copy(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream, bool async)
{
	return (CUresult)sim_copy(sim_stream_get(stream), (void *)dst, (const void *)src, bytes,
				  async);
}

CUresult dr_cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
	return copy(dst, src, bytes, NULL, false);
}

CUresult dr_cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	return copy(dst, src, bytes, stream, true);
}

CUresult dr_cuMemcpyHtoD(CUdeviceptr dst, const void *src, size_t bytes)
{
	return copy(dst, (CUdeviceptr)src, bytes, NULL, false);
}

CUresult dr_cuMemcpyDtoH(void *dst, CUdeviceptr src, size_t bytes)
{
	return copy((CUdeviceptr)dst, src, bytes, NULL, false);
}

CUresult dr_cuMemcpyDtoD(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
	return copy(dst, src, bytes, NULL, false);
}

CUresult dr_cuMemcpyHtoDAsync(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream)
{
	return copy(dst, (CUdeviceptr)src, bytes, stream, true);
}

CUresult dr_cuMemcpyDtoHAsync(void *dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	return copy((CUdeviceptr)dst, src, bytes, stream, true);
}

CUresult dr_cuMemcpyDtoDAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	return copy(dst, src, bytes, stream, true);
}

CUresult dr_cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src,
			      CUcontext src_context, size_t bytes, CUstream stream)
{
	return copy(dst, src, bytes, stream, true);
}

CUresult dr_cuMemcpyPeer(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src,
			 CUcontext src_context, size_t bytes)
{
	return copy(dst, src, bytes, NULL, false);
}

static CUresult set(CUdeviceptr dst, unsigned int value, unsigned int value_bytes, size_t cnt,
		    CUstream stream)
{
	return (CUresult)sim_set(sim_stream_get(stream), (void *)dst, value, value_bytes, cnt,
				 true);
}

CUresult dr_cuMemsetD8(CUdeviceptr dst, unsigned char value, size_t cnt)
{
	return set(dst, value, 1, cnt, NULL);
}

CUresult dr_cuMemsetD32(CUdeviceptr dst, unsigned int value, size_t cnt)
{
	return set(dst, value, 4, cnt, NULL);
}

CUresult dr_cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t cnt, CUstream stream)
{
	return set(dst, value, 1, cnt, stream);
}

CUresult dr_cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t cnt, CUstream stream)
{
	return set(dst, value, 2, cnt, stream);
}

CUresult dr_cuMemsetD32Async(CUdeviceptr dst, unsigned int value, size_t cnt, CUstream stream)
{
	return set(dst, value, 4, cnt, stream);
}
