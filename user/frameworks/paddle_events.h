/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events inside PaddlePaddle's operators, found in the library's code: "relu infer_meta", "relu
 * kernel launch" or "relu compute", "relu node_creation". Before most of them the code asks whether
 * a profiler runs. Events of a node, and of what a static program's executor runs, need no profiler
 * ("PhiKernelInstruction::infermeta", or before PIR "infer_shape" and "compute").
 */
#ifndef PROFTRACE_PADDLE_EVENTS_H
#define PROFTRACE_PADDLE_EVENTS_H

#include "frameworks/probe_table.h"

/* Plans a probe for each such place of a library, on its call instruction. *kernels counts the
 * places that begin a kernel. A library without events is no error. 0 or a negative errno. */
int paddle_events__plan(struct table_scan *s, unsigned int lib, size_t *kernels);

#endif
