/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_RECORD_BEGIN_H
#define PROFTRACE_RECORD_BEGIN_H

#include "cli/record_options.h"

/*
 * Call it before reading anything of the target. Checks the options and places, and starts the
 * process that opens files (privilege/file_process.h). Then this process gives up the right to open
 * files. A program that gets its caller's rights must already run. is_filtered: a process to be
 * recorded has a seccomp filter, so another process will read that (inject/filter_reader.h). Works
 * once; later calls do nothing. 0, or a negative errno with err__set.
 */
int record_begin(const struct record_options *o, bool is_filtered);

#endif
