/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the bodies of the simulated runtime share. A body rt_NAME is called by the generated export
 * NAME and does its work by the driver's exports, as the real runtime does.
 */
#pragma once
#include "engine/engine.h"
#include <cuda.h>
#include <cuda_runtime_api.h>
#include "cudart_impl.h"

#if CUDART_VERSION < 12000
typedef struct CUkern_st *cudaKernel_t;
enum cudaDriverEntryPointQueryResult {
	cudaDriverEntryPointSuccess,
	cudaDriverEntryPointSymbolNotFound,
};
#endif

/* The runtime's results have the driver's numbers and other names. */
static inline cudaError_t result_of(CUresult result)
{
	return (cudaError_t)result;
}

/* Makes the current device's primary context current, as every call of the runtime does. */
static inline void use_context(void)
{
	sim_context_touch();
}

/* The function behind a host stub's address, a cudaKernel_t or a cudaFunction_t; NULL if none. */
struct sim_function *rt_function(const void *handle);
