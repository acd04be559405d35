/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that `proftrace -p PID` and `proftrace run` share. */
#ifndef PROFTRACE_RECORD_OPTIONS_H
#define PROFTRACE_RECORD_OPTIONS_H

#include "capture/capture.h"
#include "cli/report_options.h"
#include "cli/report_out.h"

struct record_range {
	bool set;
	struct pt_schedule schedule;
};

#define RECORD_ROW_LIMIT  100 /* rows of a table without --row-limit */
#define DETAIL_UNCHOSEN	  (-1)
#define OVERHEAD_UNCHOSEN (-1)

struct record_options {
	struct capture_opts capture;
	struct record_range range;
	int detail, method;
	struct report_args report;
	struct report_out tables; /* where the report's tables go */
	const char *trace; /* path or directory of the trace */
	const char *html;  /* path of the page, NULL: none */
	int paths_fd;	   /* gets a line for each recording; 0: no file */
	uint64_t limit_bytes; /* size limit of the trace, 0: none */
	bool no_trace, no_report, no_progress;
};

/* The option rows of both commands, for struct record_options. */
extern const struct opt record_opts[];

/* Sets defaults. Call it before the options are parsed. */
void record_options__init(struct record_options *o, char **argv);
/* Sets only the defaults of the report's options. */
void record_options__init_report(struct report_args *args);

#endif
