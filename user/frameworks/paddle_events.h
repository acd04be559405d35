/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events inside PaddlePaddle's operators, where the library's code has them: "relu infer_meta",
 * "relu kernel launch" or "relu compute", "relu node_creation". Before most of them the code asks
 * whether a profiler runs. It always makes those of a node, and of what a static program's executor
 * runs ("PhiKernelInstruction::infermeta", or before PIR "infer_shape" and "compute").
 */
#ifndef PROFTRACE_PADDLE_EVENTS_H
#define PROFTRACE_PADDLE_EVENTS_H

#include "frameworks/probe_table.h"

/* Plans a probe for each such place of a library, on its call instruction; *kernels is raised for
 * each that begins a kernel. A library without them is none's error. 0 or a negative errno. */
int paddle_events__plan(struct table_scan *s, unsigned int lib, size_t *kernels);

#endif
