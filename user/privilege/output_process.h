/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports, traces and pages are made of what strangers wrote: in a process without rights. */
#ifndef PROFTRACE_OUTPUT_PROCESS_H
#define PROFTRACE_OUTPUT_PROCESS_H

#include "privilege/file_broker.h"

/*
 * Calls run(ctx) in a process in a sandbox, which gets files of those places alone, and memory by
 * the size of those to read (privilege/memory_limit.h). Returns its exit status; 1, with a message,
 * if that process cannot be made. What ends it by SIGINT or SIGPIPE ends proftrace. Once in the
 * sandbox, calls it here.
 */
int output_process__run(int (*run)(void *ctx), void *ctx, struct file_places *places);

#endif
