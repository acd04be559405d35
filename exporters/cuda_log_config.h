/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration of CUDA's command line profiler: the columns of its log. */
#ifndef PROFTRACE_CUDA_LOG_CONFIG_H
#define PROFTRACE_CUDA_LOG_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

/* In the order of the log. It always has method, gputime, cputime and occupancy. */
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
	uint32_t columns; /* one bit per enum cuda_log_column */
	enum cuda_log_mode mode;
	int32_t device; /* -1: the only device of the recording */
};

/*
 * text: options, one per line or separated by commas, each with its value after a blank. Lines that
 * begin with # are comments. NULL: the default options of Paddle's cuda_profiler. -EINVAL with
 * err__set names the error and the known options.
 */
int cuda_log_config__parse(const char *text, struct cuda_log_config *out);

#endif
