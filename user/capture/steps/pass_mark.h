/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds operators that a model that makes tokens calls in each pass, but not in its layers. */
#ifndef PROFTRACE_PASS_MARK_H
#define PROFTRACE_PASS_MARK_H

#include "capture/steps/call_log.h"
#include "frameworks/framework.h"

/* The mark by a word of the operator's name, in any framework: aten::embedding, "embedding dygraph", pd_op.argmax. */
enum pass_mark pass_mark__of(const char *name);

/* Sets the marks of the logged calls. The user's ranges get no mark, whatever their names. Returns 0 or -ENOMEM. */
int pass_mark__set(struct call_log *log, const struct probe_plan *plan);

#endif
