/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_RECORD_RUN_H
#define PROFTRACE_RECORD_RUN_H

#include "cli/record_options.h"

/* Runs the capture, prints the tables, and writes the trace and the page of each recording. Returns
 * the exit status. */
int record_run(struct record_options *o);

#endif
