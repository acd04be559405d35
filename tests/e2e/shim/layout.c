// SPDX-License-Identifier: BSD-2-Clause
/* Checks the library's declarations of CUPTI against the vendor's headers, if there are any.
 * Compiled, not run. */
#include "cupti_shim/cupti.h"
#include <cupti.h>
#include <cupti_activity_deprecated.h>

#define SAME(ours, our_field, theirs, their_field)                                                 \
	_Static_assert(offsetof(struct ours, our_field) == offsetof(theirs, their_field) &&        \
			       sizeof(((struct ours *)0)->our_field) ==                            \
				       sizeof(((theirs *)0)->their_field),                         \
		       #ours "." #our_field)

#define TIMES(ours, theirs)                                                                        \
	SAME(ours, start, theirs, start);                                                          \
	SAME(ours, end, theirs, end)

/* The fields that each activity of a stream has. */
#define ACTIVITY(ours, theirs)                                                                     \
	TIMES(ours, theirs);                                                                       \
	SAME(ours, device, theirs, deviceId);                                                      \
	SAME(ours, context, theirs, contextId);                                                    \
	SAME(ours, stream, theirs, streamId);                                                      \
	SAME(ours, correlation, theirs, correlationId);                                            \
	SAME(ours, graph, theirs, graphId)

/* The oldest version in use and the newest. */
#define KERNEL(theirs)                                                                             \
	ACTIVITY(cupti_kernel, theirs);                                                            \
	SAME(cupti_kernel, kind, theirs, kind);                                                    \
	SAME(cupti_kernel, registers, theirs, registersPerThread);                                 \
	SAME(cupti_kernel, grid[0], theirs, gridX);                                                \
	SAME(cupti_kernel, grid[2], theirs, gridZ);                                                \
	SAME(cupti_kernel, block[0], theirs, blockX);                                              \
	SAME(cupti_kernel, block[2], theirs, blockZ);                                              \
	SAME(cupti_kernel, static_shared, theirs, staticSharedMemory);                             \
	SAME(cupti_kernel, dynamic_shared, theirs, dynamicSharedMemory);                           \
	SAME(cupti_kernel, local_per_thread, theirs, localMemoryPerThread);                        \
	SAME(cupti_kernel, name, theirs, name)
KERNEL(CUpti_ActivityKernel5);
KERNEL(CUpti_ActivityKernel8);
KERNEL(CUpti_ActivityKernel9);
KERNEL(CUpti_ActivityKernel11);

#define MEMCPY(theirs)                                                                             \
	ACTIVITY(cupti_memcpy, theirs);                                                            \
	SAME(cupti_memcpy, copy_kind, theirs, copyKind);                                           \
	SAME(cupti_memcpy, source, theirs, srcKind);                                               \
	SAME(cupti_memcpy, destination, theirs, dstKind);                                          \
	SAME(cupti_memcpy, flags, theirs, flags);                                                  \
	SAME(cupti_memcpy, bytes, theirs, bytes)
MEMCPY(CUpti_ActivityMemcpy4);
MEMCPY(CUpti_ActivityMemcpy6);

#define PEER(theirs)                                                                               \
	ACTIVITY(cupti_memcpy_peer, theirs);                                                       \
	SAME(cupti_memcpy_peer, copy_kind, theirs, copyKind);                                      \
	SAME(cupti_memcpy_peer, bytes, theirs, bytes);                                             \
	SAME(cupti_memcpy_peer, source_device, theirs, srcDeviceId);                               \
	SAME(cupti_memcpy_peer, destination_device, theirs, dstDeviceId)
PEER(CUpti_ActivityMemcpyPtoP3);
PEER(CUpti_ActivityMemcpyPtoP4);

#define MEMSET(theirs)                                                                             \
	ACTIVITY(cupti_memset, theirs);                                                            \
	SAME(cupti_memset, value, theirs, value);                                                  \
	SAME(cupti_memset, bytes, theirs, bytes);                                                  \
	SAME(cupti_memset, memory, theirs, memoryKind)
MEMSET(CUpti_ActivityMemset3);
MEMSET(CUpti_ActivityMemset4);

#define SYNCHRONIZATION(theirs)                                                                    \
	TIMES(cupti_synchronization, theirs);                                                      \
	SAME(cupti_synchronization, type, theirs, type);                                           \
	SAME(cupti_synchronization, correlation, theirs, correlationId);                           \
	SAME(cupti_synchronization, context, theirs, contextId);                                   \
	SAME(cupti_synchronization, stream, theirs, streamId);                                     \
	SAME(cupti_synchronization, event, theirs, cudaEventId)
SYNCHRONIZATION(CUpti_ActivitySynchronization);
SYNCHRONIZATION(CUpti_ActivitySynchronization2);
SAME(cupti_synchronization, event_sync, CUpti_ActivitySynchronization2, cudaEventSyncId);

#define CUDA_EVENT(theirs)                                                                         \
	SAME(cupti_cuda_event, correlation, theirs, correlationId);                                \
	SAME(cupti_cuda_event, context, theirs, contextId);                                        \
	SAME(cupti_cuda_event, stream, theirs, streamId);                                          \
	SAME(cupti_cuda_event, event, theirs, eventId)
CUDA_EVENT(CUpti_ActivityCudaEvent);
CUDA_EVENT(CUpti_ActivityCudaEvent2);
SAME(cupti_cuda_event, event_sync, CUpti_ActivityCudaEvent2, cudaEventSyncId);

#define MEMORY(theirs)                                                                             \
	SAME(cupti_memory, operation, theirs, memoryOperationType);                                \
	SAME(cupti_memory, memory, theirs, memoryKind);                                            \
	SAME(cupti_memory, correlation, theirs, correlationId);                                    \
	SAME(cupti_memory, address, theirs, address);                                              \
	SAME(cupti_memory, bytes, theirs, bytes);                                                  \
	SAME(cupti_memory, timestamp, theirs, timestamp);                                          \
	SAME(cupti_memory, device, theirs, deviceId);                                              \
	SAME(cupti_memory, async, theirs, isAsync);                                                \
	SAME(cupti_memory, pool, theirs, memoryPoolConfig.memoryPoolType);                         \
	SAME(cupti_memory, stream, theirs, streamId)
MEMORY(CUpti_ActivityMemory3);
MEMORY(CUpti_ActivityMemory4);

SAME(cupti_marker, flags, CUpti_ActivityMarker2, flags);
SAME(cupti_marker, timestamp, CUpti_ActivityMarker2, timestamp);
SAME(cupti_marker, id, CUpti_ActivityMarker2, id);
SAME(cupti_marker, object_kind, CUpti_ActivityMarker2, objectKind);
SAME(cupti_marker, object[1], CUpti_ActivityMarker2, objectId.pt.threadId);
SAME(cupti_marker, name, CUpti_ActivityMarker2, name);

#define OVERHEAD(theirs)                                                                           \
	TIMES(cupti_overhead, theirs);                                                             \
	SAME(cupti_overhead, overhead_kind, theirs, overheadKind);                                 \
	SAME(cupti_overhead, object_kind, theirs, objectKind)
OVERHEAD(CUpti_ActivityOverhead);
OVERHEAD(CUpti_ActivityOverhead3);

SAME(cupti_callback_data, site, CUpti_CallbackData, callbackSite);
SAME(cupti_callback_data, result, CUpti_CallbackData, functionReturnValue);
SAME(cupti_callback_data, data, CUpti_CallbackData, correlationData);
SAME(cupti_callback_data, correlation, CUpti_CallbackData, correlationId);

#define VALUE(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
VALUE(CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
VALUE(CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
VALUE(CUPTI_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
VALUE(CUPTI_MARKER, CUPTI_ACTIVITY_KIND_MARKER);
VALUE(CUPTI_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
VALUE(CUPTI_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
VALUE(CUPTI_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
VALUE(CUPTI_CUDA_EVENT, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
VALUE(CUPTI_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY2);
VALUE(CUPTI_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
VALUE(CUPTI_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
VALUE(CUPTI_VIRTUALIZED_INSUFFICIENT_PRIVILEGES,
      CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
VALUE(CUPTI_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
VALUE(CUPTI_EXIT, CUPTI_API_EXIT);
VALUE(CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
VALUE(CUPTI_GRAPH_NODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
VALUE(CUPTI_OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD);
VALUE(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
