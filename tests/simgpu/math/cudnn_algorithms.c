// SPDX-License-Identifier: BSD-2-Clause
/*
 * cuDNN's older interface of convolutions, as Paddle and MXNet use it: there is one algorithm,
 * which needs no room. The three directions have the same parameters but for the descriptors'
 * types, so its header is not included.
 */
#include "math.h"
#include <string.h>

/* cudnnConvolution...AlgoPerf_t */
struct performance {
	int algorithm, status;
	float ms;
	size_t bytes;
	int is_deterministic, math_type, reserved[3];
};

static int tell_algorithm(int wanted, int *found, struct performance *results)
{
	*found = wanted > 0;
	if (*found) {
		memset(results, 0, sizeof(*results));
		results->is_deterministic = 1;
	}
	return 0;
}

#define ALGORITHM(max_count, get, find, find_ex, workspace_bytes)                                  \
	SIM_EXPORT int max_count(void *handle, int *cnt)                                           \
	{                                                                                          \
		*cnt = 1;                                                                          \
		return 0;                                                                          \
	}                                                                                          \
	SIM_EXPORT int get(void *handle, const void *a, const void *b, const void *convolution,    \
			   const void *c, int wanted, int *found, struct performance *results)     \
	{                                                                                          \
		return tell_algorithm(wanted, found, results);                                     \
	}                                                                                          \
	SIM_EXPORT int find(void *handle, const void *a, const void *b, const void *convolution,   \
			    const void *c, int wanted, int *found, struct performance *results)    \
	{                                                                                          \
		return tell_algorithm(wanted, found, results);                                     \
	}                                                                                          \
	SIM_EXPORT int find_ex(void *handle, const void *a, const void *a_data, const void *b,     \
			       const void *b_data, const void *convolution, const void *c,         \
			       void *c_data, int wanted, int *found, struct performance *results,  \
			       void *workspace, size_t bytes)                                      \
	{                                                                                          \
		return tell_algorithm(wanted, found, results);                                     \
	}                                                                                          \
	SIM_EXPORT int workspace_bytes(void *handle, const void *a, const void *b,                 \
				       const void *convolution, const void *c, int algorithm,      \
				       size_t *bytes)                                              \
	{                                                                                          \
		*bytes = 0;                                                                        \
		return 0;                                                                          \
	}

ALGORITHM(cudnnGetConvolutionForwardAlgorithmMaxCount, cudnnGetConvolutionForwardAlgorithm_v7,
	  cudnnFindConvolutionForwardAlgorithm, cudnnFindConvolutionForwardAlgorithmEx,
	  cudnnGetConvolutionForwardWorkspaceSize)
ALGORITHM(cudnnGetConvolutionBackwardDataAlgorithmMaxCount,
	  cudnnGetConvolutionBackwardDataAlgorithm_v7, cudnnFindConvolutionBackwardDataAlgorithm,
	  cudnnFindConvolutionBackwardDataAlgorithmEx, cudnnGetConvolutionBackwardDataWorkspaceSize)
ALGORITHM(cudnnGetConvolutionBackwardFilterAlgorithmMaxCount,
	  cudnnGetConvolutionBackwardFilterAlgorithm_v7,
	  cudnnFindConvolutionBackwardFilterAlgorithm,
	  cudnnFindConvolutionBackwardFilterAlgorithmEx,
	  cudnnGetConvolutionBackwardFilterWorkspaceSize)
