/* SPDX-License-Identifier: BSD-2-Clause */
/* Bodies of the exports that generate.py fills in: their arguments but for the first do not matter.
 */
#pragma once
#include "math/math.h"
#include <stdlib.h>

#define AUTO_FLOPS 1e8

#define AUTO_KERNEL(api)                                                                           \
	SIM_EXPORT int api(struct math_handle *handle)                                             \
	{                                                                                          \
		return math_launch(handle ? handle->stream : NULL, "sim_" #api, 512, 512, 1,       \
				   AUTO_FLOPS)                                                     \
			       ? 5000                                                              \
			       : 0;                                                                \
	}

#define AUTO_CREATE(api)                                                                           \
	SIM_EXPORT int api(void **out)                                                             \
	{                                                                                          \
		*out = calloc(1, 4096);                                                            \
		return *out ? 0 : 2000;                                                            \
	}

#define AUTO_DESTROY(api)                                                                          \
	SIM_EXPORT int api(void *descriptor)                                                       \
	{                                                                                          \
		free(descriptor);                                                                  \
		return 0;                                                                          \
	}

#define AUTO_SUCCESS(api)                                                                          \
	SIM_EXPORT int api(void)                                                                   \
	{                                                                                          \
		return 0;                                                                          \
	}
