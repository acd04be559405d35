/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * With some rules only loader nexts make steps (evaluation, inference). The loader next that ends an epoch finds no
 * batch and must not count. In Python, StopIteration shows the end of an epoch. In C++ libraries the call throws
 * (open_spans.bpf.h) or leaves the batch empty (batch_site).
 */
#ifndef PROFTRACE_EPOCH_END_H
#define PROFTRACE_EPOCH_END_H

#include "capture/steps/steps.h"
#include "frameworks/framework.h"

/* Adds where the interpreter keeps a thread's exception (layout.python_thread). If that is unknown, each loader next
 * counts. */
void epoch_end__plan(struct target *t, struct probe_plan *plan);

/* Does the rule depend on how loader nexts end? */
bool epoch_end__matters(const struct probe_plan *plan, const struct step_rule *rule);

#endif
