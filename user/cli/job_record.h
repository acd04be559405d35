/* SPDX-License-Identifier: BSD-2-Clause */
/* One capture per rank, side by side, each a process of its own; then one report of all. */
#ifndef PROFTRACE_JOB_RECORD_H
#define PROFTRACE_JOB_RECORD_H

#include "cli/record_options.h"

/* Exit status. Ctrl-C ends all windows, a second one aborts. */
int job_record__run(struct record_options *o, const pid_t *pids, size_t cnt);

#endif
