/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports, traces and pages are made from data of strangers, so a process without rights makes
 * them. */
#ifndef PROFTRACE_OUTPUT_PROCESS_H
#define PROFTRACE_OUTPUT_PROCESS_H

#include "privilege/file_broker.h"

/*
 * Calls run(ctx) in a sandboxed process. It gets only files of these places, and memory by the size
 * of the files it reads (privilege/memory_limit.h). Returns its exit status; 1, with a message, if
 * the process cannot be made. If SIGINT or SIGPIPE ends it, proftrace ends, too. Inside the sandbox
 * it just calls run.
 */
int output_process__run(int (*run)(void *ctx), void *ctx, struct file_places *places);

#endif
