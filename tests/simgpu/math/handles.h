/* SPDX-License-Identifier: BSD-2-Clause */
/* For a math library that can only begin: a handle with a stream. All other calls return "not
 * supported". */
#pragma once
#include "math.h"
#include <stdlib.h>

#define HANDLE(create, destroy, set_stream)                                                        \
	SIM_EXPORT int create(struct math_handle **out)                                            \
	{                                                                                          \
		*out = calloc(1, sizeof(**out));                                                   \
		return !*out;                                                                      \
	}                                                                                          \
	SIM_EXPORT int destroy(struct math_handle *handle)                                         \
	{                                                                                          \
		free(handle);                                                                      \
		return 0;                                                                          \
	}                                                                                          \
	SIM_EXPORT int set_stream(struct math_handle *handle, void *stream)                        \
	{                                                                                          \
		handle->stream = stream;                                                           \
		return 0;                                                                          \
	}

/* A setting that changes nothing here. */
#define ACCEPT(api)                                                                                \
	SIM_EXPORT int api(void)                                                                   \
	{                                                                                          \
		return 0;                                                                          \
	}
