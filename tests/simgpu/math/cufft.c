// SPDX-License-Identifier: BSD-2-Clause
/* The simulated cuFFT: it is there to be loaded. */
#include "math.h"
#include <cufft.h>

SIM_EXPORT cufftResult cufftGetVersion(int *version)
{
	*version = CUFFT_VERSION;
	return CUFFT_SUCCESS;
}
