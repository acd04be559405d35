// SPDX-License-Identifier: BSD-2-Clause
/* Which arguments of CUDA's functions matter. The list of functions is
 * cupti_shim/cuda_functions.h. */
#include "device/cuda_calls.h"
#include "device/kernels/demangle.h"
#include "common/util.h"
#include "cupti_shim/cuda_functions.h"
#include <string.h>

/* Positions of arguments; the first is 1. */
#define LAUNCH(function, at)	{.call_class = PT_CALL_LAUNCH, .object = (function), .stream = (at)}
#define LAUNCH_EX(function, at) {.call_class = PT_CALL_LAUNCH, .object = (function), .config = (at)}
/* An argument gives the kind. */
#define COPY(size, kind, at)                                                                       \
	{.call_class = PT_CALL_COPY, .bytes = (size), .copy = (kind), .stream = (at)}
#define COPY_2D(width, height, kind, at)                                                           \
	{.call_class = PT_CALL_COPY,                                                               \
	 .bytes = (width),                                                                         \
	 .rows = (height),                                                                         \
	 .copy = (kind),                                                                           \
	 .stream = (at)}
/* The name gives the kind. */
#define COPY_AS(kind, size, at)                                                                    \
	{.call_class = PT_CALL_COPY, .bytes = (size), .copy_kind = (kind), .stream = (at)}
/* The first argument is a structure, which has the extent in bytes at this offset. */
#define COPY_BY(cnt, offset, at)                                                                   \
	{.call_class = PT_CALL_COPY,                                                               \
	 .bytes = 1,                                                                               \
	 .extent_cnt = (cnt),                                                                      \
	 .extent_at = (offset),                                                                    \
	 .copy_kind = PT_COPY_UNKNOWN,                                                             \
	 .stream = (at)}
#define SET(size, each, at)                                                                        \
	{.call_class = PT_CALL_SET, .bytes = (size), .scale = (each), .stream = (at)}
#define SET_2D(width, height, each, at)                                                            \
	{.call_class = PT_CALL_SET,                                                                \
	 .bytes = (width),                                                                         \
	 .rows = (height),                                                                         \
	 .scale = (each),                                                                          \
	 .stream = (at)}
#define ALLOC(size, at)	 {.call_class = PT_CALL_ALLOC, .object = 1, .bytes = (size), .stream = (at)}
#define FREE(at)	 {.call_class = PT_CALL_FREE, .object = 1, .stream = (at)}
#define SYNC(event, at)	 {.call_class = PT_CALL_SYNC, .object = (event), .stream = (at)}
#define OTHER(event, at) {.call_class = PT_CALL_OTHER, .object = (event), .stream = (at)}
#define UNKNOWN		 PT_COPY_UNKNOWN

/* Offsets in the structures CUDA_MEMCPY2D and CUDA_MEMCPY3D. The runtime's structures give extents
 * in elements if an array is involved, so those bytes stay unknown. */
enum { DRIVER_2D_AT = 112, DRIVER_3D_AT = 176 };

static const struct cuda_call calls[] = {
#define F(function, ...) {#function, __VA_ARGS__},
	CUDA_RUNTIME_FUNCTIONS(F) CUDA_DRIVER_FUNCTIONS(F)
#undef F
};

const struct cuda_call *cuda_call__find(const char *symbol)
{
	char plain[128];

	api_name__plain(symbol, plain, sizeof(plain));
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (!strcmp(calls[i].name, plain))
			return &calls[i];
	return NULL;
}
