/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CUDA functions that are recorded. They give a device work or prepare it, move memory, or wait
 * (cuda.h and cuda_runtime_api.h of CUDA 11 to 13). Functions that programs call in a loop until
 * they succeed (cudaEventQuery) are not among them, as a probe would slow them. The list has two
 * readers. The library in the target uses the names. Probes on CUDA's libraries also use the places
 * of arguments, explained in user/device/cuda_table.c. Versions and stream variants (_v2, _ptsz,
 * _ptds) have the places of the plain name.
 */
#ifndef PROFTRACE_CUDA_FUNCTIONS_H
#define PROFTRACE_CUDA_FUNCTIONS_H

// clang-format off
#define CUDA_RUNTIME_FUNCTIONS(F) \
	F(cudaLaunchKernel, LAUNCH(1, 8)) \
	F(__cudaLaunchKernel, LAUNCH(1, 8)) \
	F(cudaLaunchCooperativeKernel, LAUNCH(1, 8)) \
	F(cudaLaunchCooperativeKernelMultiDevice, LAUNCH(0, 0)) \
	F(cudaLaunchKernelExC, LAUNCH_EX(2, 1)) \
	F(cudaGraphLaunch, LAUNCH(0, 2)) \
	F(cudaStreamBeginCapture, OTHER(0, 1)) \
	F(cudaStreamBeginCaptureToGraph, OTHER(0, 1)) \
	F(cudaStreamEndCapture, OTHER(0, 1)) \
	F(cudaGraphInstantiate, OTHER(0, 0)) \
	F(cudaGraphInstantiateWithFlags, OTHER(0, 0)) \
	F(cudaGraphInstantiateWithParams, OTHER(0, 0)) \
	F(cudaGraphExecUpdate, OTHER(0, 0)) \
	F(cudaGraphUpload, OTHER(0, 2)) \
	F(cudaGraphExecDestroy, OTHER(0, 0)) \
	F(cudaGraphDestroy, OTHER(0, 0)) \
	F(cudaLibraryLoadData, OTHER(0, 0)) \
	F(cudaLibraryLoadFromFile, OTHER(0, 0)) \
	F(cudaLibraryUnload, OTHER(0, 0)) \
	F(cudaLaunchHostFunc, OTHER(0, 1)) \
	F(cudaMemcpy, COPY(3, 4, 0)) \
	F(cudaMemcpyAsync, COPY(3, 4, 5)) \
	F(cudaMemcpy2D, COPY_2D(5, 6, 7, 0)) \
	F(cudaMemcpy2DAsync, COPY_2D(5, 6, 7, 8)) \
	F(cudaMemcpy3D, COPY_AS(UNKNOWN, 0, 0)) \
	F(cudaMemcpy3DAsync, COPY_AS(UNKNOWN, 0, 2)) \
	F(cudaMemcpyPeer, COPY_AS(PT_COPY_DTOD, 5, 0)) \
	F(cudaMemcpyPeerAsync, COPY_AS(PT_COPY_DTOD, 5, 6)) \
	F(cudaMemcpy3DPeer, COPY_AS(PT_COPY_DTOD, 0, 0)) \
	F(cudaMemcpy3DPeerAsync, COPY_AS(PT_COPY_DTOD, 0, 2)) \
	F(cudaMemcpyToArray, COPY(5, 6, 0)) \
	F(cudaMemcpyToArrayAsync, COPY(5, 6, 7)) \
	F(cudaMemcpyFromArray, COPY(5, 6, 0)) \
	F(cudaMemcpyFromArrayAsync, COPY(5, 6, 7)) \
	F(cudaMemcpyArrayToArray, COPY(7, 8, 0)) \
	F(cudaMemcpy2DToArray, COPY_2D(6, 7, 8, 0)) \
	F(cudaMemcpy2DToArrayAsync, COPY_2D(6, 7, 8, 9)) \
	F(cudaMemcpy2DFromArray, COPY_2D(6, 7, 8, 0)) \
	F(cudaMemcpy2DFromArrayAsync, COPY_2D(6, 7, 8, 9)) \
	F(cudaMemcpy2DArrayToArray, COPY_2D(7, 8, 9, 0)) \
	F(cudaMemcpyBatchAsync, COPY_AS(UNKNOWN, 0, 0)) \
	F(cudaMemcpy3DBatchAsync, COPY_AS(UNKNOWN, 0, 0)) \
	F(cudaMemcpyWithAttributesAsync, COPY_AS(PT_COPY_DEFAULT, 3, 5)) \
	F(cudaMemcpy3DWithAttributesAsync, COPY_AS(UNKNOWN, 0, 0)) \
	F(cudaMemcpyToSymbol, COPY(3, 5, 0)) \
	F(cudaMemcpyToSymbolAsync, COPY(3, 5, 6)) \
	F(cudaMemcpyFromSymbol, COPY(3, 5, 0)) \
	F(cudaMemcpyFromSymbolAsync, COPY(3, 5, 6)) \
	F(cudaMemset, SET(3, 1, 0)) \
	F(cudaMemsetAsync, SET(3, 1, 4)) \
	F(cudaMemset2D, SET_2D(4, 5, 1, 0)) \
	F(cudaMemset2DAsync, SET_2D(4, 5, 1, 6)) \
	F(cudaMemset3D, SET(0, 1, 0)) \
	F(cudaMemset3DAsync, SET(0, 1, 0)) \
	F(cudaMemPrefetchAsync, OTHER(0, 0)) \
	F(cudaMemPrefetchBatchAsync, OTHER(0, 8)) \
	F(cudaMalloc, ALLOC(2, 0)) \
	F(cudaMallocHost, ALLOC(2, 0)) \
	F(cudaHostAlloc, ALLOC(2, 0)) \
	F(cudaMallocManaged, ALLOC(2, 0)) \
	F(cudaMallocPitch, ALLOC(0, 0)) \
	F(cudaMalloc3D, ALLOC(0, 0)) \
	F(cudaMallocArray, ALLOC(0, 0)) \
	F(cudaMalloc3DArray, ALLOC(0, 0)) \
	F(cudaMallocMipmappedArray, ALLOC(0, 0)) \
	F(cudaMallocAsync, ALLOC(2, 3)) \
	F(cudaMallocFromPoolAsync, ALLOC(2, 4)) \
	F(cudaFree, FREE(0)) \
	F(cudaFreeHost, FREE(0)) \
	F(cudaFreeAsync, FREE(2)) \
	F(cudaFreeArray, FREE(0)) \
	F(cudaFreeMipmappedArray, FREE(0)) \
	F(cudaHostRegister, OTHER(0, 0)) \
	F(cudaHostUnregister, OTHER(0, 0)) \
	F(cudaDeviceSynchronize, SYNC(0, 0)) \
	F(cudaThreadSynchronize, SYNC(0, 0)) \
	F(cudaExecutionCtxSynchronize, SYNC(0, 0)) \
	F(cudaStreamSynchronize, SYNC(0, 1)) \
	F(cudaEventSynchronize, SYNC(1, 0)) \
	F(cudaStreamWaitEvent, OTHER(2, 1)) \
	F(cudaEventRecord, OTHER(1, 2)) \
	F(cudaEventRecordWithFlags, OTHER(1, 2)) \
	F(cudaEventCreate, OTHER(0, 0)) \
	F(cudaEventCreateWithFlags, OTHER(0, 0)) \
	F(cudaEventDestroy, OTHER(1, 0)) \
	F(cudaStreamCreate, OTHER(0, 0)) \
	F(cudaStreamCreateWithFlags, OTHER(0, 0)) \
	F(cudaStreamCreateWithPriority, OTHER(0, 0)) \
	F(cudaStreamDestroy, OTHER(0, 1))

#define CUDA_DRIVER_FUNCTIONS(F) \
	F(cuLaunch, LAUNCH(1, 0)) \
	F(cuLaunchGrid, LAUNCH(1, 0)) \
	F(cuLaunchGridAsync, LAUNCH(1, 4)) \
	F(cuLaunchKernel, LAUNCH(1, 9)) \
	F(cuLaunchKernelEx, LAUNCH_EX(2, 1)) \
	F(cuLaunchCooperativeKernel, LAUNCH(1, 9)) \
	F(cuLaunchCooperativeKernelMultiDevice, LAUNCH(0, 0)) \
	F(cuGraphLaunch, LAUNCH(0, 2)) \
	F(cuGraphLaunchWithArguments, LAUNCH(0, 0)) \
	F(cuStreamBeginCapture, OTHER(0, 1)) \
	F(cuStreamBeginCaptureToGraph, OTHER(0, 1)) \
	F(cuStreamEndCapture, OTHER(0, 1)) \
	F(cuGraphInstantiate, OTHER(0, 0)) \
	F(cuGraphInstantiateWithFlags, OTHER(0, 0)) \
	F(cuGraphInstantiateWithParams, OTHER(0, 0)) \
	F(cuGraphExecUpdate, OTHER(0, 0)) \
	F(cuGraphUpload, OTHER(0, 2)) \
	F(cuGraphExecDestroy, OTHER(0, 0)) \
	F(cuGraphDestroy, OTHER(0, 0)) \
	F(cuModuleLoad, OTHER(0, 0)) \
	F(cuModuleLoadData, OTHER(0, 0)) \
	F(cuModuleLoadDataEx, OTHER(0, 0)) \
	F(cuModuleLoadFatBinary, OTHER(0, 0)) \
	F(cuModuleUnload, OTHER(0, 0)) \
	F(cuLibraryLoadData, OTHER(0, 0)) \
	F(cuLibraryLoadFromFile, OTHER(0, 0)) \
	F(cuLibraryUnload, OTHER(0, 0)) \
	F(cuLaunchHostFunc, OTHER(0, 1)) \
	F(cuMemcpy, COPY_AS(PT_COPY_DEFAULT, 3, 0)) \
	F(cuMemcpyAsync, COPY_AS(PT_COPY_DEFAULT, 3, 4)) \
	F(cuMemcpyHtoD, COPY_AS(PT_COPY_HTOD, 3, 0)) \
	F(cuMemcpyHtoDAsync, COPY_AS(PT_COPY_HTOD, 3, 4)) \
	F(cuMemcpyDtoH, COPY_AS(PT_COPY_DTOH, 3, 0)) \
	F(cuMemcpyDtoHAsync, COPY_AS(PT_COPY_DTOH, 3, 4)) \
	F(cuMemcpyDtoD, COPY_AS(PT_COPY_DTOD, 3, 0)) \
	F(cuMemcpyDtoDAsync, COPY_AS(PT_COPY_DTOD, 3, 4)) \
	F(cuMemcpyHtoA, COPY_AS(PT_COPY_HTOD, 4, 0)) \
	F(cuMemcpyHtoAAsync, COPY_AS(PT_COPY_HTOD, 4, 5)) \
	F(cuMemcpyAtoH, COPY_AS(PT_COPY_DTOH, 4, 0)) \
	F(cuMemcpyAtoHAsync, COPY_AS(PT_COPY_DTOH, 4, 5)) \
	F(cuMemcpyDtoA, COPY_AS(PT_COPY_DTOD, 4, 0)) \
	F(cuMemcpyAtoD, COPY_AS(PT_COPY_DTOD, 4, 0)) \
	F(cuMemcpyAtoA, COPY_AS(PT_COPY_DTOD, 5, 0)) \
	F(cuMemcpyPeer, COPY_AS(PT_COPY_DTOD, 5, 0)) \
	F(cuMemcpyPeerAsync, COPY_AS(PT_COPY_DTOD, 5, 6)) \
	F(cuMemcpy2D, COPY_BY(2, DRIVER_2D_AT, 0)) \
	F(cuMemcpy2DUnaligned, COPY_BY(2, DRIVER_2D_AT, 0)) \
	F(cuMemcpy2DAsync, COPY_BY(2, DRIVER_2D_AT, 2)) \
	F(cuMemcpy3D, COPY_BY(3, DRIVER_3D_AT, 0)) \
	F(cuMemcpy3DAsync, COPY_BY(3, DRIVER_3D_AT, 2)) \
	F(cuMemcpy3DPeer, COPY_BY(3, DRIVER_3D_AT, 0)) \
	F(cuMemcpy3DPeerAsync, COPY_BY(3, DRIVER_3D_AT, 2)) \
	F(cuMemcpyBatchAsync, COPY_AS(UNKNOWN, 0, 0)) \
	F(cuMemcpy3DBatchAsync, COPY_AS(UNKNOWN, 0, 0)) \
	F(cuMemcpyWithAttributesAsync, COPY_AS(PT_COPY_DEFAULT, 3, 5)) \
	F(cuMemcpy3DWithAttributesAsync, COPY_AS(UNKNOWN, 0, 0)) \
	F(cuMemsetD8, SET(3, 1, 0)) \
	F(cuMemsetD8Async, SET(3, 1, 4)) \
	F(cuMemsetD16, SET(3, 2, 0)) \
	F(cuMemsetD16Async, SET(3, 2, 4)) \
	F(cuMemsetD32, SET(3, 4, 0)) \
	F(cuMemsetD32Async, SET(3, 4, 4)) \
	F(cuMemsetD2D8, SET_2D(4, 5, 1, 0)) \
	F(cuMemsetD2D8Async, SET_2D(4, 5, 1, 6)) \
	F(cuMemsetD2D16, SET_2D(4, 5, 2, 0)) \
	F(cuMemsetD2D16Async, SET_2D(4, 5, 2, 6)) \
	F(cuMemsetD2D32, SET_2D(4, 5, 4, 0)) \
	F(cuMemsetD2D32Async, SET_2D(4, 5, 4, 6)) \
	F(cuMemPrefetchAsync, OTHER(0, 0)) \
	F(cuMemPrefetchBatchAsync, OTHER(0, 8)) \
	F(cuMemAlloc, ALLOC(2, 0)) \
	F(cuMemAllocHost, ALLOC(2, 0)) \
	F(cuMemHostAlloc, ALLOC(2, 0)) \
	F(cuMemAllocManaged, ALLOC(2, 0)) \
	F(cuMemAllocPitch, ALLOC(0, 0)) \
	F(cuMemAllocAsync, ALLOC(2, 3)) \
	F(cuMemAllocFromPoolAsync, ALLOC(2, 4)) \
	F(cuMemFree, FREE(0)) \
	F(cuMemFreeHost, FREE(0)) \
	F(cuMemFreeAsync, FREE(2)) \
	F(cuMemCreate, ALLOC(2, 0)) \
	F(cuMemRelease, FREE(0)) \
	F(cuMemMap, OTHER(0, 0)) \
	F(cuMemUnmap, OTHER(0, 0)) \
	F(cuMemSetAccess, OTHER(0, 0)) \
	F(cuMemHostRegister, OTHER(0, 0)) \
	F(cuMemHostUnregister, OTHER(0, 0)) \
	F(cuCtxSynchronize, SYNC(0, 0)) \
	F(cuStreamSynchronize, SYNC(0, 1)) \
	F(cuEventSynchronize, SYNC(1, 0)) \
	F(cuStreamWaitEvent, OTHER(2, 1)) \
	F(cuEventRecord, OTHER(1, 2)) \
	F(cuEventRecordWithFlags, OTHER(1, 2)) \
	F(cuEventCreate, OTHER(0, 0)) \
	F(cuEventDestroy, OTHER(1, 0)) \
	F(cuStreamCreate, OTHER(0, 0)) \
	F(cuStreamCreateWithPriority, OTHER(0, 0)) \
	F(cuStreamDestroy, OTHER(0, 1))
// clang-format on

#endif
