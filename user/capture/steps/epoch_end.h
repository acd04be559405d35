/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * If only requests to the data loader make the steps (evaluation, inference), the request that ends
 * an epoch finds no batch. CPython's StopIteration tells it from the others. In C++ libraries the
 * request throws (open_spans.bpf.h) or leaves the batch empty (batch_site).
 */
#ifndef PROFTRACE_EPOCH_END_H
#define PROFTRACE_EPOCH_END_H

#include "capture/steps/steps.h"
#include "frameworks/framework.h"

/* Adds where the interpreter has a thread's exceptions (layout.python_thread); where that is not
 * known, each ask counts. */
void epoch_end__plan(struct target *t, struct probe_plan *plan);

/* Are steps of the rule told by how asks end? */
bool epoch_end__matters(const struct probe_plan *plan, const struct step_rule *rule);

#endif
