/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_RECORD_BEGIN_H
#define PROFTRACE_RECORD_BEGIN_H

#include "cli/record_options.h"

/*
 * Call before anything of the target is read. Checks the options and places, and starts the process
 * that opens files (privilege/file_process.h). Gives up the right to open them here. A program that
 * is to have its caller's rights has been started. is_filtered: a process to be recorded has a
 * seccomp filter, which a process of its own will read (inject/filter_reader.h). Once; later calls
 * do nothing. 0, or a negative errno with err__set.
 */
int record_begin(const struct record_options *o, bool is_filtered);

#endif
