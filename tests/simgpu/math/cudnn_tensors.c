// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tensor descriptors of cuDNN's older interface: how many elements they have, as the room that
 * dropout takes depends on it.
 */
#include "math.h"
#include <cudnn.h>

/* At the beginning of what AUTO_CREATE has made. */
struct tensor {
	uint64_t elements;
};

static cudnnStatus_t set(cudnnTensorDescriptor_t tensor, int dims, const int *lengths)
{
	uint64_t elements = 1;

	for (int i = 0; i < dims; i++)
		elements *= (uint64_t)lengths[i];
	((struct tensor *)tensor)->elements = elements;
	return CUDNN_STATUS_SUCCESS;
}

SIM_EXPORT cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor,
						    cudnnTensorFormat_t format,
						    cudnnDataType_t type, int n, int c, int h,
						    int w)
{
	return set(tensor, 4, (int[]){n, c, h, w});
}

SIM_EXPORT cudnnStatus_t cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t tensor,
						      cudnnDataType_t type, int n, int c, int h,
						      int w, int n_stride, int c_stride,
						      int h_stride, int w_stride)
{
	return set(tensor, 4, (int[]){n, c, h, w});
}

SIM_EXPORT cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensor,
						    cudnnDataType_t type, int dims,
						    const int lengths[], const int strides[])
{
	return set(tensor, dims, lengths);
}

SIM_EXPORT cudnnStatus_t cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t tensor,
						      cudnnTensorFormat_t format,
						      cudnnDataType_t type, int dims,
						      const int lengths[])
{
	return set(tensor, dims, lengths);
}

/* A bit for each element. MXNet gives as much, and refuses to run where cuDNN wants more. */
SIM_EXPORT cudnnStatus_t cudnnDropoutGetReserveSpaceSize(cudnnTensorDescriptor_t x, size_t *bytes)
{
	*bytes = (((const struct tensor *)x)->elements + 7) / 8;
	return CUDNN_STATUS_SUCCESS;
}
