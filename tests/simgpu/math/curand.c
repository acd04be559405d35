// SPDX-License-Identifier: BSD-2-Clause
/* The simulated cuRAND: a call that fills memory is one kernel; the memory is left as it was. */
#include "math.h"
#include <curand.h>
#include <stdlib.h>

SIM_EXPORT curandStatus_t curandCreateGenerator(curandGenerator_t *out, curandRngType_t type)
{
	*out = calloc(1, sizeof(struct math_handle));
	return *out ? CURAND_STATUS_SUCCESS : CURAND_STATUS_ALLOCATION_FAILED;
}

SIM_EXPORT curandStatus_t curandDestroyGenerator(curandGenerator_t generator)
{
	free(generator);
	return CURAND_STATUS_SUCCESS;
}

SIM_EXPORT curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream)
{
	((struct math_handle *)generator)->stream = stream;
	return CURAND_STATUS_SUCCESS;
}

SIM_EXPORT curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
							     unsigned long long seed)
{
	return CURAND_STATUS_SUCCESS;
}

SIM_EXPORT curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator,
						   unsigned long long offset)
{
	return CURAND_STATUS_SUCCESS;
}

static curandStatus_t fill(curandGenerator_t generator, const char *kernel, size_t cnt)
{
	return math_launch(((struct math_handle *)generator)->stream, kernel, cnt, 1, 1,
			   (double)cnt)
		       ? CURAND_STATUS_LAUNCH_FAILURE
		       : CURAND_STATUS_SUCCESS;
}

SIM_EXPORT curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int *out, size_t cnt)
{
	return fill(generator, "sim_curand_bits", cnt);
}

SIM_EXPORT curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *out, size_t cnt)
{
	return fill(generator, "sim_curand_uniform_f32", cnt);
}

SIM_EXPORT curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *out,
						      size_t cnt)
{
	return fill(generator, "sim_curand_uniform_f64", cnt);
}

SIM_EXPORT curandStatus_t curandGenerateNormal(curandGenerator_t generator, float *out, size_t cnt,
					       float mean, float deviation)
{
	return fill(generator, "sim_curand_normal_f32", cnt);
}

SIM_EXPORT curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double *out,
						     size_t cnt, double mean, double deviation)
{
	return fill(generator, "sim_curand_normal_f64", cnt);
}
