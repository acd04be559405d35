/* SPDX-License-Identifier: BSD-2-Clause */
/* The options about tables: the same for a recording and for the command that makes one. */
#ifndef PROFTRACE_REPORT_OPTIONS_H
#define PROFTRACE_REPORT_OPTIONS_H

#include "analysis/report.h"
#include "cli/cli.h"

struct report_args {
	const char *tables;
	int sorted_by, unit, format;
	bool by_thread, by_device, op_detail, raw_times;
	uint64_t row_limit, batch_size, width;
};

/* Of struct report_args. */
extern const struct opt report_arg_opts[];

void report_args__init(struct report_args *args);
struct report_opts report_args__opts(const struct report_args *args);

#endif
