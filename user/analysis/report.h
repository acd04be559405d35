/* SPDX-License-Identifier: BSD-2-Clause */
/* The report: every table of a recording, made in one pass of the model. */
#ifndef PROFTRACE_REPORT_H
#define PROFTRACE_REPORT_H

#include "analysis/table.h"
#include "recording/recording.h"

enum sort_key {
	SORT_CPU_TOTAL,
	SORT_CPU_AVG,
	SORT_CPU_MAX,
	SORT_CPU_MIN,
	SORT_CALLS,
	SORT_GPU_TOTAL,
	SORT_GPU_AVG,
	SORT_GPU_MAX,
	SORT_GPU_MIN,
};

struct report_opts {
	const char *tables; /* comma-separated keys, NULL: the default set */
	enum sort_key sorted_by;
	bool by_thread; /* thread_sep */
	bool by_device; /* one section per device, and stream, of what ran there */
	bool op_detail; /* children and kernels under each operator */
	bool raw_times;
	uint64_t batch_size; /* samples per step for ips, 0: unknown, steps/s is printed */
	struct table_style style;
};

/* A table is one file in user/analysis/ and one row of the registry in report.c. */
struct table_def {
	const char *key;     /* --table NAME */
	const char *summary; /* one line of help */
	bool by_default;
};
const struct table_def *report__tables(size_t *cnt);
/* Are these comma-separated keys all known? 0, or -EINVAL with err__set. */
int report__check_tables(const char *names);

/* Prints to out. 0 or a negative errno; -EINVAL if a table name is unknown. */
int report__print(const struct recording *r, const struct report_opts *opts, FILE *out);

#endif
