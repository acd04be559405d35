/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators that a model which makes tokens calls in each pass, and none of its layers. */
#ifndef PROFTRACE_PASS_MARK_H
#define PROFTRACE_PASS_MARK_H

#include "capture/steps/call_log.h"
#include "frameworks/framework.h"

/* By a word of the operator's name, in any framework: aten::embedding, "embedding dygraph",
 * pd_op.argmax. */
enum pass_mark pass_mark__of(const char *name);

/* Sets the marks of the logged calls; the user's ranges have none, whatever their names. 0 or
 * -ENOMEM. */
int pass_mark__set(struct call_log *log, const struct probe_plan *plan);

#endif
