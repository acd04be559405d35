/* SPDX-License-Identifier: BSD-2-Clause */
/* Options about tables: the same for `report` and for commands that record. */
#ifndef PROFTRACE_REPORT_OPTIONS_H
#define PROFTRACE_REPORT_OPTIONS_H

#include "analysis/report.h"
#include "cli/cli.h"

#define ROWS_UNCHOSEN UINT64_MAX

struct report_args {
	const char *tables;
	const char *sorted_by;
	int unit, format, group_by, state;
	bool by_thread, by_device, op_detail, raw_times, ascending, raw_csv;
	uint64_t usual_rows; /* used if row_limit is ROWS_UNCHOSEN */
	uint64_t row_limit, name_width, batch_size, width, stack_depth;
};

/* Rows for struct report_args. */
extern const struct opt report_arg_opts[];

void report_args__init(struct report_args *args);
/* The name of an option that differs between the two; NULL: they are equal. */
const char *report_args__other(const struct report_args *args, const struct report_args *than);
/* Do the options fit together, and fit these tables? NULL: those printed by default. -EINVAL with
 * err__set. Call it before a capture. */
int report_args__check(const struct report_args *args, const char *tables);
/* The same for several recordings, for which only the named tables are printed. */
int report_args__check_job(const struct report_args *args);
/* Options for tables that go to this descriptor. If it is a terminal, it sets the width. */
struct report_opts report_args__opts(const struct report_args *args, int fd);

#endif
