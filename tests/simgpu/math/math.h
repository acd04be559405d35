/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the simulated math libraries share: a call is one kernel (named sim_..., since the real
 * names are not known here), as long as its arithmetic takes, and results are not computed.
 */
#pragma once
#include "engine/engine.h"
#include "versions.h"

struct math_handle {
	void *stream;
	int math_mode, pointer_mode, atomics_mode, sm_target;
};

/* 0 or an error of CUDA's. */
int math_launch(void *stream, const char *kernel, uint64_t m, uint64_t n, uint64_t batch,
		double flops);
/* A short name of a cudaDataType. */
const char *math_type_name(int type);

/* Exports that only return a number, or a status's name. */
#define NUMBER(api, value)                                                                         \
	SIM_EXPORT size_t api(void)                                                                \
	{                                                                                          \
		return value;                                                                      \
	}
#define STATUS_TEXT(api, type, failure, success)                                                   \
	SIM_EXPORT const char *api(type status)                                                    \
	{                                                                                          \
		return status ? failure : success;                                                 \
	}
