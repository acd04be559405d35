/* SPDX-License-Identifier: BSD-2-Clause */
/* One capture process per rank, side by side, and then one report of all. */
#ifndef PROFTRACE_JOB_RECORD_H
#define PROFTRACE_JOB_RECORD_H

#include "cli/record_options.h"

/* Returns the exit status. Ctrl-C ends all windows; a second one aborts. */
int job_record__run(struct record_options *o, const pid_t *pids, size_t cnt);

#endif
