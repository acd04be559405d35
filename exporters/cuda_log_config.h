/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration of CUDA's command line profiler: which columns its log has. */
#ifndef PROFTRACE_CUDA_LOG_CONFIG_H
#define PROFTRACE_CUDA_LOG_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

/* In the order of the log. method, gputime, cputime and occupancy are always there. */
enum cuda_log_column {
	LOG_BEGIN,
	LOG_END,
	LOG_TIMESTAMP,
	LOG_METHOD,
	LOG_GPU_TIME,
	LOG_CPU_TIME,
	LOG_GRID_2D,
	LOG_GRID_3D,
	LOG_BLOCK,
	LOG_DYNAMIC_SHARED,
	LOG_STATIC_SHARED,
	LOG_REGISTERS,
	LOG_OCCUPANCY,
	LOG_STREAM,
	LOG_CACHE_EXECUTED,
	LOG_CACHE_REQUESTED,
	LOG_COPY_BYTES,
	LOG_COPY_DIRECTION,
	LOG_COPY_HOST_MEMORY,
	LOG_COLUMN_CNT
};

enum cuda_log_mode { LOG_MODE_UNCHOSEN, LOG_KVP, LOG_CSV };

struct cuda_log_config {
	uint32_t columns; /* bit per enum cuda_log_column */
	enum cuda_log_mode mode;
	int32_t device; /* -1: the recording's only one */
};

/*
 * text: options, one per line or between commas, with their value behind a blank; lines that begin
 * with # are comments. NULL: the options that Paddle's cuda_profiler has by default. -EINVAL with
 * err__set names what is wrong and what is known.
 */
int cuda_log_config__parse(const char *text, struct cuda_log_config *out);

#endif
