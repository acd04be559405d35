// SPDX-License-Identifier: BSD-2-Clause
/* Kernels of the math libraries. */
#include "math.h"
#include <library_types.h>

#define TILE 128

int math_launch(void *stream, const char *kernel, uint64_t m, uint64_t n, uint64_t batch,
		double flops)
{
	uint32_t grid[3] = {(uint32_t)((m + TILE - 1) / TILE), (uint32_t)((n + TILE - 1) / TILE),
			    (uint32_t)batch};

	return sim_library_launch(stream, kernel, grid, 256, flops, 0);
}

const char *math_type_name(int type)
{
	switch (type) {
	case CUDA_R_32F:
		return "f32";
	case CUDA_R_64F:
		return "f64";
	case CUDA_R_16F:
		return "f16";
	case CUDA_R_16BF:
		return "bf16";
	case CUDA_R_8I:
		return "i8";
	case CUDA_R_8F_E4M3:
		return "e4m3";
	default:
		return "x";
	}
}
